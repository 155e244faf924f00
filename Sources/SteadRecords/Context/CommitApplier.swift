import Foundation
import Observation

/// Applies other contexts' and programs' commits to a context's objects.
final class CommitApplier {
  // Unowned without a check: the engine owns this part, and nothing else keeps it.
  unowned(unsafe) let graph: ObjectGraph
  /// Whether others have committed since the last save.
  var hasNews = false
  /// The connection that reads while commits are applied, and its store's place.
  private var reading: (store: Int, connection: StoreConnection)?

  /// How far this context has followed others' commits.
  var inbox: CommitInbox
  /// Beside the inbox: asked without the save lock, when another thread's save may change that.
  let listener = CommitListener()
  /// Stamps the edits: later than all commits that this context has applied.
  var clock = EditClock()
  /// Who is told of changed tables.
  let followers = Followers()

  init(_ graph: ObjectGraph) {
    self.graph = graph
    inbox = CommitInbox(graph.stores, listener)
  }

  // MARK: Reading the newest rows

  /// Applies other contexts' commits, and runs a body with a connection that sees all commits.
  ///
  /// The body's rows and the objects are then of one commit. Objects that nobody observes are read after the body,
  /// because it mostly reads the same rows.
  func readNewest<Result>(
    of index: Int, _ body: (StoreConnection) throws -> Result
  ) throws -> Result {
    // An observer may fetch when it is notified; what it gets is of the same commit.
    if let connection = connection(applyingTo: index) { return try body(connection) }
    defer { graph.notifyFollowers() }
    return try graph.stores[index].read(.newest) { connection, number in
      // Only observed ones now.
      let rest = apply(
        inbox.news(of: index, upTo: number), in: index, connection, readsAll: false)
      defer { read(rest, in: index, connection) }
      return try body(connection)
    }
  }

  /// Applies other contexts' commits to all stores.
  ///
  /// - Parameter notifiesFollowers: Whether followers are called now, and not at the next turn.
  func applyCommitsOfOthers(notifiesFollowers: Bool = true) {
    for index in graph.stores.indices {
      // Of one commit with what is being read.
      if connection(applyingTo: index) != nil { continue }
      do {
        try graph.stores[index].read(.newest) { connection, number in
          _ = apply(inbox.news(of: index, upTo: number), in: index, connection)
        }
      } catch {
        Report.problem("Other contexts' changes could not be read from the store: \(error)")
      }
    }
    if notifiesFollowers {
      graph.notifyFollowers()
    } else if !followers.isEmpty {
      listener.schedule()
    }
  }

  /// The connection with which commits are being applied to a store's objects; nil if none are, and within a transaction
  /// of this thread, where only the writer sees what was written in it.
  func connection(applyingTo index: Int) -> StoreConnection? {
    guard let reading, reading.store == index, !graph.stores[index].writer.isWritingHere else {
      return nil
    }
    return reading.connection
  }

  // MARK: Applying

  /// Gives registered objects what other contexts have committed; pending changes here stay.
  ///
  /// Invariant: everything that is read meanwhile, by observers, too, is read by this connection, so that all objects
  /// and the caller's rows are of one commit. An object that was read when it is next used would have later commits
  /// than the objects that were used before it.
  ///
  /// Deleted rows come first: the written rows, which are marked as stale, include them, and their objects have left
  /// by then.
  ///
  /// - Parameters:
  /// - connection: It sees the newest of the commits and no later one.
  /// - readsAll: Whether objects that nobody observes are read, too.
  /// - Returns: The objects that were not read.
  @discardableResult
  func apply(
    _ news: CommitLog.News, in store: Int, _ connection: StoreConnection, readsAll: Bool = true
  ) -> [any PersistentModel] {
    // Edits from now on are made with knowledge of these commits.
    clock.observe(graph.stores[store].log.newestStamp)
    if case .nothing = news { return [] }
    // Observed objects are read at once. A snapshot of their own could have later commits than the caller's, whose rows
    // would then be of two commits.
    let outer = reading
    reading = (store, connection)
    defer { reading = outer }
    var changed = ChangedObjects()
    switch news {
    case .nothing: break
    case .everything:
      // Nobody knows which rows have changed: another process has committed, or the log has forgotten.
      graph.loader.registry.markAllStale { graph.entities[$0].storeIndex == store }
      for entity in graph.layout.entities where entity.index == entity.rootIndex {
        guard graph.entities[entity.index].storeIndex == store else { continue }
        followers.note(entity.table)
        for object in graph.loader.registry.all(root: entity.index) {
          changed.add(entity.model(object))
        }
      }
    case .rows(let rows):
      for entity in graph.layout.entities where entity.index == entity.rootIndex {
        guard graph.entities[entity.index].storeIndex == store, let rows = rows.table(entity.table)
        else {
          continue
        }
        followers.note(entity.table)
        var gone: [any PersistentModel] = []
        for row in rows.deleted {
          guard let model = graph.registered(entity, row: row) else { continue }
          gone.append(model)
          // Before it departs, which clears the references by which its owners are found.
          for owner in markOwnersStale(of: model) { changed.add(owner) }
          graph.notifying(model, nil) { graph.reader.depart(model) }
        }
        graph.editor.dropReferences(to: gone, isOwnCommit: false)
        // A set, since commits may name a row several times.
        let touched = Set(graph.loader.registry.markStale(root: entity.index, rows: rows.written))
        for row in touched {
          guard let object = graph.loader.registry.object(root: entity.index, row: row) else {
            continue
          }
          changed.add(entity.model(object))
        }
      }
    }
    // Until the next save is done, delete rules and checks also look at rows, for what others have linked.
    hasNews = true
    // Sides change below in other ways than by single additions, and members may be freed.
    graph.editor.membership = nil
    graph.undo.endStepSides()
    RuleReview.run(graph)
    renewPending()
    for model in changed.observed {
      graph.notifying(model, nil) { if model.has(_ModelFlags.stale) { graph.reader.reload(model) } }
    }
    if !readsAll { return changed.others }
    read(changed.others, in: store, connection)
    return []
  }

  /// The registered objects whose rows a commit has changed.
  private struct ChangedObjects {
    var observed: [any PersistentModel] = []
    var others: [any PersistentModel] = []

    mutating func add(_ model: any PersistentModel) {
      if model._$statePointer.pointee.extra?.isObserved == true {
        observed.append(model)
      } else {
        others.append(model)
      }
    }
  }

  /// Above this number of changed objects, those that nobody observes are read when they are next used.
  static let readLimit = 20_000
  /// How many rows one statement reads.
  private static let readSize = 500

  /// Reads outdated objects again, and the lists among their relationships that were loaded.
  ///
  /// Lists are loaded last: reading their owners has forgotten them. Above ``readLimit`` nothing is read, and each
  /// object is at its next use.
  func read(_ models: [any PersistentModel], in store: Int, _ connection: StoreConnection) {
    guard !models.isEmpty, models.count <= Self.readLimit else { return }
    let outer = reading
    reading = (store, connection)
    defer { reading = outer }
    // The caller's own fetch may have read some by now, and an observer may have made some leave.
    let stale = models.filter { $0.has(_ModelFlags.stale) && graph.isHere($0) }
    if stale.isEmpty { return }
    let lists = stale.flatMap(loadedLists)
    // Observed ones are read below one by one, each within its notification.
    let unobserved = stale.filter { $0._$statePointer.pointee.extra?.isObserved != true }
    for (index, models) in Dictionary(grouping: unobserved, by: { graph.entity(of: $0).index }) {
      for start in stride(from: 0, to: models.count, by: Self.readSize) {
        let rows = models[start...].prefix(Self.readSize).map { $0._$statePointer.pointee.rowID }
        // What this does not read, such as an object whose row is gone, is read below one by one. If this throws, all
        // are, and the errors are reported there.
        if rows.count > 1 { _ = try? graph.reader.load(graph.layout.entities[index], rows: rows) }
      }
    }
    for model in stale where model.has(_ModelFlags.stale) {
      graph.notifying(model, nil) { graph.reader.reload(model) }
    }
    for (model, index) in lists where graph.isHere(model) {
      // At once, so that the list is of the same commit as its owner.
      _ = graph.reader.loadToMany(model, index)
    }
  }

  /// The lists of an object that are loaded, which reading its row forgets.
  private func loadedLists(of model: any PersistentModel) -> [(any PersistentModel, Int)] {
    guard graph.entities[Int(model._$statePointer.pointee.entity)].layout.hasRelationships else {
      return []
    }
    return graph.entity(of: model).relationships.compactMap { index in
      guard case .toMany(let targets) = model.content(at: index), targets.loaded != nil else {
        return nil
      }
      return (model, index)
    }
  }

  /// Applies other contexts' commits, and reads outdated objects of any store in the same snapshots.
  func readAgain(_ models: [any PersistentModel]) {
    let byStore = Dictionary(grouping: models) {
      graph.entities[Int($0._$statePointer.pointee.entity)].storeIndex
    }
    for (index, models) in byStore {
      do {
        try graph.stores[index].read(.newest) { connection, number in
          let rest = apply(
            inbox.news(of: index, upTo: number), in: index, connection, readsAll: false)
          read(rest + models, in: index, connection)
        }
      } catch {
        Report.problem(
          "Objects could not be read from the store; they are when next used: \(error)")
      }
    }
  }

  /// Makes an object's owners read their lists again before it goes: the context that deleted it may not have known
  /// that it had come to another owner.
  private func markOwnersStale(of model: any PersistentModel) -> [any PersistentModel] {
    let entity = graph.entity(of: model)
    return entity.relationships.compactMap { index in
      guard case .toOne(let target) = model.content(at: index),
        let owner = graph.reader.registeredTarget(target, entity.properties[index]),
        graph.isHere(owner)
      else { return nil }
      owner._$statePointer.pointee.set(_ModelFlags.stale)
      return owner
    }
  }

  /// Reads pending objects again, and removes objects that other contexts have deleted from their relationships.
  ///
  /// Otherwise a save would write a reference to a row that is gone.
  private func renewPending() {
    guard !graph.pending.isEmpty else { return }
    for kind in [PendingChanges.Kind.changed, .deleted] {
      for model in graph.pending.models(kind) where model.has(_ModelFlags.stale) {
        graph.reader.reload(model)
      }
    }
    for kind in [PendingChanges.Kind.inserted, .changed] {
      for model in graph.pending.models(kind) {
        for index in graph.entity(of: model).relationships { renew(model, index) }
      }
    }
  }

  /// Removes the objects that have left from a relationship of a pending object. A stale destination reads its row
  /// first, since its row may be gone.
  private func renew(_ model: any PersistentModel, _ index: Int) {
    func isGone(_ target: any PersistentModel) -> Bool {
      if target.has(_ModelFlags.stale), graph.isHere(target) { graph.reader.reload(target) }
      return target._$statePointer.pointee.home == nil && target.has(_ModelFlags.missing)
    }
    switch model.content(at: index) {
    case .toOne(.model(let target)) where isGone(target):
      graph.notifying(model, index) { model.setContent(.toOne(.none), at: index) }
    case .toMany(let targets):
      guard let loaded = targets.loaded else { return }
      let gone = loaded.filter { ($0 as? any PersistentModel).map(isGone) ?? false }
      guard !gone.isEmpty else { return }
      let ids = Set(gone.map(ObjectIdentifier.init))
      graph.notifying(model, index) {
        graph.editor.changeSide(of: model, at: index) { targets, delta in
          for object in gone { delta.remove(object) }
          targets.loaded?.removeAll { ids.contains(ObjectIdentifier($0)) }
        }
      }
    default: break
    }
  }
}
