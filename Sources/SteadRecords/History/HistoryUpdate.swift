/// An object whose properties were changed.
public protocol HistoryUpdate<Model>: Sendable {
  associatedtype Model: PersistentModel
  associatedtype ChangeIdentifier: Hashable & Sendable
  associatedtype TransactionIdentifier: Hashable & Sendable
  /// A property that was changed.
  typealias PropertyUpdate = any PartialKeyPath<Model> & Sendable

  /// The change among those of its transaction.
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

/// An object of a store of this package whose properties were changed.
public struct DefaultHistoryUpdate<Model: PersistentModel>: HistoryUpdate {
  public let changeIdentifier: Int64
  public let changedPersistentIdentifier: PersistentIdentifier
  public let transactionIdentifier: Int64
  /// The properties that were changed, in the order of their declaration; those that the model no longer has are
  /// left out.
  public let updatedAttributes: [any PartialKeyPath<Model> & Sendable]
  /// What the changed properties were before; nil unless the store keeps old values.
  ///
  /// Attributes and to-one relationships, these as identifiers; nil ones are left out, and so are values of
  /// external storage and of transformers. A destination's identifier names the class that the property declares.
  public let oldValues: HistoryTombstone<Model>?
  /// When the object was first changed in its context since the save before.
  let stamp: Int64
}
