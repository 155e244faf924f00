/// A context's request for objects of a store.
public struct DataStoreFetchRequest<T: PersistentModel>: Sendable {
  public let descriptor: FetchDescriptor<T>
  /// The editor that asks.
  public let editingState: EditingState
}
