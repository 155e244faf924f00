import Foundation

/// Takes a store through the stages of a migration plan, from the version that wrote it to that of the app's models.
///
/// The stages run on a copy, while the store's write lock is held. When all of them have succeeded, the copy's pages
/// replace the store's in one transaction. Whoever has the store open, or opens it after a failure or a kill, sees
/// the old content or the new, never a part of each.
///
/// Steps of an attempt: lock the store, copy it, run the stages on the copy, make a backup if data may be lost,
/// replace the pages, remove files that no row needs. Everything before the replacement can be repeated or given up.
struct PlanMigration {
  /// The number of attempts. An attempt is repeated if another process has written between the end of the stages and
  /// the lock for the replacement.
  static let attemptLimit = 3

  let plan: any SchemaMigrationPlan.Type
  /// The models of the container.
  let schema: Schema
  let configuration: ModelConfiguration
  let report: MigrationReporter

  /// The file of the store that is migrated.
  private var file: StoreFile { StoreFile(configuration) }
  /// The copy that the stages work on, next to the store.
  private var copy: StoreCopy {
    StoreCopy(
      of: configuration,
      at: URL(
        filePath: configuration.url.path + StoreCopy.migrationSuffix, directoryHint: .notDirectory))
  }

  /// Runs the stages that the store still needs; nil if it needs none.
  ///
  /// - Throws: ``SwiftDataError``: `.storeLocked` if other programs wrote in each attempt; what a stage threw. The
  ///   store is then unchanged.
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

  /// The outcome of an attempt: done, or the store has changed meanwhile.
  private enum Attempt { case done(StoreMigration?), again }

  /// Runs the stages once.
  ///
  /// Invariant: until ``replace(_:_:)`` has committed, nothing in the store has changed, and the copy is removed on
  /// every path. The stages are determined again under the lock, since another process may have migrated the store
  /// since it was checked.
  private func attempt() throws -> Attempt {
    let source = try MigrationSource(file)
    defer { source.unlock() }
    let stages = try Self.stages(plan, of: source.connection, to: schema)
    // Another process has migrated the store since it was checked.
    guard !stages.isEmpty, let stored = try source.connection.storedSchema() else {
      return .done(nil)
    }
    // Registered once there may be a copy, and run on every path from here.
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
  ///
  /// - Throws: ``SwiftDataError`` `.unknownSchema` if the store has the number of a version but other models, and a
  ///   custom stage would have to run on them; `.backwardMigration` if the container asks for an earlier version with
  ///   the same models, to which no stage leads.
  static func stages(
    _ plan: any SchemaMigrationPlan.Type, of connection: StoreConnection, to schema: Schema
  ) throws -> [MigrationStage] {
    guard let stored = try connection.storedSchema() else { return [] }
    let path = try MigrationPath(plan)
    // No version of the plan: the tables follow the models without stages.
    guard let position = try path.position(of: stored, for: schema) else { return [] }
    let target = path.target(of: schema)
    switch position {
    case .version(let index):
      let stages = try path.stages(from: index, to: target)
      if stages.isEmpty {
        try path.checkDirection(from: stored, at: index, to: target, of: schema)
      }
      return stages
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

  /// Backs the store up if data may be lost: a stage drops data, or is custom and may have converted anything. Nil if
  /// neither is so.
  private func makeBackup(
    _ source: MigrationSource, _ stages: [StoreMigration.Stage], _ report: MigrationReporter
  ) throws -> URL? {
    guard stages.contains(where: { $0.isCustom || $0.difference.losesData }) else { return nil }
    return try StoreBackup(file: file).make(check: { try checkNotMoved(source) }) {
      try report(.copying, $0, of: $1)
    }
  }

  // MARK: - Replacing the store's content

  /// Replaces the store's content by the copy's; false if another process has written since the store was copied.
  ///
  /// Files of large values are linked before the pages are replaced: a file that no row names is harmless, a row that
  /// names a missing file is not. The write lock moves from the source's connection to the one that replaces the
  /// pages, which is not one step; so whether the store is unchanged is asked again with the second lock.
  private func replace(_ source: MigrationSource, _ report: MigrationReporter) throws -> Bool {
    try report(.replacing)
    // Before an empty store is made at the path.
    try checkNotMoved(source)
    let target = try file.open(writable: true)
    // The replaced pages must survive a power cut once the copy is removed.
    try target.execute("PRAGMA synchronous = FULL")
    let blobs = BlobLinks(source: copy.file.blobDirectory, target: file.blobDirectory)
    // So that a failure removes only the files that this attempt has added.
    let before = BlobLinks.names(in: file.blobDirectory)
    // Files that no row names are harmless; rows that name a missing file would not be.
    try blobs.add()
    let backup = try copy.file.open(writable: false).backup(into: target)
    source.unlock()
    try backup.lock()
    do {
      // A commit in the gap between the two locks would be overwritten by the copy. The attempt is
      // repeated instead.
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
    _ = try? target.checkpoint(.full, busyTimeout: LogMark.readerTimeout)
    return true
  }

  /// Throws if the store that was copied is no longer the one at its path: its content would replace another store's.
  private func checkNotMoved(_ source: MigrationSource) throws {
    if source.connection.hasMoved { throw file.displacement }
  }

  /// Removes the files of large values that no row refers to after the migration.
  ///
  /// Under the write lock, since another process may open the store and name an equal value. A failure is reported
  /// alone: the store is migrated, and the files only take up space.
  private func removeUnusedFiles(_ connection: StoreConnection) {
    do {
      // The transaction is there for its lock, and writes nothing.
      let locks = !connection.isInTransaction
      if locks { try connection.beginImmediate() }
      defer { if locks { try? connection.execute("ROLLBACK") } }
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

  /// Removes what a process left that was killed right after the replacement: files of large values that no row needs any
  /// more, the copy, and the draft of a backup.
  private func removeLeftovers() throws {
    let backup = StoreBackup(file: file)
    guard copy.hasFiles || backup.draft.hasFiles else { return }
    // With the lock held, no other migration is running.
    let source = try MigrationSource(file)
    defer { source.unlock() }
    // Before the copy, by which the next one would know that they are there.
    removeUnusedFiles(source.connection)
    removeCopy()
    try backup.draft.remove()
  }

  /// Removes the copy; a failure is reported.
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

// MARK: - Stages

extension MigrationStage {
  /// The version that the stage starts from.
  var from: any VersionedSchema.Type {
    switch self {
    case .lightweight(let from, _), .custom(let from, _, _, _): from
    }
  }

  /// The version that the stage leads to.
  var to: any VersionedSchema.Type {
    switch self {
    case .lightweight(_, let to), .custom(_, let to, _, _): to
    }
  }

  /// Whether closures of the app run in it. A custom stage without closures does what a lightweight one does.
  var isCustom: Bool {
    if case .custom(_, _, let willMigrate, let didMigrate) = self {
      willMigrate != nil || didMigrate != nil
    } else {
      false
    }
  }
}

// MARK: - The store during a migration

/// The store while its copy is migrated: its write lock is held, so no other connection can write.
final class MigrationSource {
  /// The connection that holds the write lock.
  let connection: StoreConnection
  /// A second connection. SQLite's `data_version` tells a connection whether *others* have written, so the one that
  /// holds the lock cannot be asked.
  private let watch: StoreConnection
  /// The value of `data_version` when the lock was taken.
  private let version: Int64?

  /// Takes the write lock, waiting for it as a save does.
  init(_ file: StoreFile) throws {
    let hasLog = file.hasLog
    connection = try file.open(writable: true)
    // The last connection to close would checkpoint the log into the file, which must stay as it is.
    if hasLog { connection.keepLog() }
    watch = try file.open(writable: false)
    try connection.beginImmediate()
    // Read under the lock, so no commit can come between the two.
    version = try watch.integer("PRAGMA data_version")
  }

  /// Releases the write lock.
  func unlock() {
    // Nothing was written. It may be called twice: by the replacement, and at the end of the
    // attempt.
    if connection.isInTransaction { try? connection.execute("ROLLBACK") }
  }

  /// Whether no other connection has committed since the lock was taken.
  func isUnchanged() throws -> Bool { try watch.integer("PRAGMA data_version") == version }
}
