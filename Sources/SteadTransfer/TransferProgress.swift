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
