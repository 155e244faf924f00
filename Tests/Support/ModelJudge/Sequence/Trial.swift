import Foundation

/// A sequence of steps, and how much is read while it runs.
public struct Trial: Codable, Sendable {
  /// How much is compared. Reading loads objects, which can hide what goes wrong without.
  public enum Reading: String, CaseIterable, Codable, Sendable {
    case everything, afterSaves, storeAfterSaves, atTheEnd
  }

  public static let length = 60

  public let profile: Profile
  public let seed: UInt64
  public var reading: Reading
  public var steps: [Step]

  public init(_ profile: Profile, seed: UInt64) {
    self.profile = profile
    self.seed = seed
    var generator = Generator(profile, seed: seed)
    reading = Reading.allCases[Int(seed % UInt64(Reading.allCases.count))]
    steps = generator.steps(Self.length)
  }

  /// Runs the engine and the reference, and returns where they first differ.
  public func firstDivergence() throws -> Divergence? {
    var log: [Call] = []
    do {
      try run(&log)
      return nil
    } catch let mismatch as Mismatch {
      return Divergence(trial: self, calls: log, mismatch: mismatch)
    } catch is Unspecified {
      return nil
    } catch {
      let mismatch = Mismatch("an unexpected error: \(error)")
      return Divergence(trial: self, calls: log, mismatch: mismatch)
    }
  }

  /// The calls of the sequence as far as the reference goes, without the engine.
  public var calls: [Call] { withoutEngine().calls }

  /// A contradiction in the reference: that would be an error of the judge.
  public var referenceProblem: String? { withoutEngine().problem }

  /// Why the sequence ends without a verdict, and after how many steps.
  public var unspecified: (reason: String, steps: Int)? {
    var reference = Reference(profile)
    for (index, step) in steps.enumerated() {
      do {
        _ = try reference.perform(step)
      } catch let error as Unspecified {
        return (error.reason, index)
      } catch {
        return ("\(error)", index)
      }
    }
    return nil
  }

  private func withoutEngine() -> (calls: [Call], problem: String?) {
    var reference = Reference(profile)
    var calls: [Call] = []
    for step in steps {
      guard let more = try? reference.perform(step) else { break }
      calls += more
      if let problem = reference.problem { return (calls, problem) }
      if let state = reference.candidates.first { reference.store = state }
      reference.candidates = []
    }
    return (calls, nil)
  }

  private func run(_ log: inout [Call]) throws {
    var reference = Reference(profile)
    let subject = try Subject(profile)
    for step in steps {
      let commits = reference.commits
      let calls = try reference.perform(step)
      for call in calls {
        log.append(call)
        try subject.perform(call)
      }
      if !reference.candidates.isEmpty { try settle(&reference, subject) }
      try catchUp(&reference, subject, &log)
      if !calls.isEmpty {
        try check(step, calls, hasCommitted: reference.commits != commits, reference, subject)
      }
    }
    try checkContexts(reference, subject)
    try subject.checkStore(reference.store, kinds: profile.kinds, reopens: true)
  }

  /// Lets contexts apply what others have committed.
  ///
  /// An object that a context has not loaded reads the newest row, not that of the last sync, so a
  /// context that lags behind has no state of its own to compare. What it has changed and not saved stays.
  private func catchUp(
    _ reference: inout Reference, _ subject: Subject, _ log: inout [Call]
  ) throws {
    for index in reference.contexts.indices
    where reference.contexts[index].base != reference.store {
      for call in try reference.perform(Step(action: .process, context: index)) {
        log.append(call)
        try subject.perform(call)
      }
    }
  }

  private func check(
    _ step: Step, _ calls: [Call], hasCommitted: Bool, _ reference: Reference,
    _ subject: Subject
  ) throws {
    let context = step.context % reference.contexts.count
    if hasCommitted {
      subject.learnIdentifiers(context, reference.contexts[context].view.nodes.keys)
    }
    let isSave = [.save, .transaction].contains(step.action) && hasCommitted
    // A step of a contested context may be another one's, done as a save that is refused.
    if isSave || calls.contains(.rollback(context)), subject.contexts[context].hasChanges {
      throw Mismatch("context\(context).hasChanges: expected false, got true")
    }
    // Others know a row by the identifier that a new context finds.
    if hasCommitted, reading != .atTheEnd || profile.contextCount > 1 || profile.hasWorkers {
      try subject.checkStore(reference.store, kinds: profile.kinds, reopens: profile == .cold)
    }
    if reading == .everything || (reading == .afterSaves && hasCommitted) {
      try checkContexts(reference, subject)
    }
  }

  private func checkContexts(_ reference: Reference, _ subject: Subject) throws {
    for index in reference.contexts.indices where !reference.contexts[index].isContested {
      try subject.check(index, reference)
    }
  }

  /// Finds out which of its saves a killed process finished.
  private func settle(_ reference: inout Reference, _ subject: Subject) throws {
    let candidates = reference.candidates
    reference.candidates = []
    var last: Mismatch?
    for candidate in candidates {
      do {
        try subject.checkStore(candidate, kinds: profile.kinds, reopens: true)
        reference.store = candidate
        return
      } catch let mismatch as Mismatch {
        last = mismatch
      }
    }
    throw Mismatch("after a kill the store is none of its states: \(last?.description ?? "")")
  }
}

/// A difference between the engine and the reference, as a bug report.
public struct Divergence: Error, CustomStringConvertible {
  public let trial: Trial
  public let calls: [Call]
  public let mismatch: Mismatch

  public var description: String {
    """
    \(calls.map(\.description).joined(separator: "\n"))
    // \(mismatch)
    // Profile \(trial.profile.rawValue), seed \(trial.seed), \(trial.steps.count) steps, \
    reading \(trial.reading).
    """
  }

  /// What kind of difference it is: what differs, without the numbers of this one.
  public var kind: String {
    let text = mismatch.description.filter { !$0.isNumber }
    return text.range(of: "expected").map { String(text[..<$0.lowerBound]) + "differs" } ?? text
  }
}
