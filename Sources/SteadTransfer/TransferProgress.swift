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
  /// How many items there are, nil while that is not known.
  public var total: Int?

  /// Hears of progress, and stops the work by throwing, `CancellationError` for one.
  public typealias Report = (TransferProgress) throws -> Void

  /// A progress.
  public init(phase: Phase, completed: Int, total: Int?) {
    self.phase = phase
    self.completed = completed
    self.total = total
  }
}
