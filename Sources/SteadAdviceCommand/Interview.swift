import ArgumentParser
import SteadAdvice

/// Asks questions until no answer can change the advice, or until the input ends.
///
/// It is run once. Input and output are closures, so that tests can answer without a terminal.
struct Interview {
  /// Returns the next line of the input without its line break; nil at the end of the input.
  let ask: () -> String?
  /// Writes a text, which has its own line breaks.
  let print: (String) -> Void
  /// Whether answers are printed after the questions, because no terminal echoes them.
  let echoes: Bool

  /// The maximum number of attempts to answer one question. A pipe that gives something else would
  /// otherwise be read to its end.
  private static let attempts = 5

  /// The result of an interview.
  struct Result {
    /// The answers, those that were known before included.
    var situation: Situation
    /// Whether the input ended before the last question.
    var hasEnded = false
  }

  /// Asks, and returns the answers with those that were known.
  ///
  /// - Throws: A `ValidationError` after `attempts` answers to one question that were none.
  func run(_ situation: Situation) throws(ValidationError) -> Result {
    var result = Result(situation: situation)
    var skipped: Set<Question.ID> = []
    while let question = Advisor.nextQuestion(for: result.situation, skipping: skipped) {
      print(text(of: question))
      switch try answer(to: question, in: &result.situation) {
      // If the answer gives only the number or only the size, the other isn't asked.
      case .given: if question == .amount { skipped.insert(question.id) }
      // Skipped, or the advisor would ask it again.
      case .none: skipped.insert(question.id)
      case .ended:
        result.hasEnded = true
        return result
      }
      print("\n")
    }
    return result
  }

  /// How a question ended: with an answer, with an empty line, or with the end of the input.
  private enum Answer { case given, none, ended }

  /// Asks one question until it has an answer.
  ///
  /// An empty line is the usual answer, if the question has one.
  private func answer(to question: Question, in situation: inout Situation) throws(ValidationError)
    -> Answer
  {
    for _ in 0..<Self.attempts {
      print("> ")
      // Ends the line of the prompt, so that what comes next begins a new one.
      guard let line = ask() else {
        print("\n")
        return .ended
      }
      // Spaces at the ends and repeated ones make no difference. A carriage return counts as a space.
      let words = line.split(whereSeparator: \.isWhitespace).joined(separator: " ")
      // A transcript of a piped run then reads as a dialog.
      if echoes { print(words + "\n") }
      if words.isEmpty, question.usual != nil { return .none }
      if question.answer(name(of: words, in: question), in: &situation) { return .given }
      print("The answer \(question.expectation), or a number from the list.\n")
    }
    throw ValidationError(
      "`\(question.id)` had no valid answer in \(Self.attempts) attempts; `stead advise questions` lists the answers."
    )
  }

  /// The answer with a number in the list. If numbers are answers, the words themselves.
  ///
  /// Numbers in the list begin at 1.
  private func name(of words: String, in question: Question) -> String {
    // Where any number is an answer, `1` is one and not the first example.
    guard !question.isNumber, let number = Int(words),
      question.choices.indices.contains(number - 1)
    else { return words }
    return question.choices[number - 1].name
  }

  /// A question with its reason, its answers and the usual one.
  private func text(of question: Question) -> String {
    var lines = [question.text, "  " + question.reason]
    if question.isNumber {
      lines.append("  \(question.examples)")
    } else {
      let width = question.choices.map(\.name.count).max() ?? 0
      for (index, choice) in question.choices.enumerated() {
        let number = String(index + 1).padded(to: 3, onLeft: true)
        lines.append("\(number) \(choice.name.padded(to: width))  \(choice.text)")
      }
    }
    if let usual = question.usual { lines.append("  Without an answer: \(usual).") }
    return lines.joined(separator: "\n") + "\n"
  }
}

extension String {
  /// The string with spaces up to a number of characters.
  func padded(to width: Int, onLeft: Bool = false) -> String {
    let space = String(repeating: " ", count: max(0, width - count))
    return onLeft ? space + self : self + space
  }
}

// MARK: - Questions as text

/// A question as `stead advise questions` lists it.
struct QuestionText: Encodable, CustomStringConvertible {
  private let option: String
  private let text: String
  private let reason: String
  private let usual: String?
  private let choices: [String: String]

  /// The texts of a question, which JSON has as they are.
  init(_ question: Question) {
    option = "--" + question.id
    (text, reason, usual) = (question.text, question.reason, question.usual)
    // Examples aren't choices, and a program that reads the list must not take them for such.
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
