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
