import SteadAdvice

/// A question as `stead advise questions` lists it.
struct QuestionText: Encodable, CustomStringConvertible {
  private let option: String
  private let text: String
  private let reason: String
  private let usual: String?
  private let choices: [String: String]

  init(_ question: Question) {
    option = "--" + question.id
    (text, reason, usual) = (question.text, question.reason, question.usual)
    choices =
      question.isNumber
      ? [:] : Dictionary(uniqueKeysWithValues: question.choices.map { ($0.name, $0.text) })
  }

  var description: String {
    let width = choices.keys.map(\.count).max() ?? 0
    let answers = choices.sorted { $0.key < $1.key }.map {
      "    \($0.key.padded(to: width))  \($0.value)\n"
    }
    let number = choices.isEmpty ? "    a number: 500, 10KB, 1.5MB\n" : ""
    let otherwise = usual.map { "    Without an answer: \($0).\n" } ?? ""
    return "\(option)  \(text) \(reason)\n" + answers.joined() + number + otherwise
  }
}

/// A limit as `stead advise limits` lists it.
struct LimitText: Encodable, CustomStringConvertible {
  private let threshold: Threshold

  init(_ threshold: Threshold) {
    self.threshold = threshold
  }

  var description: String { threshold.text + "\n" }

  func encode(to encoder: any Encoder) throws {
    try threshold.encode(to: encoder)
  }
}
