/// The results of a run or of a preview.
public struct TransferReport: Sendable {
  /// A run in one word.
  public enum Outcome: String, Sendable {
    /// The source held nothing that had to be moved.
    case nothingToDo
    /// Everything that had to be moved was.
    case complete
    /// Something has stayed behind; see ``TransferReport/failures``.
    case partial
  }

  /// Whether this is the report of a preview.
  public internal(set) var isPreview = false
  /// The source, as errors name it: `key drafts of org.example.Notes`.
  public internal(set) var source = ""
  /// How many items the source held.
  public internal(set) var read = 0
  /// How many items were written, and read back.
  public internal(set) var moved = 0
  /// How many of these were written over something else, in the destination or of this run.
  public internal(set) var replaced = 0
  /// How many items were not written, since something else has their places, and count as moved all the same.
  public internal(set) var kept = 0
  /// How many items an earlier run had written that did not come to its end; they were not written again.
  public internal(set) var completed = 0
  /// How many items were in the source although earlier runs have moved them; they are not moved again.
  public internal(set) var alreadyMoved = 0
  /// The number of items that were removed from the source, including those of an interrupted run.
  public internal(set) var removed = 0
  /// How many of the read items are still in the source.
  public internal(set) var left = 0
  /// How many moved items had changed in the source since they were read. The changed items stay, and are new to the
  /// next run.
  public internal(set) var changedMeanwhile = 0
  /// The items that were not moved, or whose copy has changed since it was written. They are in the source.
  public internal(set) var failures: [TransferFailure] = []

  init() {}

  /// The run in one word.
  public var outcome: Outcome {
    if !failures.isEmpty { return .partial }
    return moved + kept + completed + removed == 0 ? .nothingToDo : .complete
  }
}

extension TransferReport: CustomStringConvertible {
  /// The figures, in a line.
  public var description: String {
    let parts = [
      (moved, "moved"), (replaced, "of them over something else"),
      (kept, "given up for what is there"), (completed, "moved by an earlier run that was cut off"),
      (alreadyMoved, "moved earlier"), (changedMeanwhile, "changed meanwhile"),
      (failures.count, "failed"), (left, "left in the source"),
    ]
    let listed = parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    // A misspelt key looks like one that was moved, so the source is named.
    let nothing =
      read == 0 && !source.isEmpty
      ? "nothing to move: \(source) holds nothing" : "nothing to move"
    let figures = listed.isEmpty ? nothing : listed.joined(separator: ", ")
    return isPreview ? "would be: \(figures)" : figures
  }
}

// MARK: - Progress

/// How far a transfer has come.
public struct TransferProgress: Sendable, Hashable {
  /// What is being done.
  public enum Phase: String, Sendable {
    case reading, converting, writing, verifying, removing
  }

  /// What is being done.
  public var phase: Phase
  /// How many items that is done for.
  public var completed: Int
  /// The number of items; nil while it isn't known.
  public var total: Int?

  /// A function that is called with the progress; an error that it throws, such as `CancellationError`, stops the work.
  public typealias Report = (TransferProgress) throws -> Void

  /// A progress.
  public init(phase: Phase, completed: Int, total: Int?) {
    self.phase = phase
    self.completed = completed
    self.total = total
  }
}

/// Passes progress on, and remembers the error that stopped it.
///
/// A destination may wrap an error that goes through it, a transaction for one; the caller gets their own
/// error back.
final class ProgressReporter {
  private let report: TransferProgress.Report
  private(set) var thrownError: (any Error)?

  init(_ report: @escaping TransferProgress.Report) { self.report = report }

  func send(_ progress: TransferProgress) throws {
    do {
      try Task.checkCancellation()
      try report(progress)
    } catch {
      thrownError = error
      throw error
    }
  }

  func send(_ phase: TransferProgress.Phase, _ completed: Int, of total: Int?) throws {
    try send(TransferProgress(phase: phase, completed: completed, total: total))
  }
}
