import Foundation
import Synchronization

/// The identity of a model object: the same in all contexts, and after reopening the store.
///
/// ```swift
/// let id = trip.persistentModelID
/// Task.detached {
///   let context = ModelContext(container)
///   if let trip = context.model(for: id) as? Trip { … }
/// }
/// ```
///
/// It is temporary before the first save, which replaces it with a permanent one, a different value with another hash:
/// read it after the save if you keep it in a set, a dictionary or a file. A permanent identifier is never given to a new
/// object, even after deletion, or after a migration has removed the model and another one has brought it back. Comparing
/// and hashing cost a pointer and a number.
///
/// A predicate can use it: `#Predicate<Trip> { ids.contains($0.persistentModelID) }`. Its JSON is the form that
/// SwiftData writes on Apple's systems; a temporary identifier that is decoded in another process finds nothing.
public struct PersistentIdentifier: Comparable, Hashable, Identifiable, Sendable {
  /// The identity as a plain value, for `Identifiable`. Equal for equal identifiers.
  ///
  /// Two words without a reference count, so that a set of identifiers costs no retain for each
  /// element.
  public struct ID: Hashable, Sendable {
    // Interned names are never freed, so the reference needs no counting.
    unowned(unsafe) let reference: EntityReference
    let row: Int64

    /// The primary key in a store with keys of its own, for which `row` is only this process's number.
    var key: String? { reference.key(of: row) }

    /// Hashes an address and a number, whatever the length of the names.
    public func hash(into hasher: inout Hasher) {
      hasher.combine(ObjectIdentifier(reference))
      hasher.combine(row)
    }
  }

  /// The identity as a plain value.
  public let id: ID

  init(reference: EntityReference, row: Int64) { id = ID(reference: reference, row: row) }

  /// The name of the object's entity: its class's unqualified name.
  public var entityName: String { id.reference.entity }
  /// The store's identifier; nil while the identifier is temporary.
  ///
  /// Each store has one from its creation, which a copy of its file keeps.
  public var storeIdentifier: String? { id.reference.store }
  /// Whether the object had never been saved when the identifier was read.
  ///
  /// Only the context that has the object finds it by a temporary identifier, and only until the save.
  ///
  /// ```swift
  /// let trip = Trip(name: "Oslo")
  /// context.insert(trip)
  /// trip.persistentModelID.isTemporary    // true
  /// try context.save()
  /// trip.persistentModelID.isTemporary    // false
  /// ```
  public var isTemporary: Bool { id.reference.store == nil }

  var row: Int64 { id.row }

  /// Makes the identifier of an object in a store with its own primary keys.
  ///
  /// For the `save(_:)` and `fetch(_:)` of a ``DataStore`` of your own:
  ///
  /// ```swift
  /// try PersistentIdentifier.identifier(for: identifier, entityName: "Trip", primaryKey: UUID().uuidString)
  /// ```
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
      // A positive integer below 2^62 is the row number itself, which needs no entry in the table
      // of keys. The numbers from there on stand for keys of other kinds.
      return PersistentIdentifier(reference: reference, row: row)
    }
    return PersistentIdentifier(
      reference: reference, row: reference.row(of: primaryKey.description))
  }

  /// Orders by store, then entity, then primary key: in a store of this library by the order of the first saves.
  public static func < (left: PersistentIdentifier, right: PersistentIdentifier) -> Bool {
    let (one, other) = (left.id, right.id)
    // Interned: different references mean different names, so the strings decide only between
    // stores or entities.
    if one.reference !== other.reference {
      return (one.reference.store ?? "", one.reference.entity)
        < (other.reference.store ?? "", other.reference.entity)
    }
    // The row numbers of such keys are allocated in the order of their first use in this process,
    // which is no order to sort by.
    if let key = one.key, let otherKey = other.key { return key < otherKey }
    return one.row < other.row
  }
}

extension PersistentIdentifier: CustomStringConvertible {
  /// A URL-like string: `x-stead://store/Entity/p12`, or `x-stead:///Entity/t3` while temporary. For logs: it cannot be
  /// turned back into an identifier, which is `Codable`.
  public var description: String {
    "x-stead://\(storeIdentifier ?? "")/\(entityName)/\(primaryKey)"
  }
}

// MARK: - Coding

// The form that SwiftData on Apple's systems writes:
//
// | key                    | meaning                                                          |
// | ---------------------- | ---------------------------------------------------------------- |
// | `implementation`       | a dictionary of the rest                                         |
// | `primaryKey`           | `p12`; `t3` of an object that was never saved                    |
// | `entityName`           | the entity                                                       |
// | `storeIdentifier`      | the store; absent while temporary                                |
// | `isTemporary`          | whether the object was never saved                               |
// | `uriRepresentation`    | `x-coredata://` with store, entity and primary key               |
// | `key`                  | ours: the primary key of a store with keys of its own, unchanged |
//
// An earlier form of ours, still read, has `store`, `entity`, `row` and `key` at the top.
extension PersistentIdentifier: Codable {
  private enum CodingKeys: CodingKey { case implementation, store, entity, row, key }

  private enum ImplementationKeys: CodingKey {
    case primaryKey, entityName, storeIdentifier, isTemporary, uriRepresentation, key
  }

  /// Decodes the form that SwiftData writes, and an earlier one of this library.
  ///
  /// The store need not be open. An identifier of a store that the program never opens finds
  /// nothing.
  ///
  /// - Throws: `DecodingError` if the entity, or the store of a permanent identifier, is missing.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    // The earlier form. Files that were written with it must stay readable.
    guard container.contains(.implementation) else {
      let entity = try container.decode(String.self, forKey: .entity)
      let store = try container.decodeIfPresent(String.self, forKey: .store)
      let reference =
        store.map { EntityReference.permanent(entity, store: $0) } ?? .temporary(entity)
      let key = try container.decodeIfPresent(String.self, forKey: .key)
      self.init(
        reference: reference,
        row: try key.map(reference.row) ?? container.decode(Int64.self, forKey: .row))
      return
    }
    let parts = try container.nestedContainer(
      keyedBy: ImplementationKeys.self, forKey: .implementation)
    let entity = try parts.decode(String.self, forKey: .entityName)
    let isTemporary = try parts.decodeIfPresent(Bool.self, forKey: .isTemporary) ?? false
    let store = isTemporary ? nil : try parts.decode(String.self, forKey: .storeIdentifier)
    let reference = store.map { EntityReference.permanent(entity, store: $0) } ?? .temporary(entity)
    if let key = try parts.decodeIfPresent(String.self, forKey: .key) {
      self.init(reference: reference, row: reference.row(of: key))
      return
    }
    let primaryKey = try parts.decode(String.self, forKey: .primaryKey)
    if let row = Self.row(primaryKey, prefix: isTemporary ? "t" : "p") {
      // A temporary row is negative in memory, and `t3` is its form in JSON.
      self.init(reference: reference, row: isTemporary ? -row : row)
      // Neither `p12` nor `t3`: a custom store's key as SwiftData encodes it, which becomes a row
      // number of this process.
    } else {
      self.init(reference: reference, row: reference.row(of: primaryKey))
    }
  }

  /// Encodes the form that SwiftData writes on Apple's systems.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    var parts = container.nestedContainer(
      keyedBy: ImplementationKeys.self, forKey: .implementation)
    try parts.encode(entityName, forKey: .entityName)
    try parts.encodeIfPresent(storeIdentifier, forKey: .storeIdentifier)
    try parts.encode(isTemporary, forKey: .isTemporary)
    try parts.encode(primaryKey, forKey: .primaryKey)
    try parts.encode(
      "x-coredata://\(storeIdentifier ?? "")/\(entityName)/\(primaryKey)",
      forKey: .uriRepresentation)
    // Separate from `primaryKey`, since a custom store's key may itself look like `p12`, and would
    // be decoded as a row.
    try parts.encodeIfPresent(id.key, forKey: .key)
  }

  /// The primary key as Apple's systems write it.
  var primaryKey: String { id.key ?? (id.row < 0 ? "t\(-id.row)" : "p\(id.row)") }

  /// Parses `p12` or `t3`; nil for a key of any other form, such as a custom store's.
  private static func row(_ primaryKey: String, prefix: Character) -> Int64? {
    guard primaryKey.first == prefix, let row = Int64(primaryKey.dropFirst()), row > 0 else {
      return nil
    }
    return row
  }
}

// MARK: - Temporary rows

/// Row numbers of objects that were never saved: negative, and never reused in a process.
enum TemporaryRowID {
  // One counter for all contexts: temporary identifiers have no store, so their numbers alone tell
  // them apart.
  private static let last = Atomic<Int64>(0)

  /// The next number below all earlier ones. Safe to call on any thread.
  static func next() -> Int64 {
    last.subtract(1, ordering: .relaxed).newValue
  }
}
