/// An object that was deleted.
public protocol HistoryDelete<Model>: Sendable {
  associatedtype Model: PersistentModel
  associatedtype ChangeIdentifier: Hashable & Sendable
  associatedtype TransactionIdentifier: Hashable & Sendable

  /// The change's position in its transaction.
  var changeIdentifier: ChangeIdentifier { get }
  /// The object's former identifier.
  var changedPersistentIdentifier: PersistentIdentifier { get }
  /// The transaction.
  var transactionIdentifier: TransactionIdentifier { get }
  /// The values that the object had in its `.preserveValueOnDeletion` attributes.
  var tombstone: HistoryTombstone<Model> { get }
}

/// An object that was deleted from a store of this package.
public struct DefaultHistoryDelete<Model: PersistentModel>: HistoryDelete {
  public let changeIdentifier: Int64
  public let changedPersistentIdentifier: PersistentIdentifier
  public let transactionIdentifier: Int64
  public let tombstone: HistoryTombstone<Model>
  /// All properties' old values; nil unless the store keeps old values. The same values as in ``DefaultHistoryUpdate``.
  public let oldValues: HistoryTombstone<Model>?
  /// When the object was deleted in its context.
  let stamp: Int64
}
