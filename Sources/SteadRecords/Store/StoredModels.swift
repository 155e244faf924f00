import Synchronization

/// The comparison of a store's tables with the container's models: made when the store is opened, and again when
/// another program has changed the tables. Only in stores that may be written: one that only reads was opened with
/// whatever its tables are.
final class StoredModels: Sendable {
  /// The container's models.
  private let layout: StoreLayout
  /// SQLite's schema version of the tables that were compared last, by saves and by fetches, which
  /// accept more.
  private let written = Atomic<Int64>(unknown)
  private let read = Atomic<Int64>(unknown)
  /// Before the store was opened, nothing is compared.
  private static let unknown: Int64 = -1

  init(_ layout: StoreLayout) { self.layout = layout }

  /// Sets the version of the tables that the store was opened with.
  func didOpen(_ version: Int64) {
    written.store(version, ordering: .releasing)
    read.store(version, ordering: .releasing)
  }

  /// Compares the tables that a connection's transaction is about to write with the models.
  ///
  /// Costs an atomic load while the version is the same, and otherwise decoding and comparing the
  /// recorded schema.
  ///
  /// - Parameter version: SQLite's version of the tables.
  /// - Throws: `unknownSchema` if they are not those of the models.
  func checkWriting(_ connection: StoreConnection, version: Int64) throws {
    guard isNew(version, written) else { return }
    if let stored = try connection.storedSchema() {
      // Its facts alone: a stored schema has no default values, and its migration is done.
      let difference = SchemaDifference(from: layout.schema, to: stored)
      guard difference.isEmpty else { throw refusal(difference, "Nothing was saved.") }
    }
    // Only after a success: each later save must be refused, too.
    written.store(version, ordering: .releasing)
  }

  /// Compares the tables that a connection's snapshot reads.
  ///
  /// SQLite misses a table or a column that is gone, and what was added is not read. But a name may have been given to
  /// another class or property, as when two swap theirs.
  ///
  /// - Throws: `unknownSchema` if a name of the models means something else in the store.
  func checkReading(_ connection: StoreConnection) throws {
    guard let version = try connection.integer("PRAGMA schema_version"), isNew(version, read) else {
      return
    }
    if let stored = try connection.storedSchema() {
      let match = SchemaMatch(from: layout.schema, to: stored)
      if match.givesNamesAway { throw refusal(SchemaDifference(match), "Nothing was read.") }
    }
    read.store(version, ordering: .releasing)
  }

  /// Whether a version was not compared yet. Always false before the store is open.
  private func isNew(_ version: Int64, _ compared: borrowing Atomic<Int64>) -> Bool {
    let known = compared.load(ordering: .acquiring)
    return known != Self.unknown && known != version
  }

  /// The error of models that the store no longer has.
  private func refusal(_ difference: SchemaDifference, _ effect: String) -> SwiftDataError {
    SwiftDataError(
      .unknownSchema,
      "The store has since been opened with other models, and was migrated. "
        + "\(difference.facts) \(effect) Open a new container with the models that the store has now."
    )
  }
}

extension SchemaMatch {
  /// Whether a name of the old schema means another class or property in the new one.
  fileprivate var givesNamesAway: Bool {
    new.entities.contains { entity in
      guard let old = old.entitiesByName[entity.name] else { return false }
      // Both schemas have a class of this name, but the new one had another name before.
      guard oldEntities[entity.name]?.name == old.name else { return true }
      let names = Set(old.storedProperties.map(\.name))
      return entity.storedProperties.contains { property in
        names.contains(property.name)
          && oldProperty(property.name, of: entity.name)?.name != property.name
      }
    }
  }
}
