import Synchronization

/// The names of a store and an entity, interned: one object for each pair, so that identifiers compare by address.
///
/// Objects are never freed, which lets identifiers hold them without reference counting. There are as many as there are
/// entities in the stores that the process has opened or decoded identifiers of.
final class EntityReference: Hashable, Sendable {
  /// The store's identifier; nil for objects that were never saved.
  let store: String?
  /// The entity's name.
  let entity: String

  /// The key of an interned object.
  private struct Names: Hashable {
    let store: String?
    let entity: String
  }

  /// All objects by their names. Entries stay until the process ends.
  private static let interned = Mutex<[Names: EntityReference]>([:])

  // MARK: Primary keys of other kinds

  /// Both directions between primary keys and row numbers. Entries stay: an identifier that the program keeps must
  /// not change its meaning.
  private struct Keys {
    var rows: [String: Int64] = [:]
    var texts: [Int64: String] = [:]
  }

  /// The keys of a custom store's objects; empty for SQLite stores.
  private let keys = Mutex(Keys())

  /// The row number of a primary key, allocated with the first use of the key in this process.
  func row(of key: String) -> Int64 {
    keys.withLock { keys in
      if let row = keys.rows[key] { return row }
      let row = KeyNumber.next()
      keys.rows[key] = row
      keys.texts[row] = key
      return row
    }
  }

  /// The primary key of an allocated row number; nil for the number of a SQLite row.
  func key(of row: Int64) -> String? {
    row < KeyNumber.first ? nil : keys.withLock { $0.texts[row] }
  }

  /// A row in the words of a message: by its number, or by its primary key in a custom store.
  static func title(of row: Int64) -> String {
    // A key is known to one reference. They are few, and this is for messages alone.
    let references = row < KeyNumber.first ? [] : interned.withLock { Array($0.values) }
    let key = references.lazy.compactMap { $0.key(of: row) }.first
    return key.map { "object \($0)" } ?? "row \(row)"
  }

  /// Only for ``named(_:)``, or two objects could have the same names.
  private init(_ names: Names) {
    store = names.store
    entity = names.entity
  }

  /// The object of a pair of names, made with the first use of the pair.
  private static func named(_ names: Names) -> EntityReference {
    // Found or made under one lock, so that each pair of names has one object.
    interned.withLock { interned in
      if let reference = interned[names] { return reference }
      let reference = EntityReference(names)
      interned[names] = reference
      return reference
    }
  }

  /// The entity of saved objects.
  static func permanent(_ entity: String, store: String) -> EntityReference {
    named(Names(store: store, entity: entity))
  }

  /// The entity of objects that were never saved, of any store.
  static func temporary(_ entity: String) -> EntityReference {
    named(Names(store: nil, entity: entity))
  }

  /// By address, as each pair of names has one object.
  static func == (left: EntityReference, right: EntityReference) -> Bool { left === right }

  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// Row numbers of this process for the objects of a custom store, whose primary keys may be strings: never reused, and
/// greater than any number of a SQLite row, so that one comparison tells them apart.
enum KeyNumber {
  /// The first number. Numbers of SQLite rows count from 1, and do not get here in practice.
  static let first: Int64 = 1 << 62
  /// The number that was given out last.
  private static let last = Atomic<Int64>(first - 1)

  // Relaxed: numbers only have to differ, and no other memory depends on their order.
  static func next() -> Int64 { last.add(1, ordering: .relaxed).newValue }
}
