import Foundation
import Observation

extension ObjectGraph {
  // MARK: Reading the newest rows

  /// Applies other contexts' commits, and runs a body with a connection that sees all commits.
  func readNewest<Result>(
    of index: Int, _ body: (StoreConnection) throws -> Result
  ) throws -> Result {
    // An observer may fetch when it is notified; what it gets is of the same commit.
    if let reading, reading.store == index, !stores[index].isWritingHere {
      return try body(reading.connection)
    }
    defer { notifyFollowers() }
    return try stores[index].read(.newest) { connection, number in
      apply(inbox.news(of: index, upTo: number), in: index, connection)
      return try body(connection)
    }
  }

  /// Applies other contexts' commits to all stores.
  func applyCommitsOfOthers() {
    for index in stores.indices {
      do {
        try stores[index].read(.newest) { connection, number in
          apply(inbox.news(of: index, upTo: number), in: index, connection)
        }
      } catch {
        Report.problem("Other contexts' changes could not be read from the store: \(error)")
      }
    }
    notifyFollowers()
  }

  // MARK: Applying

  /// Gives registered objects what other contexts have committed; pending changes here stay.
  ///
  /// - Parameter connection: It sees the newest of the commits and no later one.
  func apply(_ news: CommitLog.News, in store: Int, _ connection: StoreConnection) {
    // Edits from now on are made with knowledge of these commits.
    clock.observe(stores[store].log.newestStamp)
    if case .nothing = news { return }
    // Observed objects are read at once. A snapshot of their own could have later commits than the caller's, whose rows
    // would then be of two commits.
    let outer = reading
    reading = (store, connection)
    defer { reading = outer }
    var observed: [any PersistentModel] = []
    switch news {
    case .nothing: return
    case .everything:
      loader.registry.markAllStale { storeIndex[$0] == store }
      for entity in layout.entities where entity.index == entity.rootIndex {
        guard storeIndex[entity.index] == store else { continue }
        followers.note(entity.table)
        collectObserved(loader.registry.all(root: entity.index), entity, &observed)
      }
    case .rows(let rows):
      for entity in layout.entities where entity.index == entity.rootIndex {
        guard storeIndex[entity.index] == store, let rows = rows.table(entity.table) else {
          continue
        }
        followers.note(entity.table)
        var gone: [any PersistentModel] = []
        for row in rows.deleted {
          guard let model = registered(entity, row: row) else { continue }
          gone.append(model)
          observed += markOwnersStale(of: model).filter {
            $0._$statePointer.pointee.extra?.isObserved == true
          }
          notifying(model, nil) { depart(model) }
        }
        dropReferences(to: gone, isOwnCommit: false)
        let touched = Set(loader.registry.markStale(root: entity.index, rows: rows.written))
        collectObserved(
          touched.compactMap { loader.registry.object(root: entity.index, row: $0) }, entity,
          &observed)
      }
    }
    hasNews = true
    membership = nil
    renewPending()
    // Only observed objects are read now; the rest when they are next used.
    for model in observed {
      notifying(model, nil) { if model.has(_ModelFlags.stale) { reload(model) } }
    }
  }

  /// Makes an object's owners read their lists again before it goes: the context that deleted it may not have known
  /// that it had come to another owner.
  private func markOwnersStale(of model: any PersistentModel) -> [any PersistentModel] {
    let entity = entity(of: model)
    return entity.relationships.compactMap { index in
      guard case .toOne(let target) = model.content(at: index),
        let owner = registeredTarget(target, entity.properties[index]), isHere(owner)
      else { return nil }
      owner._$statePointer.pointee.set(_ModelFlags.stale)
      return owner
    }
  }

  private func collectObserved(
    _ objects: [AnyObject], _ root: EntityLayout, _ observed: inout [any PersistentModel]
  ) {
    for object in objects {
      let model = root.model(object)
      if model._$statePointer.pointee.extra?.isObserved == true { observed.append(model) }
    }
  }

  /// Reads changed objects again, and removes objects that other contexts have deleted from pending relationships.
  private func renewPending() {
    guard !pending.isEmpty else { return }
    for kind in [PendingChanges.Kind.changed, .deleted] {
      for model in pending.models(kind) where model.has(_ModelFlags.stale) { reload(model) }
    }
    for kind in [PendingChanges.Kind.inserted, .changed] {
      for model in pending.models(kind) {
        for index in entity(of: model).relationships { renew(model, index) }
      }
    }
  }

  private func renew(_ model: any PersistentModel, _ index: Int) {
    func isGone(_ target: any PersistentModel) -> Bool {
      if target.has(_ModelFlags.stale), isHere(target) { reload(target) }
      return target._$statePointer.pointee.home == nil && target.has(_ModelFlags.missing)
    }
    switch model.content(at: index) {
    case .toOne(.model(let target)) where isGone(target):
      notifying(model, index) { model.setContent(.toOne(.none), at: index) }
    case .toMany(let targets):
      guard let loaded = targets.loaded else { return }
      let gone = loaded.filter { ($0 as? any PersistentModel).map(isGone) ?? false }
      guard !gone.isEmpty else { return }
      let ids = Set(gone.map(ObjectIdentifier.init))
      notifying(model, index) {
        changeSide(of: model, at: index) { targets, delta in
          for object in gone { delta.remove(object) }
          targets.loaded?.removeAll { ids.contains(ObjectIdentifier($0)) }
        }
      }
    default: break
    }
  }

  // MARK: Observation

  /// The object's registrar, only asked for if one exists: passing on a missing one takes longer than a change.
  private func registrar(of model: any PersistentModel) -> ObservationRegistrar? {
    guard let extra = model._$statePointer.pointee.extra, extra.isObserved else { return nil }
    return extra.registrar
  }

  /// Runs a change of one property between the two calls that Observation needs.
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
    guard !followers.isEmpty else { return followers.forget() }
    for root in pending.takeUnreportedRoots() { followers.note(layout.entities[root].table) }
    // A follower may change more; the loop then calls followers for that, too.
    while let round = followers.begin() {
      followers.end(round.followers.filter { $0(round.tables) })
    }
  }

  /// Calls a function after changes until it returns false. If the context has turns, or an actor to take them on, it
  /// applies other contexts' commits in these turns from now on.
  func follow(_ isolation: (any Actor)?, _ follower: @escaping (Set<String>) -> Bool) {
    followers.add(follower)
    if !inbox.listener.hasTurns, let isolation, let context {
      let turn = ContextTurn(context)
      inbox.listener.setTurn { Task { await turn.run(on: isolation) } }
    }
    listen()
  }

  /// Has a turn after each commit of other contexts and processes from now on.
  func listen() {
    guard inbox.listener.hasTurns else { return }
    inbox.listen()
    for store in stores { store.watch() }
  }
}
