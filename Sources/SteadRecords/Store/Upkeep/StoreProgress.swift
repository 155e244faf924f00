/// How far the check, the backup or the compaction of a container's stores has come.
public struct StoreProgress: Sendable, Hashable {
  /// What is being done.
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

  /// What is being done.
  public var phase: Phase
  /// How many pages, tables or files that is done for.
  public var completed: Int
  /// How many of them there are; nil while that is not known, and where SQLite does not tell.
  public var total: Int?

  /// Called with the progress; it stops the work by throwing, `CancellationError` for one.
  public typealias Report = (StoreProgress) throws -> Void

  /// Creates a progress.
  public init(phase: Phase, completed: Int, total: Int?) {
    self.phase = phase
    self.completed = completed
    self.total = total
  }
}
