/// A store's answer to a fetch.
public struct DataStoreFetchResult<ModelType: PersistentModel, SnapshotType: DataStoreSnapshot> {
  public let descriptor: FetchDescriptor<ModelType>
  /// The objects that match, in the descriptor's order.
  public let fetchedSnapshots: [SnapshotType]
  /// Objects that those refer to, if the store has them at hand; any others are fetched.
  public let relatedSnapshots: [PersistentIdentifier: SnapshotType]

  public init(
    descriptor: FetchDescriptor<ModelType>, fetchedSnapshots: [SnapshotType],
    relatedSnapshots: [PersistentIdentifier: SnapshotType] = [:]
  ) {
    self.descriptor = descriptor
    self.fetchedSnapshots = fetchedSnapshots
    self.relatedSnapshots = relatedSnapshots
  }
}

extension DataStoreFetchResult: Sendable {}
