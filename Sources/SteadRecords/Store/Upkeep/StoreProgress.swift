/// The progress of a check, backup or compaction of a container's stores.
public struct StoreProgress: Sendable, Hashable {
  /// The current step.
  public enum Phase: String, Sendable {
    /// SQLite reads the pages of a store.
    case checkingPages
    /// The tables of the models are read, one after the other.
    case checkingRows
    /// The files of large values are read, or looked for those that no row refers to.
    case checkingFiles
    /// The files of large values are copied.
    case copyingFiles
    /// The pages of a store are copied.
    case copyingPages
    /// SQLite writes a store again without free pages.
    case compacting
  }

  /// The current step.
  public var phase: Phase
  /// How many pages, tables or files are done.
  public var completed: Int
  /// The total; nil while it is unknown, and if SQLite does not report it.
  public var total: Int?

  /// Called with the progress; it stops the work by throwing, for example `CancellationError`.
  public typealias Report = (StoreProgress) throws -> Void

  /// Creates a progress value.
  public init(phase: Phase, completed: Int, total: Int?) {
    self.phase = phase
    self.completed = completed
    self.total = total
  }
}
