import Synchronization

/// The comparison of a store's tables with the container's models: made when the store is opened, and again when
/// another program has changed the tables.
///
/// Columns that a migration has given each other's names are read without an error, so neither a save nor a fetch may
/// wait for SQLite to miss a column.
final class StoredModels: Sendable {
  private let layout: StoreLayout
  /// SQLite's version of the tables that were compared last; `unknown` in a store whose tables aren't compared.
  private let version = Atomic<Int64>(unknown)
  private static let unknown: Int64 = -1

  init(_ layout: StoreLayout) { self.layout = layout }

  /// Sets the version of the tables that were just compared. Until then, nothing is compared.
  func didCompare(_ version: Int64) { self.version.store(version, ordering: .releasing) }

  /// Compares the tables that a connection's transaction sees.
  ///
  /// - Parameters:
  ///   - version: SQLite's version of the tables, where it is known already.
  ///   - effect: What the error says that was not done.
  /// - Throws: `unknownSchema` if they are of other models.
  func check(_ connection: StoreConnection, version known: Int64? = nil, effect: String) throws {
    let compared = version.load(ordering: .acquiring)
    guard compared != Self.unknown else { return }
    guard let found = try known ?? connection.integer("PRAGMA schema_version"), found != compared
    else { return }
    if let stored = try connection.storedSchema() {
      // Its facts alone: a stored schema has no default values, and its migration is done.
      let difference = SchemaDifference(from: layout.schema, to: stored)
      guard difference.isEmpty else {
        throw SwiftDataError(
          .unknownSchema,
          "The store has since been opened with other models, and was migrated. "
            + "\(difference.facts) \(effect) Open a new container with the models that the store has now."
        )
      }
    }
    didCompare(found)
  }
}
