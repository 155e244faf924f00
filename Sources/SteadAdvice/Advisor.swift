/// Picks the questions to ask about some data, and advises where to keep it.
///
/// ```swift
/// var situation = Situation()
/// while let question = Advisor.nextQuestion(for: situation) {
///   _ = question.answer(ask(question), in: &situation)
/// }
/// print(Advisor.advice(for: situation).text)
/// ```
///
/// It has no state and reads nothing: the advice depends on the answers alone, so it may be asked
/// on any thread.
public enum Advisor {
  /// The next question whose answer can still change the store, a reason or a limit; nil if none is left.
  ///
  /// Five questions are enough for any situation. A call makes a few thousand decisions, which takes a few
  /// milliseconds. The answers may come in any order and from anywhere: set properties of the situation, or use
  /// ``Question/answer(_:in:)``.
  ///
  /// - Parameters:
  ///   - situation: What is known of the data.
  ///   - skipped: The identifiers of questions to skip, such as those that the user left unanswered. Their usual
  ///     answers are then assumed.
  public static func nextQuestion(
    for situation: Situation, skipping skipped: Set<Question.ID> = []
  ) -> Question? {
    // Whoever left the combined question unanswered must not get its two halves next.
    let parts = skipped.contains(Question.amount.id) ? Question.partsOfAmount : []
    let open = Question.all.filter {
      !$0.isAnswered(situation) && !skipped.contains($0.id) && !parts.contains($0.id)
    }
    for (index, question) in open.enumerated() {
      // Later questions may get any answer. Earlier ones were passed over because no answer makes a difference.
      let later = Array(open[(index + 1)...])
      guard matters(question, to: situation, later: later) else { continue }
      // The two are neighbors in the list. If the size is answered already, the number is asked
      // alone.
      guard question.id == "count", let size = later.first, size.id == "size" else {
        return question
      }
      // The number and the size are one question if both matter.
      // The number may have any answer while the size is tested, as if it came later.
      let others = [question] + later.dropFirst()
      return matters(size, to: situation, later: others) ? .amount : question
    }
    return nil
  }

  /// Where to keep the data of a situation. A property that is nil counts as its question's usual answer, except the
  /// size of media, which counts as large. Without a ``Situation/kind`` it is the advice for a setting.
  ///
  /// ```swift
  /// let advice = Advisor.advice(for: Situation(kind: .payloads, access: .parts, count: 300, size: 2_000))
  /// print(advice.store)  // records
  /// ```
  public static func advice(for situation: Situation) -> Advice { Advice(situation) }

  /// Whether the answers to a question lead to different decisions, for some answers to the later questions.
  ///
  /// Invariant of the interview: a question that doesn't matter is never asked, and one that
  /// matters can change the store, a reason or a limit.
  private static func matters(
    _ question: Question, to situation: Situation, later: [Question]
  ) -> Bool {
    // Each sample is a valid answer, so the returned Boolean is ignored.
    let answers = question.samples.map { answer -> Situation in
      var situation = situation
      _ = question.answer(answer, in: &situation)
      return situation
    }
    return !areAlike(answers, later)
  }

  /// Whether situations lead to the same decision, whatever the answers to the later questions are.
  ///
  /// Costs the product of the numbers of answers, which is why a number has only the samples around thresholds.
  private static func areAlike(_ situations: [Situation], _ later: [Question]) -> Bool {
    let outcomes = Set(situations.map { Decision($0) })
    // One combination with different decisions is enough, and ends the search.
    guard outcomes.count == 1 else { return false }
    // All answers are given, and the decisions are the same.
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
  ///
  /// A decision changes at thresholds and between one and several, so no other numbers are needed.
  var samples: [String] {
    guard isNumber else { return choices.map(\.name) }
    // Each number with each size: a limit may be reached by their product.
    if self == .amount {
      let parts = Question.all.filter { Question.partsOfAmount.contains($0.id) }.map(\.samples)
      return parts[0].flatMap { count in parts[1].map { "\(count) of \($0)" } }
    }
    // Only two questions are answered by a number.
    let unit: Threshold.Unit = id == "count" ? .pieces : .bytes
    let limits = Threshold.all.filter { $0.unit == unit }.flatMap { [$0.comfortable, $0.limit] }
    // Some comparisons are with `>` and one with `>=`, so a limit itself and the next number are
    // both needed.
    return Set([0] + limits.flatMap { [$0, $0 + 1] }).sorted().map(String.init)
  }
}

// MARK: - What is advised

/// The store that some data belongs in, with reasons, limits and code.
///
/// It is a value that was computed from the situation alone: equal situations give equal advice. As JSON it is what
/// `stead advise --json` prints.
public struct Advice: Hashable, Codable, Sendable {
  /// The version of this type's JSON.
  public static let version = 1

  /// The version of the JSON form, for a program that reads it.
  public let version: Int
  /// The answers that it follows.
  public let situation: Situation
  /// The store.
  public let store: Store
  /// Why this store, in sentences.
  public let reasons: [String]
  /// Limits that the data comes near or exceeds.
  public let thresholds: [Threshold]
  /// When to leave the store, and where the data belongs then.
  public let exits: [String]
  /// Swift code that declares the store and uses it.
  public let declaration: String
  /// The directory of the files.
  public let directory: String
  /// How the data gets to other devices, or why it doesn't.
  public let sync: String
  /// How to back the data up.
  public let backup: String
  /// Who encrypts the data on the disk.
  public let encryption: String
  /// The linter's rules for code that uses the store.
  public let rules: [String]
  /// How to move the data out of its present store; nil if it stays there, or if no move is known.
  public let move: Move?

  init(_ situation: Situation) {
    let decision = Decision(situation)
    version = Self.version
    self.situation = situation
    store = decision.store
    // The store first: refinements only add to what is said about it.
    let refinement = Refinement(situation, of: decision.store)
    reasons = decision.reasons + refinement.reasons
    thresholds = decision.thresholds
    exits = decision.store.exits + refinement.exits
    declaration = refinement.declaration
    directory = refinement.directory
    sync = refinement.sync
    backup = decision.store.backup
    encryption = decision.store.encryption
    rules = decision.store.rules
    // By the decided store: a refinement never changes it.
    move = situation.today.flatMap { Move.between($0, decision.store) }
  }

  /// The advice as text for people, of some 30 lines, with a line break at the end.
  public var text: String {
    var lines = ["Keep it in \(store.title)."]
    lines += reasons.map { "  " + $0 }
    for threshold in thresholds { lines.append("  Mind the limit: \(threshold.text)") }
    lines += ["", store.product.map { "Product: \($0)" } ?? "Framework: Core Data", ""]
    lines += declaration.split(separator: "\n", omittingEmptySubsequences: false).map {
      $0.isEmpty ? "" : "    " + $0
    }
    lines += [
      "", "Directory:  \(directory)", "Sync:       \(sync)", "Backup:     \(backup)",
      "Encryption: \(encryption)", "Rules:      \(rules.joined(separator: ", "))", "",
      "Leave it when",
    ]
    lines += exits.map { "  - " + $0 }
    lines += moving
    return lines.joined(separator: "\n") + "\n"
  }

  /// How to move the data out of its present store.
  ///
  /// Empty if the situation doesn't say where the data is today.
  private var moving: [String] {
    guard let today = situation.today else { return [] }
    // Said and not left out: whoever gave `--today` expects an answer about the move.
    if today == store { return ["", "It is already there."] }
    guard let move else {
      return [
        "",
        "No move from \(today.title) is known: write the data to the new store, read it back, then remove it here.",
      ]
    }
    let code = move.declaration.split(separator: "\n", omittingEmptySubsequences: false)
    return ["", "Move the data out of \(today.title):", ""]
      + code.map { $0.isEmpty ? "" : "    " + $0 }
  }
}

extension Threshold {
  /// The threshold as a sentence, with its reason.
  public var text: String { figures + " " + reason }

  /// The threshold as a sentence.
  ///
  /// Numbers of bytes are in KB, MB or GB: `fine up to 4 KB`.
  public var figures: String {
    let (near, far) =
      unit == .bytes
      ? (ByteCount.text(comfortable), ByteCount.text(limit))
      : (ByteCount.grouped(comfortable), ByteCount.grouped(limit))
    return "\(name): fine up to \(near); beyond \(far), use another store."
  }
}
