/// Picks the questions to ask about some data, and advises where to keep it.
///
/// ```swift
/// var situation = Situation()
/// while let question = Advisor.nextQuestion(for: situation) {
///   _ = question.answer(ask(question), in: &situation)
/// }
/// print(Advisor.advice(for: situation).text)
/// ```
public enum Advisor {
  /// The next question whose answer can still change the store, a reason or a limit; nil if none is left.
  ///
  /// Five questions are enough for any situation. A call makes a few thousand decisions, which takes a few
  /// milliseconds.
  ///
  /// - Parameter skipped: The identifiers of questions to skip, such as those that the user left unanswered.
  public static func nextQuestion(
    for situation: Situation, skipping skipped: Set<Question.ID> = []
  ) -> Question? {
    let parts = skipped.contains(Question.amount.id) ? Question.partsOfAmount : []
    let open = Question.all.filter {
      !$0.isAnswered(situation) && !skipped.contains($0.id) && !parts.contains($0.id)
    }
    for (index, question) in open.enumerated() {
      // Later questions may get any answer. Earlier ones were passed over because no answer makes a difference.
      let later = Array(open[(index + 1)...])
      guard matters(question, to: situation, later: later) else { continue }
      guard question.id == "count", let size = later.first, size.id == "size" else {
        return question
      }
      // The number and the size are one question if both matter.
      let others = [question] + later.dropFirst()
      return matters(size, to: situation, later: others) ? .amount : question
    }
    return nil
  }

  /// Where to keep the data of a situation.
  public static func advice(for situation: Situation) -> Advice { Advice(situation) }

  private static func matters(
    _ question: Question, to situation: Situation, later: [Question]
  ) -> Bool {
    let answers = question.samples.map { answer -> Situation in
      var situation = situation
      _ = question.answer(answer, in: &situation)
      return situation
    }
    return !areAlike(answers, later)
  }

  /// Whether situations lead to the same decision, whatever the answers to the later questions are.
  private static func areAlike(_ situations: [Situation], _ later: [Question]) -> Bool {
    let outcomes = Set(situations.map { Decision($0) })
    guard outcomes.count == 1 else { return false }
    guard let question = later.first else { return true }
    return question.samples.allSatisfy { answer in
      areAlike(
        situations.map { situation in
          var situation = situation
          _ = question.answer(answer, in: &situation)
          return situation
        }, Array(later.dropFirst()))
    }
  }

}

extension Question {
  /// Representative answers. For a number, one on each side of each threshold.
  var samples: [String] {
    guard isNumber else { return choices.map(\.name) }
    if self == .amount {
      let parts = Question.all.filter { Question.partsOfAmount.contains($0.id) }.map(\.samples)
      return parts[0].flatMap { count in parts[1].map { "\(count) of \($0)" } }
    }
    let unit: Threshold.Unit = id == "count" ? .pieces : .bytes
    let limits = Threshold.all.filter { $0.unit == unit }.flatMap { [$0.comfortable, $0.limit] }
    return Set([0] + limits.flatMap { [$0, $0 + 1] }).sorted().map(String.init)
  }
}
