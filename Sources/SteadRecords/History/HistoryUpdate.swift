/// An object whose properties were changed.
public protocol HistoryUpdate<Model>: Sendable {
  associatedtype Model: PersistentModel
  associatedtype ChangeIdentifier: Hashable & Sendable
  associatedtype TransactionIdentifier: Hashable & Sendable
  /// A property that was changed.
  typealias PropertyUpdate = any PartialKeyPath<Model> & Sendable

  /// The change's position in its transaction.
  var changeIdentifier: ChangeIdentifier { get }
  /// The object.
  var changedPersistentIdentifier: PersistentIdentifier { get }
  /// The transaction.
  var transactionIdentifier: TransactionIdentifier { get }
  /// The properties that were changed, relationships among them.
  var updatedAttributes: [PropertyUpdate] { get }
}

extension HistoryUpdate {
  /// Whether a property was changed.
  public func containsAttribute(_ keyPath: PartialKeyPath<Model>) -> Bool {
    updatedAttributes.contains { ($0 as PartialKeyPath<Model>) == keyPath }
  }
}
