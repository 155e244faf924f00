public import Foundation

/// What opening a store has changed in it, or, in a dry run, would change.
///
/// ```swift
/// for migration in container.migrations {
///   logger.notice("\(migration)")
///   if migration.difference.losesData, migration.backup == nil { warnAboutMissingBackup() }
/// }
/// ```
public struct StoreMigration: Sendable {
  /// How many objects an entity has.
  public struct Count: Sendable, Hashable {
    /// The entity's name.
    public let entity: String
    /// How many it had before; nil for an entity that did not exist. Objects of subclasses are not counted.
    public let before: Int?
    /// How many it has now; nil for an entity that is gone.
    public let after: Int?
  }

  /// A stage of a migration plan that ran.
  public struct Stage: Sendable {
    /// The versions, such as `V1 to V2`.
    public let name: String
    /// Whether it is a custom stage, whose closures may have converted anything.
    public let isCustom: Bool
    /// What it has changed in the models.
    public let difference: SchemaDifference
  }

  /// The store's file.
  public let url: URL
  /// What has changed in the models since the store was last opened.
  ///
  /// It only compares these two: ``stages`` lists what stages have renamed or converted on the way.
  public let difference: SchemaDifference
  /// A backup of the store before the migration, if data was dropped or converted: a separate store, which the next
  /// such migration replaces. nil if nothing was lost, if the store is in memory or larger than 1 GiB, and for a dry
  /// run.
  public let backup: URL?
  /// The stages of a migration plan that ran, in order.
  public let stages: [Stage]
  /// The objects of each entity, by name, if a plan's stages ran or in a dry run. Objects of subclasses are counted as
  /// those of the subclass.
  public let counts: [Count]

  init(
    url: URL, difference: SchemaDifference, backup: URL?, stages: [Stage] = [],
    counts: [Count] = []
  ) {
    self.url = url
    self.difference = difference
    self.backup = backup
    self.stages = stages
    self.counts = counts
  }
}

extension StoreMigration: CustomStringConvertible {
  /// What has changed, and the numbers of objects, one per line.
  public var description: String {
    var lines = [url.lastPathComponent + ":"]
    if stages.isEmpty {
      if !difference.isEmpty { lines.append(difference.description) }
    } else {
      lines += stages.map(\.description)
    }
    for count in counts {
      let (before, after) = (count.before.map { "\($0)" }, count.after.map { "\($0)" })
      lines.append("\(count.entity): \(before ?? "none") before, \(after ?? "none") afterwards.")
    }
    if let backup { lines.append("Backup: \(backup.lastPathComponent).") }
    return lines.joined(separator: "\n")
  }
}

extension StoreMigration.Stage: CustomStringConvertible {
  /// The versions, and what has changed, in one line.
  public var description: String {
    let changes =
      isCustom ? difference.facts : difference.description.replacing("\n", with: " ")
    return "\(name)\(isCustom ? ", a custom stage" : ""): "
      + (changes.isEmpty ? "The models are the same." : changes)
  }
}

// MARK: - Progress

/// The progress of opening a store that was made for other models.
///
/// ```swift
/// let container = try ModelContainer(
///   for: schema, migrationPlan: Plan.self, configurations: [configuration],
///   migrationProgress: { print("\($0.phase): \($0.completed) of \($0.total ?? 0)") })
/// ```
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

/// Passes a migration's progress on, with the number of the stage.
struct MigrationReporter {
  let report: MigrationProgress.Report
  /// The number of the stage that runs, from 1; 0 outside of the stages.
  var stage = 0
  var stages = 0

  init(_ report: @escaping MigrationProgress.Report = { _ in }) { self.report = report }

  /// Reports progress, and throws if the migration should stop.
  func callAsFunction(
    _ phase: MigrationProgress.Phase, _ completed: Int = 0, of total: Int? = nil
  ) throws {
    // Asked here, so that a program's function need not.
    try Task.checkCancellation()
    try report(
      MigrationProgress(
        phase: phase, stage: stage, stages: stages, completed: completed, total: total))
  }
}
