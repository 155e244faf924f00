import Foundation
import SteadFiles

/// Takes a store through the stages of a migration plan, from the version that wrote it to the newest.
///
/// The store is copied first, and put back when a stage fails. No other process may have it open.
struct PlanMigration {
  let plan: any SchemaMigrationPlan.Type
  let configuration: ModelConfiguration

  /// Runs the stages that the store still needs.
  func run() throws {
    guard !configuration.isStoredInMemoryOnly, configuration.allowsSave,
      let stored = try storedSchema()
    else { return }
    let stages = try pendingStages(from: stored)
    guard !stages.isEmpty else { return }
    let backup = try makeBackup()
    do {
      for stage in stages { try run(stage) }
    } catch {
      try restore(backup)
      throw SwiftDataError(
        .loadIssueModelContainer,
        "A migration stage failed; the store was put back as it was.", cause: error)
    }
    try backup.remove()
  }

  private func storedSchema() throws -> Schema? {
    let file = StoreFile(configuration)
    guard FileManager.default.fileExists(atPath: configuration.url.path) else { return nil }
    try file.check()
    let connection = try file.open(writable: false)
    guard try connection.integer("PRAGMA application_id") == StoreFile.applicationID else {
      return nil
    }
    let rows = try connection.rows("SELECT value FROM stead_metadata WHERE key = 'schema'")
    guard case .text(let text)? = rows.first?.first else { return nil }
    return try JSONDecoder().decode(Schema.self, from: Data(text.utf8))
  }

  /// The stages from the version that the store has.
  private func pendingStages(from stored: Schema) throws -> [MigrationStage] {
    let path = try MigrationPath(plan)
    switch try path.place(of: stored) {
    case .version(let index): return try path.stages(from: index)
    case .likeVersion(let index, let difference):
      let stages = try path.stages(from: index)
      // The tables follow by themselves; closures of the app would meet a schema that they do not know.
      guard stages.contains(where: \.isCustom) else { return stages }
      throw SwiftDataError(
        .unknownSchema,
        "The store has version \(stored.version), and its models are not those that the migration plan has for it. "
          + "\(difference.description.replacing("\n", with: " ")) The store was left as it was. Put the models that were "
          + "shipped back into the plan, and the changed ones into a version of their own.")
    }
  }

  private func run(_ stage: MigrationStage) throws {
    switch stage {
    case .lightweight(_, let to): _ = try open(to)
    case .custom(let from, let to, let willMigrate, let didMigrate):
      if let willMigrate { try willMigrate(ModelContext(open(from))) }
      let container = try open(to)
      if let didMigrate { try didMigrate(ModelContext(container)) }
    }
  }

  private func open(_ version: any VersionedSchema.Type) throws -> ModelContainer {
    var configuration = configuration
    configuration.schema = nil
    return try ModelContainer(
      for: Schema(versionedSchema: version), configurations: configuration)
  }

  // MARK: The copy

  private func makeBackup() throws -> StoreCopy {
    let file = StoreFile(configuration)
    let backup = StoreCopy(path: configuration.url.path + StoreBackup.planSuffix)
    if FileManager.default.fileExists(atPath: backup.path) {
      // Left by a migration that was killed: the copy is the store as it was.
      try restore(backup)
    }
    // Before the copy, which is whole, says that a migration has begun.
    try backup.linkFiles(of: file)
    try backup.write(from: file.open(writable: true), isReplacing: true)
    return backup
  }

  private func restore(_ backup: StoreCopy) throws {
    try backup.returnFiles(to: StoreFile(configuration))
    copyAccess(to: backup)
    for suffix in ["-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: configuration.url.path + suffix)
    }
    guard rename(backup.path, configuration.url.path) == 0 else {
      throw SwiftDataError(
        .storageFailure, "The store could not be put back; its copy is \(backup.path).")
    }
    try backup.remove()
  }
}

extension PlanMigration {
  /// Gives the copy, which was made for its owner alone, the owner and the permissions of the store.
  private func copyAccess(to backup: StoreCopy) {
    let disk = POSIXDisk()
    do {
      guard let store = try disk.statusFollowingLinks(configuration.url.path) else { return }
      try disk.withDescriptor(backup.path, O_RDONLY) { descriptor in
        let copy = try disk.status(descriptor, path: backup.path)
        if (copy.user, copy.group) != (store.user, store.group) {
          // Only the superuser may give files away; for everyone else the copy is the process's own.
          try? disk.setOwner(descriptor, user: store.user, group: store.group, path: backup.path)
        }
        try disk.setMode(descriptor, store.mode, path: backup.path)
      }
    } catch {
      // The store is put back all the same.
      Report.problem(
        "The permissions of \(configuration.url.path) were lost when it was put back: \(error)")
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

  var isCustom: Bool { if case .custom = self { true } else { false } }
}
