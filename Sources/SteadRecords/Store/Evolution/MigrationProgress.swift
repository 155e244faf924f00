/// The progress of opening a store that was made for other models.
public struct MigrationProgress: Sendable, Hashable {
  /// The current step.
  public enum Phase: String, Sendable {
    /// The store is copied, to be worked on, or as a backup. Counts pages.
    case copying
    /// A custom stage's `willMigrate` runs.
    case willMigrate
    /// The tables follow the models.
    case changing
    /// A custom stage's `didMigrate` runs.
    case didMigrate
    /// Objects are counted. Counts entities.
    case counting
    /// The copy's new content replaces the store's. Counts pages.
    case replacing
  }

  /// The current step.
  public var phase: Phase
  /// The number of the migration plan's stage, from 1; 0 outside of the stages.
  public var stage: Int
  /// How many stages the store needs; 0 without a plan.
  public var stages: Int
  /// How much of the phase is done. The phase ends with the first report of the next one, so its last part is not
  /// reported.
  public var completed: Int
  /// How much there is to do; nil if unknown.
  public var total: Int?

  /// Called with progress; stops the migration by throwing, for example `CancellationError`: the store is then
  /// unchanged.
  public typealias Report = (MigrationProgress) throws -> Void
}
