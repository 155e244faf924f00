/// One object's part in a transaction.
///
/// ```swift
/// for case .update(let update as DefaultHistoryUpdate<Trip>) in transaction.changes {
///   print(update.changedPersistentIdentifier, update.updatedAttributes)
/// }
/// ```
///
/// An object has at most one update in a transaction, whatever wrote it. Cast a change to the type of its model:
/// ``DefaultHistoryInsert``, ``DefaultHistoryUpdate``, ``DefaultHistoryDelete``. An object of a subclass has changes of
/// the subclass, which do not cast to those of the superclass.
///
/// A change names what was changed, and not the new values: those of the object are in the store,
/// perhaps changed again since.
public enum HistoryChange: Sendable {
  /// An object was inserted.
  case insert(any HistoryInsert)
  /// Properties of an object were changed.
  case update(any HistoryUpdate)
  /// An object was deleted.
  case delete(any HistoryDelete)

  /// The object that was changed. It may have been deleted since: look it up with a fetch, or check its `modelContext`.
  ///
  /// ```swift
  /// let changed = Set(transactions.flatMap(\.changes).map(\.changedPersistentIdentifier))
  /// ```
  public var changedPersistentIdentifier: PersistentIdentifier {
    switch self {
    case .insert(let change): change.changedPersistentIdentifier
    case .update(let change): change.changedPersistentIdentifier
    case .delete(let change): change.changedPersistentIdentifier
    }
  }
}

// MARK: - Inserts

/// An object that was inserted.
///
/// Cast it to ``DefaultHistoryInsert`` of the model that you look for. A custom store with a history has types of its
/// own.
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

/// An insert of an object into a store of this package.
///
/// It has no values: fetch the object by its identifier. An insertion that updated the row with its unique values is an
/// update.
///
/// ```swift
/// for case .insert(let insert as DefaultHistoryInsert<Trip>) in transaction.changes {
///   print(insert.changedPersistentIdentifier)
/// }
/// ```
public struct DefaultHistoryInsert<Model: PersistentModel>: HistoryInsert {
  /// The change's position in its transaction, from 0.
  public let changeIdentifier: Int64
  /// The object.
  public let changedPersistentIdentifier: PersistentIdentifier
  /// The number of the transaction in its store.
  public let transactionIdentifier: Int64
  /// When the object was inserted into its context.
  let stamp: Int64
}

// MARK: - Updates

/// An object whose properties were changed. All changes of one transaction to an object are one update.
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
  /// Whether a property was changed. Costs a comparison with each changed property.
  ///
  /// ```swift
  /// if update.containsAttribute(\.name) { reindex(update.changedPersistentIdentifier) }
  /// ```
  public func containsAttribute(_ keyPath: PartialKeyPath<Model>) -> Bool {
    updatedAttributes.contains { ($0 as PartialKeyPath<Model>) == keyPath }
  }
}

/// An update of an object of a store of this package.
///
/// ```swift
/// if update.containsAttribute(\.name), let old = update.oldValue(of: \.name) as? String {
///   print("was \(old)")
/// }
/// ```
public struct DefaultHistoryUpdate<Model: PersistentModel>: HistoryUpdate {
  /// The change's position in its transaction.
  public let changeIdentifier: Int64
  /// The object.
  public let changedPersistentIdentifier: PersistentIdentifier
  /// The number of the transaction in its store.
  public let transactionIdentifier: Int64
  /// The properties that were changed, in order of declaration, without those that the model no longer has.
  public let updatedAttributes: [any PartialKeyPath<Model> & Sendable]
  /// The changed properties' old values; nil unless the store keeps old values.
  ///
  /// Attributes, and to-one relationships as identifiers. Nil values are left out, and so are values of external
  /// storage and of transformers. A destination's identifier names the class that the property declares.
  public let oldValues: HistoryTombstone<Model>?
  /// When the object was first changed in its context since the save before.
  let stamp: Int64
}

extension DefaultHistoryUpdate {
  /// The old value of a changed property; nil if it was nil, was not changed, or no old values are kept.
  public func oldValue(of keyPath: PartialKeyPath<Model>) -> (any Sendable)? { oldValues?[keyPath] }
}

// MARK: - Deletes

/// An object that was deleted, by `delete(_:)`, by a predicate, or by a cascade.
///
/// Cast it to ``DefaultHistoryDelete`` of the model that you look for.
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

/// A deletion of an object from a store of this package.
public struct DefaultHistoryDelete<Model: PersistentModel>: HistoryDelete {
  /// The change's position in its transaction.
  public let changeIdentifier: Int64
  /// The identifier that the object had. No other object gets it.
  public let changedPersistentIdentifier: PersistentIdentifier
  /// The number of the transaction in its store.
  public let transactionIdentifier: Int64
  /// The values that the object had in its `.preserveValueOnDeletion` attributes; empty without such attributes.
  public let tombstone: HistoryTombstone<Model>
  /// All properties' old values; nil unless the store keeps old values. The same values as in ``DefaultHistoryUpdate``.
  public let oldValues: HistoryTombstone<Model>?
  /// When the object was deleted in its context.
  let stamp: Int64
}

/// What the history preserves of a deleted object: the values of its `.preserveValueOnDeletion` attributes.
///
/// ```swift
/// if let deletion = deletion as? DefaultHistoryDelete<Trip>, let name = deletion.tombstone[\.name] as? String {
///   print("\(name) was deleted")
/// }
/// ```
public struct HistoryTombstone<Model: PersistentModel>: Sequence, Sendable {
  // Sendable: key paths of models hold no captured values, and the values are Sendable.
  private let values: [(keyPath: any PartialKeyPath<Model> & Sendable, value: any Sendable)]

  init(_ values: [(keyPath: any PartialKeyPath<Model> & Sendable, value: any Sendable)]) {
    self.values = values
  }

  /// These values and another tombstone's.
  func joined(with other: Self) -> Self { Self(values + other.values) }

  /// The value that an attribute had; nil if it was nil, was not preserved, or the property now has a type that does
  /// not read it.
  ///
  /// Cast the result to the property's type. Costs a comparison with each value.
  public subscript(_ keyPath: PartialKeyPath<Model>) -> (any Sendable)? {
    values.first { ($0.keyPath as PartialKeyPath<Model>) == keyPath }?.value
  }

  /// The preserved values, in order of the attributes' declaration, without nil ones.
  ///
  /// The iterator has values alone. To know whose they are, use the subscript.
  public func makeIterator() -> AnyIterator<Any> {
    var rest = values[...]
    return AnyIterator { rest.popFirst()?.value }
  }
}
