import ArgumentParser
import Foundation
import SteadAdvice
import SteadLint
import SteadLintCommand

/// The command `stead advise`, for programs that have a command line of their own.
///
/// It ends no process: input and output are closures, so a program can run it within another command, and tests can
/// answer its questions:
///
/// ```swift
/// let command = AdviceCommand(
///   directory: folder, isTerminal: false, readLine: { nil }, print: { print($0, terminator: "") }, complain: { _ in })
/// _ = command.run(["--kind", "setting", "--size", "10"])
/// ```
public struct AdviceCommand: Sendable {
  /// The exit status of the process.
  public enum Exit: Int32, Sendable {
    /// The advice was given, or code keeps nothing in the wrong store.
    case clean = 0
    /// Code keeps something in the wrong store.
    case found = 1
    /// The arguments are invalid, the input ended too early, or a folder can't be read.
    case failed = 2
  }

  /// The folder that paths are relative to.
  public let directory: URL
  /// Whether questions are answered at a terminal, which echoes the answers.
  public let isTerminal: Bool
  /// Returns the next line of standard input; nil at its end.
  public let readLine: @Sendable () -> String?
  /// Called with what goes to standard output.
  public let print: @Sendable (String) -> Void
  /// Called with what goes to standard error.
  public let complain: @Sendable (String) -> Void

  /// Makes a command.
  ///
  /// - Parameters:
  ///   - directory: The folder to which `--from-code` is relative.
  ///   - isTerminal: Whether a terminal echoes what is typed; otherwise the command prints each answer after its
  ///     question.
  ///   - readLine: Returns the next line of the input without its end; nil at its end, which ends the questions.
  ///   - print: Called with questions and advice. The strings have their line ends.
  ///   - complain: Called with assumptions and errors.
  public init(
    directory: URL, isTerminal: Bool, readLine: @escaping @Sendable () -> String?,
    print: @escaping @Sendable (String) -> Void, complain: @escaping @Sendable (String) -> Void
  ) {
    // A path is resolved inside a URL's last component only if the URL is marked as a directory.
    self.directory = URL(filePath: directory.path, directoryHint: .isDirectory)
    self.isTerminal = isTerminal
    self.readLine = readLine
    self.print = print
    self.complain = complain
  }

  /// Runs the command with the arguments after its name. Blocks for answers, and for the files with `--from-code`.
  /// Errors are written by `complain`, and never thrown.
  public func run(_ words: [String]) -> Exit {
    let status = Advise.dispatch(words, print: print, complain: complain) { command in
      (command as? any AdviceVerb)?.run(self).rawValue
    }
    return Exit(rawValue: status) ?? .failed
  }

  /// Runs an action, and reports what it throws.
  ///
  /// Every verb goes through it, so no error ends the program that runs the command.
  private func reporting(_ action: () throws -> Exit) -> Exit {
    do {
      return try action()
    } catch {
      complain("stead advise: \(error)\n")
      return .failed
    }
  }

  // MARK: Advice

  /// Advises on some data. Asks what isn't known of it, if a person is to be asked.
  ///
  /// Questions and advice go to standard output. What was assumed goes to standard error, so that
  /// it is seen and yet isn't in a file with the advice.
  func advise(_ known: Situation, assumesUsual: Bool, _ format: AdviceFormat) -> Exit {
    reporting {
      var situation = known
      // A program that reads JSON can't answer, and a question in the output wouldn't parse.
      if !assumesUsual, !format.isJSON {
        let interview = Interview(ask: readLine, print: print, echoes: !isTerminal)
        let result = try interview.run(situation)
        situation = result.situation
        // No error: answers often come from a pipe, and those so far may be enough.
        if result.hasEnded { complain("The input ended.\n") }
      }
      // The one question without a usual answer: advice for a kind that was guessed would be wrong
      // for most data.
      guard situation.kind != nil else {
        throw ValidationError(
          "The kind of data isn't known; answer the first question, or use --kind.")
      }
      let advice = Advisor.advice(for: situation)
      print(format.isJSON ? try json(advice) : advice.text)
      let open = openQuestions(situation)
      if !open.isEmpty {
        let assumptions = open.map { "\($0.id) (\($0.usual ?? ""))" }.joined(separator: ", ")
        complain("Not answered, so the usual answer is assumed: \(assumptions).\n")
      }
      return .clean
    }
  }

  /// The questions that have no answer and could change the advice.
  ///
  /// Each one that was found is skipped in the next round, as if it had got its usual answer.
  private func openQuestions(_ situation: Situation) -> [Question] {
    var open: [Question] = []
    while let question = Advisor.nextQuestion(for: situation, skipping: Set(open.map(\.id))) {
      open.append(question)
    }
    return open
  }

  // MARK: Code

  /// Reviews the code of a folder or a file. It uses no cache, so it parses all files.
  func review(_ path: String, assumesCloudKit: Bool, _ format: AdviceFormat) -> Exit {
    reporting {
      let url = URL(filePath: path, relativeTo: directory).standardizedFileURL
      guard FileManager.default.fileExists(atPath: url.path) else {
        throw ValidationError("\(path) doesn't exist; name a folder or a Swift file.")
      }
      var linter = Linter(root: url)
      linter.assumesCloudKit = assumesCloudKit
      let review = CodeReview(try linter.survey().prefixed(with: prefix(of: url)))
      print(format.isJSON ? try json(review) : review.text)
      // A `change` stays in its store, and the linter has an exit status of its own for findings.
      return review.judgements.contains { $0.verdict == .move } ? .found : .clean
    }
  }

  /// A prefix that makes the files' paths relative to the working directory.
  ///
  /// An absolute path is the prefix of a folder that isn't below the working directory.
  private func prefix(of url: URL) -> String {
    let folder = isFolder(url) ? url : url.deletingLastPathComponent()
    let here = directory.standardizedFileURL.pathComponents
    let there = folder.pathComponents
    // By components: `/a/bc` isn't below `/a/b`.
    guard there.starts(with: here) else { return folder.path + "/" }
    return there.dropFirst(here.count).map { $0 + "/" }.joined()
  }

  /// Whether a folder is at a URL, or a link that leads to one.
  private func isFolder(_ url: URL) -> Bool {
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder)
      && isFolder.boolValue
  }

  // MARK: Output

  /// Writes entries one after the other, or as a list in JSON.
  func list(_ entries: [some Encodable & CustomStringConvertible], _ format: AdviceFormat) -> Exit {
    reporting {
      // Each entry ends with a line break already, so the separator is an empty line.
      print(format.isJSON ? try json(entries) : entries.map(\.description).joined(separator: "\n"))
      return .clean
    }
  }

  /// A value as JSON with sorted members and a line end.
  private func json(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self) + "\n"
  }
}

// MARK: - The command

/// Advises where data belongs: the command `stead advise`.
///
/// Without a verb it advises. Its verbs list the questions and the limits on which the advice
/// depends. Each question is an option, so a script needs no input.
package struct Advise: AdviceVerb {
  package static let configuration: CommandConfiguration = {
    var configuration = Self.configuration(of: "stead advise")
    // Only below `stead`. As a program of its own it has the parser's own `help`.
    configuration.subcommands.append(HelpVerb<Advise>.self)
    return configuration
  }()

  @OptionGroup var format: AdviceFormat
  @OptionGroup var options: AdviceOptions

  package init() {}

  /// The configuration of a command with these verbs. The last word of its name is the command's.
  package static func configuration(of name: String) -> CommandConfiguration {
    CommandConfiguration(
      commandName: name.split(separator: " ").last.map(String.init),
      abstract: "Asks what the data is, and advises where it belongs.",
      usage: """
        \(name) [<options>]
        \(name) --from-code <path> [--json] [--cloudkit]
        \(name) questions [--json]
        \(name) limits [--json]
        """,
      discussion: """
        A question that an option answers isn't asked. Those about sharing, retention, platforms, observers and shape \
        refine the advice, and are never asked. `questions` lists the questions with their answers.

        Answers are read from standard input, one per line: a name, a number from the list, or an empty line for the \
        usual answer. If the input ends early, the advice uses the answers so far.

        Exits with 0, with 1 if code keeps something in the wrong store, and with 2 if it couldn't tell.
        """,
      subcommands: [Questions.self, Limits.self])
  }

  package func run(_ command: AdviceCommand) -> AdviceCommand.Exit {
    // The answers given as options don't count then: code gives its own.
    if let code = options.code {
      return command.review(code, assumesCloudKit: options.assumesCloudKit, format)
    }
    // Without `--from-code` it advises on one kind of data.
    return command.advise(
      options.situation, assumesUsual: options.assumesUsual, format)
  }
}

/// A verb of the command. `AdviceCommand` does its work.
///
/// A verb alone has the process's own folder and streams. Through `AdviceCommand` it has those of
/// the program that runs it, and tests answer its questions.
package protocol AdviceVerb: ParsableCommand {
  /// Runs the verb with the input and output of a command.
  func run(_ command: AdviceCommand) -> AdviceCommand.Exit
}

extension AdviceVerb {
  package func run() throws {
    let command = AdviceCommand(
      directory: URL(filePath: FileManager.default.currentDirectoryPath),
      isTerminal: isatty(STDIN_FILENO) == 1, readLine: { readLine() },
      print: StandardStream.print, complain: StandardStream.complain)
    throw ExitCode(run(command).rawValue)
  }
}

// MARK: - Verbs

extension Advise {
  /// Lists the questions, and the refinements that are never asked.
  package struct Questions: AdviceVerb {
    package static let configuration = CommandConfiguration(
      abstract: "Lists the questions, their answers and their reasons.")

    @OptionGroup var format: AdviceFormat

    package init() {}

    package func run(_ command: AdviceCommand) -> AdviceCommand.Exit {
      command.list((Question.all + Question.refinements).map(QuestionText.init), format)
    }
  }

  /// Lists the limits with what was measured.
  package struct Limits: AdviceVerb {
    package static let configuration = CommandConfiguration(
      abstract: "Lists the limits of the stores, with the measurements.")

    @OptionGroup var format: AdviceFormat

    package init() {}

    package func run(_ command: AdviceCommand) -> AdviceCommand.Exit {
      command.list(Threshold.all.map(LimitText.init), format)
    }
  }
}

// MARK: - Options

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
  /// The help of the option that answers a question. Options and questions have the same texts in
  /// one place.
  static func question(_ id: Question.ID) -> ArgumentHelp {
    let question = (Question.all + Question.refinements).first { $0.id == id }
    guard let question else { return "" }
    return ArgumentHelp(question.isNumber ? "\(question.text) \(question.examples)" : question.text)
  }
}

extension Question {
  /// The answer to a question that a number answers.
  ///
  /// - Throws: A `ValidationError`, which names the option before this message.
  @Sendable static func number(_ text: String) throws -> Int {
    guard let number = ByteCount.parse(text), number >= 0 else {
      throw ValidationError("it \(numberExpectation).")
    }
    return number
  }

  /// What an option and an interview say of an answer that is no number.
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
