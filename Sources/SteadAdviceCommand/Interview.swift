import SteadAdvice

/// Asks what still changes the advice, until nothing does or the input ends.
struct Interview {
  /// The next line of the input without its end; nil at the end of the input.
  let ask: () -> String?
  let print: (String) -> Void
  /// Whether answers are written behind the questions, since no terminal shows them.
  let echoes: Bool

  /// How often one question is asked.
  private static let attempts = 5

  /// What an interview came to.
  struct Result {
    var situation: Situation
    /// Whether the input ended before all was asked.
    var hasEnded = false
  }

  func run(_ situation: Situation) throws(UsageError) -> Result {
    var result = Result(situation: situation)
    var skipped: Set<Question.ID> = []
    while let question = Advisor.nextQuestion(for: result.situation, skipping: skipped) {
      print(text(of: question))
      switch try answer(to: question, in: &result.situation) {
      // What an answer about the amount leaves open isn't asked again.
      case .given: if question == .amount { skipped.insert(question.id) }
      case .none: skipped.insert(question.id)
      case .ended:
        result.hasEnded = true
        return result
      }
      print("\n")
    }
    return result
  }

  private enum Answer { case given, none, ended }

  private func answer(to question: Question, in situation: inout Situation) throws(UsageError)
    -> Answer
  {
    for _ in 0..<Self.attempts {
      print("> ")
      guard let line = ask() else {
        print("\n")
        return .ended
      }
      let words = line.split(whereSeparator: \.isWhitespace).joined(separator: " ")
      if echoes { print(words + "\n") }
      if words.isEmpty, question.usual != nil { return .none }
      if question.answer(name(of: words, in: question), in: &situation) { return .given }
      print("The answer \(question.expectation), or a number of the list.\n")
    }
    throw UsageError("`\(question.id)` had no answer in \(Self.attempts) attempts.")
  }

  /// The answer of a number in the list; the words themselves where numbers are answers.
  private func name(of words: String, in question: Question) -> String {
    guard !question.isNumber, let number = Int(words),
      question.choices.indices.contains(number - 1)
    else { return words }
    return question.choices[number - 1].name
  }

  private func text(of question: Question) -> String {
    var lines = [question.text, "  " + question.reason]
    if question.isNumber {
      let examples = question.choices.map(\.text).joined(separator: ", ")
      lines.append("  Any number, such as \(examples).")
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
  func padded(to width: Int, onLeft: Bool = false) -> String {
    let space = String(repeating: " ", count: max(0, width - count))
    return onLeft ? space + self : self + space
  }
}
