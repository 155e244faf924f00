import Synchronization

/// A store's entity, one object per pair of names, so that identifiers compare by address.
final class EntityReference: Hashable, Sendable {
  let store: String?
  let entity: String

  private struct Names: Hashable {
    let store: String?
    let entity: String
  }

  private static let known = Mutex<[Names: EntityReference]>([:])

  // MARK: Primary keys of other kinds

  private struct Keys {
    var rows: [String: Int64] = [:]
    var texts: [Int64: String] = [:]
  }

  private let keys = Mutex(Keys())

  /// The number that stands for a primary key.
  func row(of key: String) -> Int64 {
    keys.withLock { keys in
      if let row = keys.rows[key] { return row }
      let row = KeyNumber.next()
      keys.rows[key] = row
      keys.texts[row] = key
      return row
    }
  }

  /// The primary key that a number stands for; nil for the number of a row.
  func key(of row: Int64) -> String? {
    row < KeyNumber.first ? nil : keys.withLock { $0.texts[row] }
  }

  /// What a message calls a row: its number, or the primary key of a custom store that it stands for.
  static func title(of row: Int64) -> String {
    let references = row < KeyNumber.first ? [] : known.withLock { Array($0.values) }
    let key = references.lazy.compactMap { $0.key(of: row) }.first
    return key.map { "object \($0)" } ?? "row \(row)"
  }

  private init(_ names: Names) {
    store = names.store
    entity = names.entity
  }

  private static func named(_ names: Names) -> EntityReference {
    known.withLock { known in
      if let reference = known[names] { return reference }
      let reference = EntityReference(names)
      known[names] = reference
      return reference
    }
  }

  static func permanent(_ entity: String, store: String) -> EntityReference {
    named(Names(store: store, entity: entity))
  }

  static func temporary(_ entity: String) -> EntityReference {
    named(Names(store: nil, entity: entity))
  }

  static func == (left: EntityReference, right: EntityReference) -> Bool { left === right }

  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// Numbers for rows without one in a store of another kind: never reused in a process, and greater than any row's.
enum KeyNumber {
  static let first: Int64 = 1 << 62
  private static let last = Atomic<Int64>(first - 1)

  static func next() -> Int64 { last.add(1, ordering: .relaxed).newValue }
}
