/// Objects by name, as long as somebody else retains them.
struct WeakRegistry<Object: AnyObject & Sendable>: Sendable {
  private struct Entry: Sendable {
    weak var object: Object?
  }

  private static var firstLimit: Int { 64 }

  private var entries: [String: Entry] = [:]
  /// The number of entries at which those of released objects are removed.
  private var limit = firstLimit

  init() {}

  subscript(name: String) -> Object? { entries[name]?.object }

  var all: [Object] { entries.values.compactMap(\.object) }

  /// The number of entries, including those of released objects.
  var count: Int { entries.count }

  /// Registers an object, or returns the one that has the name.
  ///
  /// Also returns objects whose last reference this may be, since they must not be released while a lock is held.
  mutating func keep(_ object: Object, as name: String) -> (kept: Object, others: [Object]) {
    if let found = entries[name]?.object { return (found, []) }
    entries[name] = Entry(object: object)
    guard entries.count > limit else { return (object, []) }
    let live = entries.compactMap { name, entry in entry.object.map { (name, $0) } }
    entries = Dictionary(uniqueKeysWithValues: live.map { ($0.0, Entry(object: $0.1)) })
    limit = max(Self.firstLimit, 2 * entries.count)
    return (object, live.map(\.1))
  }
}
