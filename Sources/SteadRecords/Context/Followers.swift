import Foundation
import Observation

/// Functions that are called when tables change, such as those of live results.
///
/// Locked, since threads that save one context by turns call the functions after their turn. No function is called with
/// the lock held. Of two threads, the one whose round is under way calls the functions for both: the other finds that
/// there is one, and leaves the tables to it.
final class Followers {
  private let lock = NSLock()
  private var all: [(Set<String>) -> Bool] = []
  private var tables: Set<String> = []
  private var isNotifying = false

  /// Whether nobody follows. The functions that a round has taken are still followers.
  var isEmpty: Bool { lock.withLock { all.isEmpty && !isNotifying } }

  /// Adds a function, which is called until it returns false.
  func add(_ follower: @escaping (Set<String>) -> Bool) { lock.withLock { all.append(follower) } }

  /// Records that a table changed.
  func note(_ table: String) { lock.withLock { _ = tables.insert(table) } }

  /// Forgets what changed if nobody follows.
  func forgetUnfollowed() {
    lock.withLock { if all.isEmpty, !isNotifying { tables.removeAll() } }
  }

  /// Calls the functions with the tables that changed, and again while functions change more.
  func notify() {
    while let round = begin() { end(round.followers.filter { $0(round.tables) }) }
  }

  /// Takes the changed tables and the functions to call; nil when no table changed, or during a round.
  private func begin() -> (followers: [(Set<String>) -> Bool], tables: Set<String>)? {
    lock.withLock {
      guard !isNotifying, !tables.isEmpty, !all.isEmpty else { return nil }
      // A thread that comes now leaves its tables to this round, whose loop finds them.
      isNotifying = true
      // Taken out, so that a function runs without the lock and may add others or note tables.
      defer { (all, tables) = ([], []) }
      return (all, tables)
    }
  }

  /// Puts back the functions that returned true, before those that were added in the meantime.
  private func end(_ followers: [(Set<String>) -> Bool]) {
    lock.withLock {
      isNotifying = false
      all = followers + all
    }
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

extension ObjectGraph {
  // MARK: Observation

  /// The object's registrar, only asked for if one exists: passing on a missing one takes longer than a change.
  private func registrar(of model: any PersistentModel) -> ObservationRegistrar? {
    guard let extra = model._$statePointer.pointee.extra, extra.isObserved else { return nil }
    return extra.registrar
  }

  /// Runs a change of one property between the two calls that Observation needs.
  ///
  /// Costs a look at the object's state if it is not observed.
  func notifying(_ model: any PersistentModel, _ index: Int, _ change: () -> Void) {
    guard let registrar = registrar(of: model),
      let keyPath = entity(of: model).properties[index].keyPath
    else { return change() }
    PropertyNotifier.notify(registrar, model, keyPath, isBefore: true)
    change()
    PropertyNotifier.notify(registrar, model, keyPath, isBefore: false)
  }

  /// Runs a change of some properties, or of all, between the calls that Observation needs.
  func notifying(_ model: any PersistentModel, _ changes: PropertySet?, _ change: () -> Void) {
    guard let registrar = registrar(of: model) else { return change() }
    let keyPaths = entity(of: model).properties.lazy.filter {
      changes?.contains($0.index) ?? true
    }.compactMap(\.keyPath)
    // One by one: Observation has no call for several properties, and each `willSet` has to come before the change.
    for keyPath in keyPaths {
      PropertyNotifier.notify(registrar, model, keyPath, isBefore: true)
    }
    change()
    for keyPath in keyPaths {
      PropertyNotifier.notify(registrar, model, keyPath, isBefore: false)
    }
  }

  // MARK: Followers

  /// Calls the followers of the tables that changed.
  func notifyFollowers() {
    notePendingTables()
    commits.followers.notify()
  }

  /// Records for the followers which tables have pending changes that they do not know.
  func notePendingTables() {
    // Without followers nothing is collected, so that the set of tables does not grow.
    guard !commits.followers.isEmpty else { return commits.followers.forgetUnfollowed() }
    for root in pending.takeUnreportedRoots() {
      commits.followers.note(layout.entities[root].table)
    }
  }

  /// Calls a function after changes until it returns false. If the context has turns, or an actor to take them on, it
  /// applies other contexts' commits in these turns from now on.
  func follow(_ isolation: (any Actor)?, _ follower: @escaping (Set<String>) -> Bool) {
    commits.followers.add(follower)
    if !commits.listener.hasTurns, let isolation, let context {
      let turn = ContextTurn(context)
      commits.listener.setTurn { Task { await turn.run(on: isolation) } }
    }
    listen()
  }

  /// Has a turn after each commit of other contexts and processes from now on.
  func listen() {
    guard commits.listener.hasTurns else { return }
    commits.inbox.listen()
    // Commits of this process come by the log, those of other processes by a watcher of the file.
    for store in stores { store.watch() }
  }
}
