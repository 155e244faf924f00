/// The changes of one save.
public struct DataStoreSaveChangesRequest<SnapshotType: DataStoreSnapshot>: Sendable {
  /// New objects, with temporary identifiers.
  public let inserted: [SnapshotType]
  /// Changed objects, each with all of its values.
  public let updated: [SnapshotType]
  /// Deleted objects, as the context last knew them.
  public let deleted: [SnapshotType]
  /// The editor that saves.
  public let editingState: EditingState
}
