import Foundation
import SwiftData
import Synchronization

/// Hands all requests on to another store, and lets another program come between the check of a save and its writing.
final class ContestedStore<Inner: DataStoreVersioning>: DataStore, DataStoreVersioning
where Inner.Snapshot == DefaultSnapshot {
  struct Configuration: DataStoreConfiguration {
    typealias Store = ContestedStore<Inner>

    let inner: Inner.Configuration
    let rival: Rival
    var name: String { inner.name }
    var schema: Schema?

    init(_ inner: Inner.Configuration, _ rival: Rival) {
      self.inner = inner
      self.rival = rival
    }

    static func == (left: Self, right: Self) -> Bool { left.rival === right.rival }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(rival)) }
  }

  /// What the other program does, once for each of some saves.
  final class Rival: Sendable {
    private let moves = Mutex<[@Sendable () throws -> Void]>([])

    func add(_ move: @escaping @Sendable () throws -> Void) {
      moves.withLock { moves in moves.append(move) }
    }

    func move() throws {
      let next = moves.withLock { moves in moves.isEmpty ? nil : moves.removeFirst() }
      try next?()
    }
  }

  typealias Snapshot = DefaultSnapshot

  let configuration: Configuration
  let schema: Schema
  private let inner: Inner

  var identifier: String { inner.identifier }

  init(_ configuration: Configuration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
    self.configuration = configuration
    schema = configuration.schema ?? Schema([])
    var given = configuration.inner
    given.schema = configuration.schema
    inner = try Inner(given, migrationPlan: migrationPlan)
  }

  func fetch<T: PersistentModel>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> DataStoreFetchResult<T, DefaultSnapshot> { try inner.fetch(request) }

  func save(
    _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
  ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
    try configuration.rival.move()
    return try inner.save(request)
  }

  func version() throws -> Inner.Version { try inner.version() }

  func save(
    _ request: DataStoreSaveChangesRequest<DefaultSnapshot>, at version: Inner.Version
  ) throws -> DataStoreSaveChangesResult<DefaultSnapshot>? {
    try configuration.rival.move()
    return try inner.save(request, at: version)
  }
}
