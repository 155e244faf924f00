import Foundation

/// Takes a store through the stages of a migration plan, from the version that wrote it to that of the app's models.
///
/// The stages run on a copy, while the store's write lock is held. When all have succeeded, the copy's pages replace
/// the store's in one transaction. So anyone who has the store open, or opens it after a failure or a kill, sees either
/// the old content or the new.
struct PlanMigration {
  /// How often the stages are run again if another process has written to the store between their end and the lock.
  static let attemptLimit = 3

  let plan: any SchemaMigrationPlan.Type
  /// The models of the container.
  let schema: Schema
  let configuration: ModelConfiguration
  let report: MigrationReporter

  private var file: StoreFile { StoreFile(configuration) }
  private var copy: StoreCopy {
    StoreCopy(
      of: configuration,
      at: URL(
        filePath: configuration.url.path + StoreCopy.migrationSuffix, directoryHint: .notDirectory))
  }

  /// Runs the stages that the store still needs; nil when it needs none.
  func run() throws -> StoreMigration? {
    guard !configuration.isStoredInMemoryOnly, configuration.allowsSave,
      FileManager.default.fileExists(atPath: configuration.url.path)
    else { return nil }
    try file.check()
    // Checked without the lock first: most programs find nothing to do.
    guard try !Self.stages(plan, of: file.open(writable: false), to: schema).isEmpty else {
      try removeLeftovers()
      return nil
    }
    for _ in 0..<Self.attemptLimit {
      switch try attempt() {
      case .done(let migration): return migration
      case .again: continue
      }
    }
    throw SwiftDataError(
      .storeLocked,
      "Other programs changed the store each time that its migration was about to finish. It was left as they wrote "
        + "it. Stop them, and open the store again.")
  }

  private enum Attempt { case done(StoreMigration?), again }

  private func attempt() throws -> Attempt {
    let source = try MigrationSource(file)
    defer { source.unlock() }
    let stages = try Self.stages(plan, of: source.connection, to: schema)
    guard !stages.isEmpty, let stored = try source.connection.storedSchema() else {
      return .done(nil)
    }
    defer { removeCopy() }
    var report = report
    report.stages = stages.count
    let rehearsal = Rehearsal(
      plan: plan, stages: stages, stored: stored, store: file, copy: copy, report: report,
      check: { try checkNotMoved(source) })
    let result = try rehearsal.run()
    // Only now is it known that the backup is wanted.
    let backup = try makeBackup(source, result.stages, report)
    guard try replace(source, report) else { return .again }
    return .done(
      StoreMigration(
        url: configuration.url, difference: result.difference, backup: backup,
        stages: result.stages, counts: result.counts))
  }

  /// The stages from the store's version to the container's.
  static func stages(
    _ plan: any SchemaMigrationPlan.Type, of connection: StoreConnection, to schema: Schema
  ) throws -> [MigrationStage] {
    guard let stored = try connection.storedSchema() else { return [] }
    let path = try MigrationPath(plan)
    guard let position = try path.position(of: stored, for: schema) else { return [] }
    let target = path.target(of: schema)
    switch position {
    case .version(let index): return try path.stages(from: index, to: target)
    case .likeVersion(let index, let difference):
      let stages = try path.stages(from: index, to: target)
      // The tables follow automatically; the app's closures would run on a schema that they do not know.
      guard stages.contains(where: \.isCustom) else { return stages }
      throw SwiftDataError(
        .unknownSchema,
        "The store has version \(stored.version), and its models differ from those that the migration plan has for it. "
          + "\(difference.description.replacing("\n", with: " ")) The store was left as it was. Put the models that were "
          + "shipped back into the plan, and the changed ones into a new version.")
    }
  }

  /// A custom stage may have converted anything.
  private func makeBackup(
    _ source: MigrationSource, _ stages: [StoreMigration.Stage], _ report: MigrationReporter
  ) throws -> URL? {
    guard stages.contains(where: { $0.isCustom || $0.difference.losesData }) else { return nil }
    return try StoreBackup(file: file).make(check: { try checkNotMoved(source) }) {
      try report(.copying, $0, of: $1)
    }
  }

  // MARK: - Replacing the store's content

  /// Replaces the store's content by the copy's; false if another process has written in the meantime.
  private func replace(_ source: MigrationSource, _ report: MigrationReporter) throws -> Bool {
    try report(.replacing)
    // Before an empty store is made at the path.
    try checkNotMoved(source)
    let target = try file.open(writable: true)
    try target.execute("PRAGMA synchronous = FULL")
    let blobs = BlobLinks(source: copy.file.blobDirectory, target: file.blobDirectory)
    let before = BlobLinks.names(in: file.blobDirectory)
    // Files that no row names are harmless; rows that name a missing file would not be.
    try blobs.add()
    let backup = try copy.file.open(writable: false).backup(into: target)
    source.unlock()
    try backup.lock()
    do {
      guard try source.isUnchanged() else { return false }
      try backup.run {
        try report(.replacing, $0, of: $1)
        try checkNotMoved(source)
      }
    } catch {
      // The lock is still held; without it, another process could be about to name an equal value. The directory at the path of a
      // store that was moved is not its own.
      if !source.connection.hasMoved { try? blobs.removeAdded(since: before) }
      throw error
    }
    removeUnusedFiles(target)
    // So that a copy of the file alone is the migrated store.
    _ = try? target.checkpoint(.full, patience: LogMark.readerPatience)
    return true
  }

  /// Throws when the store that was copied isn't at its path any more: its content would replace another store's.
  private func checkNotMoved(_ source: MigrationSource) throws {
    if source.connection.hasMoved { throw file.displacement }
  }

  /// Removes the files of large values that no row refers to after the migration.
  ///
  /// With the lock, since another process may open the store and name an equal value. What fails is only reported: the
  /// store is migrated, and the files take up space alone.
  private func removeUnusedFiles(_ connection: StoreConnection) {
    do {
      try connection.beginImmediate()
      defer { try? connection.execute("ROLLBACK") }
      let layout = try StoreLayout(schema: schema)
      let references = ExternalReferences(layout, entities: Set(layout.entities.indices))
      let used = try references.readAll(connection)
      // The directory at the path is another store's if this one was moved after its commit.
      if connection.hasMoved { return }
      try BlobFiles(directory: file.blobDirectory).sweep(keeping: used, keepsHeld: true)
    } catch {
      Report.problem(
        .externalFileFailed, subject: configuration.url.lastPathComponent,
        message:
          "Files that no row needs after the migration were not removed. They only take up space; compact() removes them.",
        cause: error)
    }
  }

  /// Removes the leftovers of a process that was killed right after the copy's content replaced the store's.
  private func removeLeftovers() throws {
    let backup = StoreBackup(file: file)
    guard copy.hasFiles || backup.draft.hasFiles else { return }
    // With the lock held, no other migration is running.
    let source = try MigrationSource(file)
    defer { source.unlock() }
    removeCopy()
    try backup.draft.remove()
  }

  private func removeCopy() {
    do {
      try copy.remove()
    } catch {
      Report.problem(
        "The copy that a migration worked on, \(copy.file.configuration.url.path), was not removed. It only takes up "
          + "space: \(error)")
    }
  }
}

extension MigrationStage {
  var from: any VersionedSchema.Type {
    switch self {
    case .lightweight(let from, _), .custom(let from, _, _, _): from
    }
  }

  var to: any VersionedSchema.Type {
    switch self {
    case .lightweight(_, let to), .custom(_, let to, _, _): to
    }
  }

  /// Whether closures of the app run in it. A custom stage without one does what a lightweight one does.
  var isCustom: Bool {
    if case .custom(_, _, let willMigrate, let didMigrate) = self {
      willMigrate != nil || didMigrate != nil
    } else {
      false
    }
  }
}

// MARK: - The store during a migration

/// A store while its copy is migrated: no other connection may write to it.
final class MigrationSource {
  /// A connection that holds the write lock.
  let connection: StoreConnection
  /// Detects whether other connections have written, which only a separate connection can ask SQLite.
  private let watch: StoreConnection
  private let version: Int64?

  /// Waits for the write lock as a save does.
  init(_ file: StoreFile) throws {
    let hasLog = file.hasLog
    connection = try file.open(writable: true)
    // The last connection to close would checkpoint the log into the file, which must stay as it is.
    if hasLog { connection.keepLog() }
    watch = try file.open(writable: false)
    try connection.beginImmediate()
    version = try watch.integer("PRAGMA data_version")
  }

  /// Lets other connections write.
  func unlock() {
    if connection.isInTransaction { try? connection.execute("ROLLBACK") }
  }

  func isUnchanged() throws -> Bool { try watch.integer("PRAGMA data_version") == version }
}
