/// Describes a store of any kind, so that a container can open it.
public protocol DataStoreConfiguration: Hashable {
  associatedtype Store: DataStore where Store.Configuration == Self

  /// The configuration's name, which no other of the container has.
  var name: String { get }
  /// The models that the store holds; the container sets it when it is nil.
  var schema: Schema? { get set }
  /// Throws when the store cannot be opened as described.
  func validate() throws
}

extension DataStoreConfiguration {
  public func validate() throws {}
}
