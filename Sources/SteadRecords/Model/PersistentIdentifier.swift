import Foundation

/// The identity of a model object: the same in all contexts, and after reopening the store.
///
/// It is temporary before the first save, which replaces it with a permanent one, a different value. A permanent
/// identifier is never given to another object, even after deletion.
public struct PersistentIdentifier: Comparable, Hashable, Identifiable, Sendable {
  /// The identity as a plain value.
  public struct ID: Hashable, Sendable {
    // Known names are never forgotten, so the reference needs no counting.
    unowned(unsafe) let reference: EntityReference
    let row: Int64

    /// The primary key in a store with its own keys; the row stands for it in this process.
    var key: String? { reference.key(of: row) }

    public func hash(into hasher: inout Hasher) {
      hasher.combine(ObjectIdentifier(reference))
      hasher.combine(row)
    }
  }

  public let id: ID

  init(reference: EntityReference, row: Int64) { id = ID(reference: reference, row: row) }

  /// The name of the object's entity.
  public var entityName: String { id.reference.entity }
  /// The store's identifier; nil while the identifier is temporary.
  public var storeIdentifier: String? { id.reference.store }
  /// Whether the object has never been saved.
  public var isTemporary: Bool { id.reference.store == nil }

  var row: Int64 { id.row }

  /// Makes the identifier of an object in a store with its own primary keys.
  ///
  /// Keys are compared by their descriptions. A key other than a positive integer is remembered for as long as the
  /// process runs, once for all identifiers with it. Never throws; the signature is SwiftData's.
  public static func identifier<T>(
    for storeIdentifier: String, entityName: String, primaryKey: T
  ) throws -> PersistentIdentifier
  where T: Comparable, T: CustomStringConvertible, T: Codable, T: Hashable {
    let reference = EntityReference.permanent(entityName, store: storeIdentifier)
    if let number = primaryKey as? any BinaryInteger, let row = Int64(exactly: number),
      row > 0, row < KeyNumber.first
    {
      return PersistentIdentifier(reference: reference, row: row)
    }
    return PersistentIdentifier(
      reference: reference, row: reference.row(of: primaryKey.description))
  }

  public static func < (left: PersistentIdentifier, right: PersistentIdentifier) -> Bool {
    let (one, other) = (left.id, right.id)
    if one.reference !== other.reference {
      return (one.reference.store ?? "", one.reference.entity)
        < (other.reference.store ?? "", other.reference.entity)
    }
    if let key = one.key, let otherKey = other.key { return key < otherKey }
    return one.row < other.row
  }
}

extension PersistentIdentifier: CustomStringConvertible {
  /// A URL-like string: `x-stead://store/Entity/p12`, or `x-stead:///Entity/t3` while temporary.
  public var description: String {
    "x-stead://\(storeIdentifier ?? "")/\(entityName)/\(primaryKey)"
  }
}
