import ArgumentParser
import SteadAdvice

/// The options of an advice. Each question is an option of its name.
package struct AdviceOptions: ParsableArguments {
  @Option(help: .question("kind")) var kind: Situation.Kind?
  @Option(help: .question("exposure")) var exposure: Situation.Exposure?
  @Option(help: .question("origin")) var origin: Situation.Origin?
  @Option(help: .question("lifetime")) var lifetime: Situation.Lifetime?
  @Option(help: .question("count"), transform: Question.number) var count: Int?
  @Option(help: .question("size"), transform: Question.number) var size: Int?
  @Option(help: .question("access")) var access: Situation.Access?
  @Option(help: .question("devices")) var devices: Situation.Devices?
  @Option(help: .question("ground")) var ground: Situation.Ground?

  @Option(help: .question("sharing")) var sharing: Situation.Sharing?
  @Option(help: .question("retention")) var retention: Situation.Retention?
  @Option(help: .question("platforms")) var platforms: Situation.Platforms?
  @Option(help: .question("observers")) var observers: Situation.Observers?
  @Option(help: .question("shape")) var shape: Situation.Shape?

  @Option(help: "Where is the data now? The advice then has the code that moves it.")
  var today: Store?

  @Flag(
    name: .customLong("assume-usual"),
    help: "Ask nothing, and assume the usual answer where none is given.")
  var assumesUsual = false

  @Option(
    name: .customLong("from-code"),
    help: ArgumentHelp(
      "List what Swift code keeps, where it keeps it, and what should change.", valueName: "path"),
    completion: .file())
  var code: String?

  @Flag(
    name: .customLong("cloudkit"),
    help: "With --from-code: check models as if the app synced with CloudKit.")
  var assumesCloudKit = false

  package init() {}

  /// What the options say of the data.
  package var situation: Situation {
    Situation(
      kind: kind, exposure: exposure, origin: origin, lifetime: lifetime, access: access,
      count: count, size: size, devices: devices, ground: ground, today: today, sharing: sharing,
      retention: retention, platforms: platforms, observers: observers, shape: shape)
  }
}

/// The format of the output. A group of its own, since verbs have it, too.
package struct AdviceFormat: ParsableArguments {
  @Flag(name: .customLong("json"), help: "Write JSON, and ask nothing.") var isJSON = false

  package init() {}
}

// MARK: - Answers

extension Situation.Kind: ExpressibleByArgument {}
extension Situation.Exposure: ExpressibleByArgument {}
extension Situation.Origin: ExpressibleByArgument {}
extension Situation.Lifetime: ExpressibleByArgument {}
extension Situation.Access: ExpressibleByArgument {}
extension Situation.Devices: ExpressibleByArgument {}
extension Situation.Ground: ExpressibleByArgument {}
extension Situation.Sharing: ExpressibleByArgument {}
extension Situation.Retention: ExpressibleByArgument {}
extension Situation.Platforms: ExpressibleByArgument {}
extension Situation.Observers: ExpressibleByArgument {}
extension Situation.Shape: ExpressibleByArgument {}
extension Store: ExpressibleByArgument {}

extension ArgumentHelp {
  static func question(_ id: Question.ID) -> ArgumentHelp {
    let question = (Question.all + Question.refinements).first { $0.id == id }
    guard let question else { return "" }
    return ArgumentHelp(question.isNumber ? "\(question.text) \(question.examples)" : question.text)
  }
}

extension Question {
  /// The answer to a question that a number answers.
  @Sendable static func number(_ text: String) throws -> Int {
    guard let number = ByteCount.parse(text), number >= 0 else {
      throw ValidationError("it \(numberExpectation).")
    }
    return number
  }

  private static let numberExpectation = "must be a number such as 500, 10KB or 1.5MB"

  /// Answers to a question that any number answers.
  var examples: String {
    "Any number, such as \(choices.map(\.text).joined(separator: ", "))."
  }

  /// What an answer must be, as the end of a sentence.
  var expectation: String {
    if self == .amount { return "must be a number, a size or both, such as 500 of 10KB" }
    return isNumber
      ? Self.numberExpectation
      : "must be one of \(choices.map(\.name).joined(separator: ", "))"
  }
}
