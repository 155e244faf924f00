import Foundation
import Observation

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
