/// Objects by name, for as long as somebody else keeps them.
struct WeakRegistry<Object: AnyObject & Sendable>: Sendable {
  private struct Entry: Sendable {
    weak var object: Object?
  }

  private static var firstLimit: Int { 64 }

  private var entries: [String: Entry] = [:]
  /// How many entries there may be before those of objects that are gone are cleared away.
  private var limit = firstLimit

  init() {}

  subscript(name: String) -> Object? { entries[name]?.object }

  var all: [Object] { entries.values.compactMap(\.object) }

  /// How many entries there are, those included whose objects are gone.
  var count: Int { entries.count }

  /// Registers an object, or gives the one that has the name.
  ///
  /// And gives objects whose last reference may be the one returned here, since they must not go while a
  /// lock is held.
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
