/// An object that was inserted.
public protocol HistoryInsert<Model>: Sendable {
  associatedtype Model: PersistentModel
  associatedtype ChangeIdentifier: Hashable & Sendable
  associatedtype TransactionIdentifier: Hashable & Sendable

  /// The change's position in its transaction.
  var changeIdentifier: ChangeIdentifier { get }
  /// The object.
  var changedPersistentIdentifier: PersistentIdentifier { get }
  /// The transaction.
  var transactionIdentifier: TransactionIdentifier { get }
}

/// An object that was inserted into a store of this package.
public struct DefaultHistoryInsert<Model: PersistentModel>: HistoryInsert {
  public let changeIdentifier: Int64
  public let changedPersistentIdentifier: PersistentIdentifier
  public let transactionIdentifier: Int64
  /// When the object was inserted into its context.
  let stamp: Int64
}
