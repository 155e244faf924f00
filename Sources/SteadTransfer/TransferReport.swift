/// The result of a run or a preview, as numbers of items and a list of failures.
///
/// Its description is one line: `12 moved, 3 moved earlier, 1 failed`.
public struct TransferReport: Sendable {
  /// The result in one word.
  public enum Outcome: String, Sendable {
    /// The source held nothing that had to be moved.
    case nothingToDo
    /// Everything that had to be moved was moved.
    case complete
    /// Some items were not moved; see ``TransferReport/failures``.
    case partial
  }

  /// Whether this is the report of a preview.
  public internal(set) var isPreview = false
  /// The source, as in errors: `key drafts of org.example.Notes`.
  public internal(set) var source = ""
  /// The number of items in the source.
  public internal(set) var read = 0
  /// The number of items that were written and read back.
  public internal(set) var moved = 0
  /// How many of the moved items replaced something else, in the destination or of this run.
  public internal(set) var replaced = 0
  /// The number of items that count as moved but were not written, because something else had their
  /// places (``TransferOptions/ConflictRule/keepExisting``).
  public internal(set) var kept = 0
  /// The number of items that an interrupted run had written; they were not written again.
  public internal(set) var completed = 0
  /// The number of items in the source that earlier runs have moved; they were not moved again.
  public internal(set) var alreadyMoved = 0
  /// The number of items that were removed from the source, including those of an interrupted run.
  public internal(set) var removed = 0
  /// How many of the read items are still in the source.
  public internal(set) var left = 0
  /// How many moved items somebody had changed or removed in the source since they were read. The
  /// changed items stay, and are new to the next run.
  public internal(set) var changedMeanwhile = 0
  /// The items that were not moved, or whose copy has changed since it was written. They are in the
  /// source.
  public internal(set) var failures: [TransferFailure] = []

  init() {}

  /// The result in one word.
  public var outcome: Outcome {
    // Failures come first: a run that moved nothing but has failures isn't one with nothing to do.
    if !failures.isEmpty { return .partial }
    return moved + kept + completed + removed == 0 ? .nothingToDo : .complete
  }
}

extension TransferReport: CustomStringConvertible {
  /// The numbers that aren't zero, in a line.
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
  /// A phase of a run.
  public enum Phase: String, Sendable {
    /// The phases in the order of a run. A run after an interrupted one first verifies what that one
    /// has written, and may remove its items from the source, before it reads.
    case reading, converting, writing, verifying, removing
  }

  /// The current phase.
  public var phase: Phase
  /// The number of items that the phase is done for.
  public var completed: Int
  /// The number of items of the phase; nil while it isn't known.
  public var total: Int?

  /// A function that is called with the progress. An error that it throws, such as
  /// `CancellationError`, stops the work.
  public typealias Report = (TransferProgress) throws -> Void

  /// Makes a progress; the package does this, and so may a test.
  public init(phase: Phase, completed: Int, total: Int?) {
    self.phase = phase
    self.completed = completed
    self.total = total
  }
}

/// Passes progress on, and remembers the error that stopped the run.
///
/// A destination may wrap errors that pass through it, as a transaction does. The caller of a run
/// gets back the error that their own function threw.
final class ProgressReporter {
  private let report: TransferProgress.Report
  /// The caller's error, or that of a cancelled task.
  private(set) var thrownError: (any Error)?

  init(_ report: @escaping TransferProgress.Report) { self.report = report }

  /// Reports progress, unless the task is cancelled.
  func send(_ progress: TransferProgress) throws {
    do {
      // Cancellation takes the same way as the caller's error, so every place that reports can stop
      // the run.
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
