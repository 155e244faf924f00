import Foundation
import SteadTestSupport
import Synchronization
import SwiftData

/// Keeps snapshots in a dictionary, and notes what contexts ask of it.
final class DictionaryStore: DataStore {
  struct Configuration: DataStoreConfiguration {
    typealias Store = DictionaryStore

    let name: String
    var schema: Schema?
    let content: Content

    init(_ content: Content, name: String = "dictionary", schema: Schema? = nil) {
      self.content = content
      self.name = name
      self.schema = schema
    }

    static func == (left: Self, right: Self) -> Bool { left.content === right.content }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(content)) }
  }

  /// What outlives the store, as a file or a service would.
  final class Content: Sendable {
    struct State {
      var snapshots: [DefaultSnapshot] = []
      var calls: [String] = []
      /// What the store answers any predicate with; where it is nil, it leaves predicates to the context.
      var answer: (@Sendable (DefaultSnapshot) -> Bool)?
      /// Whether the store returns what it has by identifiers.
      var hasCache = false
      /// Whether the objects that others lead to come along.
      var givesRelated = false
      /// Thrown by fetches, and by saves.
      var fetchFailure: (any Error)?
      var failure: (any Error)?
      /// Whether new objects get identifiers.
      var forgetsIdentifiers = false
      /// What the store changes in what it saves.
      var reregistered: [DefaultSnapshot] = []
      var next = 1
    }

    let state = Mutex(State())

    var calls: [String] { state.withLock { $0.calls } }
    var snapshots: [DefaultSnapshot] { state.withLock { $0.snapshots } }

    func takeCalls() -> [String] {
      state.withLock { state in
        defer { state.calls = [] }
        return state.calls
      }
    }

    func note(_ call: String) { state.withLock { state in state.calls.append(call) } }
  }

  typealias Snapshot = DefaultSnapshot

  let configuration: Configuration
  let schema: Schema
  let identifier: String
  private var content: Content { configuration.content }

  init(_ configuration: Configuration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
    self.configuration = configuration
    schema = configuration.schema ?? Schema([])
    identifier = configuration.name
  }

  func fetch<T: PersistentModel>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
    let name = Schema.entityName(for: T.self)
    let kind = request.descriptor.predicate == nil ? "all" : "some"
    content.note("fetch \(kind) \(name)\(request.descriptor.sortBy.isEmpty ? "" : " sorted")")
    let state = content.state.withLock { $0 }
    if let failure = state.fetchFailure { throw failure }
    if request.descriptor.predicate != nil, state.answer == nil {
      throw DataStoreError.preferInMemoryFilter
    }
    if !request.descriptor.sortBy.isEmpty { throw DataStoreError.preferInMemorySort }
    let found = state.snapshots.filter {
      $0.persistentIdentifier.entityName == name
        && (request.descriptor.predicate == nil || state.answer?($0) == true)
    }.dropFirst(request.descriptor.fetchOffset ?? 0)
    let related = state.givesRelated ? state.snapshots : []
    return DataStoreFetchResult(
      descriptor: request.descriptor,
      fetchedSnapshots: Array(request.descriptor.fetchLimit.map { found.prefix($0) } ?? found),
      relatedSnapshots: Dictionary(
        uniqueKeysWithValues: related.map { ($0.persistentIdentifier, $0) }))
  }

  func save(
    _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
  ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
    content.note(
      "save \(request.inserted.count) \(request.updated.count) \(request.deleted.count)"
        + (request.editingState.author.map { " by \($0)" } ?? ""))
    return try content.state.withLock { state in
      if let failure = state.failure { throw failure }
      var new: [PersistentIdentifier: PersistentIdentifier] = [:]
      for snapshot in request.inserted {
        let identifier = snapshot.persistentIdentifier
        new[identifier] = try .identifier(
          for: self.identifier, entityName: identifier.entityName, primaryKey: "key\(state.next)")
        state.next += 1
      }
      let deleted = Set(request.deleted.map(\.persistentIdentifier))
      state.snapshots.removeAll { deleted.contains($0.persistentIdentifier) }
      for snapshot in request.inserted + request.updated {
        let old = snapshot.persistentIdentifier
        let copy = snapshot.copy(
          persistentIdentifier: new[old] ?? old, remappedIdentifiers: new)
        let place = state.snapshots.firstIndex { $0.persistentIdentifier == old }
        if let place { state.snapshots[place] = copy } else { state.snapshots.append(copy) }
      }
      let changed = state.reregistered
      for snapshot in changed {
        state.snapshots.removeAll { $0.persistentIdentifier == snapshot.persistentIdentifier }
        state.snapshots.append(snapshot)
      }
      return DataStoreSaveChangesResult(
        for: identifier, remappedIdentifiers: state.forgetsIdentifiers ? [:] : new,
        snapshotsToReregister: Dictionary(
          uniqueKeysWithValues: changed.map { ($0.persistentIdentifier, $0) }))
    }
  }

  func cachedSnapshots(
    for persistentIdentifiers: [PersistentIdentifier], editingState: EditingState
  ) throws -> [PersistentIdentifier: DefaultSnapshot] {
    let state = content.state.withLock { $0 }
    guard state.hasCache else { return [:] }
    content.note("cached \(persistentIdentifiers.count)")
    let found = state.snapshots.filter { persistentIdentifiers.contains($0.persistentIdentifier) }
    return Dictionary(uniqueKeysWithValues: found.map { ($0.persistentIdentifier, $0) })
  }

  func initializeState(for editingState: EditingState) { content.note("initialize") }
  func invalidateState(for editingState: EditingState) { content.note("invalidate") }

  func erase() throws { content.state.withLock { $0.snapshots = [] } }
}
