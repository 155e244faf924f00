import Observation

/// Functions that are called when tables change, such as those of live results.
struct Followers {
  private var all: [(Set<String>) -> Bool] = []
  private var tables: Set<String> = []
  private var isNotifying = false

  var isEmpty: Bool { all.isEmpty }

  /// Adds a function, which is called until it returns false.
  mutating func add(_ follower: @escaping (Set<String>) -> Bool) { all.append(follower) }

  /// Records that a table changed.
  mutating func note(_ table: String) { tables.insert(table) }

  mutating func forget() { tables.removeAll() }

  /// Takes the changed tables and the functions to call; nil when no table changed, or during a round.
  ///
  /// They are taken, so that a function that changes something, or follows, changes this value and not one that is
  /// being iterated. The round under way calls the functions for that, too.
  mutating func begin() -> (followers: [(Set<String>) -> Bool], tables: Set<String>)? {
    guard !isNotifying, !tables.isEmpty, !all.isEmpty else { return nil }
    isNotifying = true
    defer { (all, tables) = ([], []) }
    return (all, tables)
  }

  /// Puts back the functions that returned true, before those that were added in the meantime.
  mutating func end(_ followers: [(Set<String>) -> Bool]) {
    isNotifying = false
    all = followers + all
  }
}

// MARK: - Observation

/// Calls Observation with a key path whose types are only known at run time.
enum PropertyNotifier {
  static func notify(
    _ registrar: ObservationRegistrar, _ model: any PersistentModel, _ keyPath: AnyKeyPath,
    isBefore: Bool
  ) {
    func openRoot<Root: PersistentModel>(_ root: Root.Type) {
      guard let subject = model as? Root else { return }
      func openValue<Value>(_ value: Value.Type) {
        guard let path = keyPath as? KeyPath<Root, Value> else { return }
        if isBefore {
          registrar.willSet(subject, keyPath: path)
        } else {
          registrar.didSet(subject, keyPath: path)
        }
      }
      _openExistential(type(of: keyPath).valueType, do: openValue)
    }
    if let root = type(of: keyPath).rootType as? any PersistentModel.Type { openRoot(root) }
  }
}
