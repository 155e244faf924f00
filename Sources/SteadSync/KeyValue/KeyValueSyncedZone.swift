import Foundation
internal import SteadSyncProtocol

/// A key-value store as a zone of an engine.
final class KeyValueSyncedZone: SyncedZone {
  let id: ZoneID
  private let store: SyncedKeyValueStore
  private let file: KeyValueZoneFile

  init?(_ id: ZoneID, _ store: SyncedKeyValueStore) {
    guard let file = store.zone else { return nil }
    self.id = id
    self.store = store
    self.file = file
  }

  func turn<Result>(
    _ body: (inout ClientZone<StoredRecords>) throws -> Result
  ) throws -> Result {
    let (result, change) = try file.turn(body)
    if !change.keys.isEmpty {
      store.notify(
        change.isFirst
          ? SyncedKeyValueStore.initialSyncChange : SyncedKeyValueStore.serverChange, change.keys)
    }
    return result
  }

  func peek<Result>(_ body: (ClientZone<StoredRecords>) throws -> Result) throws -> Result {
    try file.peek(body)
  }

  func hasNews() throws -> Bool { try counts().pending > 0 }

  func cursor() throws -> Cursor? {
    try peek { $0.state.anchor == nil ? nil : $0.state.cursor }
  }

  func counts() throws -> (pending: Int, quarantined: Int, unshown: Int) {
    try file.read { database in
      func count(_ table: String) throws -> Int {
        Int(try database.integer("SELECT count(*) FROM stead_sync_\(table)") ?? 0)
      }
      return (try count("outbox"), try count("quarantine"), 0)
    }
  }

  func conflicts() throws -> [SyncConflict] {
    try file.read { try ConflictTable(database: $0).all() }
  }

  func clearConflicts() throws { try file.read { try ConflictTable(database: $0).clear() } }

  func forget(_ conflict: SyncConflict) throws {
    try file.read { try ConflictTable(database: $0).forget(conflict) }
  }

  func watch(_ body: @escaping @Sendable () -> Void) -> any AnyObject & Sendable {
    file.watch(body)
  }

  // Values of keys are never blobs.

  func bytes(of blob: BlobID) throws -> Data? { nil }
  func missingBlobs(of records: [Record]) throws -> [BlobID] { [] }
  func keep(_ blob: BlobID, _ bytes: Data) throws {}
}
