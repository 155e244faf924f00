/// How far the opening of a store that was made for other models has come.
public struct MigrationProgress: Sendable, Hashable {
  /// What is being done.
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
    /// The store takes over what has become of its copy. Counts pages.
    case replacing
  }

  /// What is being done.
  public var phase: Phase
  /// The number of the migration plan's stage, from 1; 0 outside of the stages.
  public var stage: Int
  /// How many stages the store needs; 0 without a plan.
  public var stages: Int
  /// How much of the phase is done. The phase ends with the first report of the next one, so its last part is not
  /// reported.
  public var completed: Int
  /// How much there is to do, nil where that is not known.
  public var total: Int?

  /// Hears of progress, and stops the migration by throwing, `CancellationError` for one: the store is then as it was.
  public typealias Report = (MigrationProgress) throws -> Void
}
