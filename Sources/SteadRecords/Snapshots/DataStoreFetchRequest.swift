/// What a context wants to know of a store.
public struct DataStoreFetchRequest<T: PersistentModel>: Sendable {
  public let descriptor: FetchDescriptor<T>
  /// Who asks.
  public let editingState: EditingState
}
