import Foundation

extension ObjectGraph {
  /// More work for a save's transaction, which is then durable.
  typealias Note = (RecordStore, StoreConnection, SaveWriter) throws -> Void

  /// Writes all pending changes in one transaction per store; on an error they stay pending.
  ///
  /// Waits for another thread's save of the context.
  func save(noting note: Note? = nil) throws {
    tellOfSave(
      try exclusively {
        let summary = try saveAlone(noting: note)
        notePendingTables()
        return summary
      })
  }

  /// Saves in a turn; the caller has the lock.
  ///
  /// - Returns: What was saved, if an observer may ask for it.
  func autosave() -> SaveSummary? {
    guard autosaves, pending.hasChanges else { return nil }
    do {
      return try saveAlone(noting: nil)
    } catch {
      autosaveFailed = true
      Report.problem(
        .autosaveFailed,
        message: "An autosave failed. The changes are still pending; the next save writes them.",
        cause: error)
      return nil
    }
  }

  /// Posts `didSave`, and calls the followers of the changed tables.
  ///
  /// Called after the save lock was released: an observer may save this context, and may wait for a thread that saves
  /// it, which would otherwise be a deadlock. The context's other state is another thread's by then, so that
  /// ``notePendingTables()`` has been called within the lock.
  func tellOfSave(_ summary: SaveSummary?) {
    if let summary { SaveNotification.didSave.post(context, summary) }
    followers.notify()
  }

  /// Runs a body while no other thread saves the context.
  private func exclusively<Result>(_ body: () throws -> Result) throws -> Result {
    // Not waited for by a thread that is within a store's transaction: the thread that saves may be waiting for that
    // store.
    guard saveLock.lock(waits: !stores.contains(where: \.isWritingHere)) else {
      throw SwiftDataError(
        .saveInProgress,
        "save() was called in a transaction's block while another thread saves the context. Save before or after "
          + "the transaction, or use a context of this thread's own in it.")
    }
    defer { endExclusive() }
    return try body()
  }

  func endExclusive() {
    if saveLock.unlock() { inbox.listener.schedule() }
  }

  /// Saves with the save lock, in as many attempts as changes of custom stores by other programs require.
  ///
  /// Invariant: `isSaving` is true exactly while it runs, so that what an observer of `willSave` or an app's store
  /// calls cannot save within this save. Without changes nothing is written, and only other contexts' commits are
  /// applied.
  ///
  /// - Returns: What was saved, if an observer may ask for it.
  private func saveAlone(noting note: Note?) throws -> SaveSummary? {
    guard !isSaving else {
      throw SwiftDataError(
        .saveInProgress,
        "save() was called while the context saves. Call it in an observer of didSave, not of "
          + "willSave, or after the save.")
    }
    try throwMisuse()
    guard pending.hasChanges else {
      pending.removeAll()
      applyCommitsOfOthers()
      return nil
    }
    isSaving = true
    defer {
      isSaving = false
      if recordsUndo { undo.endFailedSave(self) }
    }
    SaveNotification.willSave.post(context)
    for _ in 1..<Self.saveAttempts {
      do {
        return try saveOnce(noting: note)
      } catch let error as OutdatedSave {
        // A custom store that has saved cannot be rolled back, and a second attempt would insert its new objects
        // again.
        if error.hasSavedOthers { throw error.reason }
      }
    }
    do {
      return try saveOnce(noting: note)
    } catch let error as OutdatedSave {
      throw error.reason
    }
  }

  /// How often a save is checked and tried while other programs change a custom store.
  static let saveAttempts = 100

  /// Makes one attempt to save, in one transaction for each store.
  ///
  /// Invariant: if it throws, no change is lost. Every transaction that is still open is rolled back, new objects
  /// have their temporary numbers again, merged objects are separate again, and all changes are pending. What stays
  /// is what was applied before the plan was made: other contexts' commits, and the delete rules.
  ///
  /// There is no commit of several stores as one. Custom stores save first, then this library's stores commit one
  /// after the other; those that have committed when one fails keep the commit.
  ///
  /// - Throws: `OutdatedSave` if a custom store was changed since the save was checked against it.
  private func saveOnce(noting note: Note?) throws -> SaveSummary? {
    // In transactions of their own, so that what they bring into the mirrors stays if the save fails.
    let versions = customStores.isEmpty ? [:] : try prepareCustomStores()
    let isHeld = heldStores != nil
    let opened = try heldStores ?? begin(savedStores, isDurable: note != nil)
    let protected = isHeld ? try protectInnerWork(of: opened) : []
    let writer: SaveWriter
    var open = opened
    do {
      // Before the first is written: a block may have held them for long, and no store takes back what it has committed. A single
      // store was compared as its transaction began.
      if isHeld || opened.count > 1 { for index in opened { try stores[index].checkPlace() } }
      writer = try write(noting: note, checkedAt: versions)
      try commit(&open, protected, writer)
    } catch {
      for store in open { stores[store].rollBack() }
      takeBackMerging()
      undo.forgetMerge()
      // The block goes on after it has caught the error, with the lock that it had.
      if isHeld { try hold(opened, again: protected) }
      // What was written of large values takes space, which may be what the save lacked.
      if !isHeld { for store in opened { stores[store].removeDroppedFiles() } }
      throw SwiftDataError.ofSave(error)
    }
    if isHeld, isLastSave {
      // What observers save from now on is not the transaction's.
      (heldStores, isLastSave) = (nil, false)
    } else if isHeld {
      // The block of a transaction continues with the lock.
      heldStores = try begin(opened, isDurable: false)
    }
    // The plan's arrays keep the objects alive in which its states lie.
    let summary = withExtendedLifetime(writer) { finish(writer) }
    for store in opened { stores[store].trimIfDue() }
    return summary
  }

  /// Throws an error for the calls that had no effect, and forgets them: each is reported once.
  private func throwMisuse() throws {
    guard let first = pending.misuses.first else { return }
    let messages = Set(pending.misuses.map(\.error.message)).sorted()
    pending.misuses = []
    var text = messages.prefix(Misuses.namedLimit).joined(separator: " ")
    if messages.count > Misuses.namedLimit {
      text += " The same applies to \(messages.count - Misuses.namedLimit) more objects."
    }
    throw SwiftDataError(first.error.code, text)
  }

  /// The stores that have, or by a delete rule may have, something to write.
  private var savedStores: [Int] {
    if stores.count == 1 { return [0] }
    return Set(pending.roots.map { storeIndex[$0] }).sorted()
  }

  // MARK: The transaction

  /// Takes the stores' write locks, and applies other contexts' commits.
  ///
  /// The locks are taken in the stores' order, so that two saves cannot wait for each other. Commits are applied with
  /// the lock, so that none can come between what the save is checked against and what it writes.
  private func begin(_ indices: [Int], isDurable: Bool) throws -> [Int] {
    var opened: [Int] = []
    do {
      for index in indices {
        let connection = try stores[index].begin(isDurable: isDurable)
        opened.append(index)
        apply(inbox.news(of: index, upTo: stores[index].number), in: index, connection)
      }
    } catch {
      for index in opened { stores[index].rollBack() }
      throw error
    }
    return opened
  }

  /// Applies what was committed within the block of a program's transaction, by other contexts or deletions by
  /// predicate, and begins a savepoint in each such store for the save.
  ///
  /// Without it, a save that fails would roll back the whole transaction, and with it commits that their authors take
  /// for made.
  ///
  /// - Returns: The stores with a savepoint.
  private func protectInnerWork(of held: [Int]) throws -> Set<Int> {
    let concerned = held.filter { stores[$0].hasInnerWork }
    for index in concerned {
      let connection = try stores[index].begin()
      apply(inbox.news(of: index, upTo: stores[index].number), in: index, connection)
    }
    return Set(concerned)
  }

  /// Continues a program's transaction after a save in its block has failed.
  private func hold(_ held: [Int], again protected: Set<Int>) throws {
    // SQLite ends a transaction itself after some errors.
    let lost = held.filter { !protected.contains($0) || !stores[$0].isInTransaction }
    for index in lost where protected.contains(index) { stores[index].rollBack() }
    heldStores = held.filter { !lost.contains($0) }
    _ = try begin(lost, isDurable: false)
    heldStores = held
  }

  /// Ends a program's transaction with what was committed within it, which stays even if the block or its save throws.
  private func endHeldStores() throws {
    var first: (any Error)?
    for store in heldStores ?? [] {
      do {
        if customStores.isEmpty || customStores[store] == nil {
          try stores[store].commitInnerWork()
        } else {
          // The block may have fetched objects into the mirror, which are registered now. Rolled back, their rows
          // would be missing.
          try stores[store].commit(from: nil, rows: CommitLog.Rows())
        }
      } catch {
        first = first ?? error
      }
    }
    heldStores = nil
    isLastSave = false
    for store in stores { store.removeDroppedFiles() }
    if let first { throw first }
  }

  /// Checks the pending changes, plans the save, and writes it to the open transactions.
  ///
  /// The order matters. Denials are checked first, so that a save that a `deny` rule refuses has changed nothing.
  /// Delete rules are applied before the other checks, because they may clear a required reference or remove members.
  /// Duplicates are merged before the plan is made, so that no two new objects are written to one row. From the plan
  /// on, nothing may change `pending`: the plan holds the states of its objects by address, and `finish` cleans
  /// exactly those.
  ///
  /// If it throws, new objects have their temporary numbers again; the caller rolls back the transactions.
  private func write(noting note: Note?, checkedAt versions: [Int: Any]) throws -> SaveWriter {
    // Objects that other contexts have linked to a deleted object are found in the rows.
    let readsRows = hasNews
    try SaveValidator(graph: self).checkDenials(readsRows: readsRows)
    try applyRulesAgain(readsRows: readsRows)
    try SaveValidator(graph: self).run()
    try mergeDuplicates()
    var writer = writer(of: SavePlan(&pending, sides: pending.sides.compactMap(sideToSave)))
    let saves = try customSaves(of: writer, checkedAt: versions)
    do {
      for index in writer.stores {
        try stores[index].joinTransaction { connection in
          try writer.write(to: index, connection)
          try note?(stores[index], connection, writer)
          connection.changes.author = author
        }
      }
      // Last, since what a custom store has saved is not taken back.
      for (place, save) in saves.enumerated() {
        do {
          try save.run(&writer)
        } catch var error as OutdatedSave {
          error.hasSavedOthers = place > 0
          throw error
        }
      }
    } catch {
      writer.revert()
      throw error
    }
    return writer
  }

  func writer(of plan: SavePlan) -> SaveWriter {
    SaveWriter(
      plan,
      .init(
        store: layout, plans: plans, traits: traits, contexts: loader.rowContexts,
        storeIndex: storeIndex, stores: stores, readsOldRows: hasNews,
        keepsUniqueRows: keepsUniqueRows))
  }

  /// A changed list as the save writes it; nil if its owner has left, or its changes have cancelled each other.
  private func sideToSave(_ side: PendingChanges.Side) -> SavePlan.Side? {
    guard isHere(side.owner), case .toMany(let targets) = side.owner.content(at: side.index),
      let delta = targets.delta, !delta.isEmpty
    else { return nil }
    let additions = delta.additions.compactMap { $0 as? any PersistentModel }
    // Loaded before the save writes: afterwards the query would find the rows of new objects, which are not
    // registered before `finish`, and make second objects of them.
    return SavePlan.Side(
      owner: side.owner, property: entity(of: side.owner).properties[side.index],
      additions: additions,
      members: delta.ordering == nil ? additions : self.targets(of: side.owner, at: side.index),
      isOrdered: delta.ordering != nil)
  }

  /// Commits, and takes out of `open` each store whose transaction has ended, also by an error.
  private func commit(
    _ open: inout [Int], _ protected: Set<Int>, _ writer: SaveWriter
  ) throws {
    do {
      for index in open {
        // First, because a commit that throws has ended its transaction itself.
        open.removeFirst()
        // With a single context nobody asks for the rows. One that is made at this moment, and reads before the
        // commit, takes every row as changed.
        let rows = stores[index].log.hasSeveralContexts ? writer.rows(in: index) : nil
        let number = try stores[index].commit(from: inbox.listener.reader, rows: rows)
        if protected.contains(index) { try stores[index].commitInnerWork() }
        inbox.didCommit(number, to: index)
        clock.observe(stores[index].log.newestStamp)
      }
    } catch {
      writer.revert()
      throw error
    }
  }

  // MARK: Afterwards

  /// Makes the context's state that of the committed rows.
  ///
  /// Invariant: afterwards nothing is pending, each written object is registered under its row and clean, and each
  /// deleted one has left. Cannot fail, since the rows are committed.
  ///
  /// Objects are cleaned before they are registered, and registered before references to deleted ones are dropped,
  /// which looks at registered objects. Rows are read again last, when nothing is pending that the read would have to
  /// keep.
  ///
  /// - Returns: What was saved, if an observer may ask for it.
  private func finish(_ writer: SaveWriter) -> SaveSummary? {
    let plan = writer.plan
    // Asked for while the objects are still the context's.
    var summary = SaveNotification.didSave.mayHaveObservers ? writer.summary : nil
    for index in writer.stores where summary != nil && stores[index].keepsHistory {
      let name = stores[index].identity.identifier
      summary?.historyTokens[name] = DefaultHistoryToken(
        store: name, number: inbox.number(of: index))
    }
    let hadNews = hasNews
    hasNews = false
    autosaveFailed = false
    if !followers.isEmpty {
      for root in writer.roots { followers.note(layout.entities[root].table) }
    }
    settle(plan.states.inserted, plan.inserted)
    for (model, state) in zip(plan.inserted, plan.states.inserted) {
      // Before `register`: for an entry, the registry returns the object that its state points to.
      state.pointee.object = Unmanaged.passUnretained(model)
    }
    settle(plan.states.updated, plan.updated)
    let deleted = pending.models(.deleted)
    let overwritten = register(writer)
    endMerging()
    dropReferences(to: deleted)
    var leaves: [SavePlan.State] = []
    for model in deleted {
      let state = model._$statePointer
      if !traits[Int(state.pointee.entity)].hasRelationships,
        state.pointee.extra?.isObserved != true
      {
        // Nothing to clear and nobody to notify: all of these leave under one lock.
        leaves.append(state)
        continue
      }
      notifying(model, nil) { clearRelationships(of: model) }
      pending.remove(model)
      loader.release(model)
    }
    loader.release(leaves)
    for model in writer.vanished { depart(model) }
    pending.removeAll()
    undo.endSave()
    // Owners are not pending any more, so their members may be freed.
    membership = nil
    if hadNews { forgetMergedLists(plan.sides) }
    renew(writer.otherRows, and: overwritten)
    writer.removeUnusedFiles()
    releaseContext()
    return summary
  }

  /// Has lists of pairs be read again that another context may have changed, too. In the store the members of both follow
  /// each other in the order in which they came there; here the own ones have the places that they had before.
  private func forgetMergedLists(_ sides: [SavePlan.Side]) {
    for side in sides where side.property.joinTable != nil && isHere(side.owner) {
      let index = side.property.index
      guard case .toMany(let targets) = side.owner.content(at: index), targets.loaded != nil else {
        continue
      }
      notifying(side.owner, index) { side.owner.setContent(.toMany(_Targets()), at: index) }
    }
  }

  /// Reads objects again whose rows the save changed although nothing changed them here: partners that another
  /// context had given to an object of this save, and objects that new ones of the same unique values have overwritten.
  private func renew(_ rows: [Int: Set<Int64>], and overwritten: [any PersistentModel]) {
    var models = overwritten
    for (root, rows) in rows {
      models += loader.registry.markStale(root: root, rows: rows).compactMap {
        registered(layout.entities[root], row: $0)
      }
    }
    if !models.isEmpty { readAgain(models) }
  }

  /// Makes saved objects clean. Those without relationships by their states alone, so that no object is retained.
  private func settle(_ states: [SavePlan.State], _ models: [any PersistentModel]) {
    for (place, state) in states.enumerated() {
      if traits[Int(state.pointee.entity)].hasRelationships {
        settle(models[place])
      } else {
        pending.remove(state)
      }
    }
  }

  /// Registers the new objects. One whose row has an object already, after an upsert, forwards to that object from
  /// now on.
  ///
  /// Invariant: afterwards each row has one registered object, and no loaded relationship has another one for it:
  /// after an upsert, loaded relationships are dropped, since any may have the new object.
  ///
  /// - Returns: The objects whose values are not those of their rows.
  private func register(_ writer: SaveWriter) -> [any PersistentModel] {
    var overwritten: [any PersistentModel] = []
    let plan = writer.plan
    let conflicts = loader.registry.registerNew(plan.states.inserted) {
      traits[Int($0.pointee.entity)].root
    }
    for place in conflicts {
      let model = plan.inserted[place]
      let (entity, row) = (entity(of: model), model._$statePointer.pointee.rowID)
      if let winner = registered(entity, row: row) {
        if winner !== model {
          redirect(model, to: winner)
          overwritten.append(winner)
        }
      } else {
        loader.register(model, entity: entity, row: row)
      }
    }
    guard !writer.upserted.isEmpty else { return overwritten }
    // Objects that referred to one of several objects for a row refer to the one that stays.
    for case let model as any PersistentModel in loader.registry.all() {
      for index in self.entity(of: model).relationships {
        if case .toMany(let targets) = model.content(at: index), targets.loaded != nil {
          notifying(model, index) { model.setContent(.toMany(_Targets()), at: index) }
        } else {
          dropCache(of: model, at: index)
        }
      }
      if writer.upserted.contains(ObjectIdentifier(model)) {
        model._$statePointer.pointee.set(_ModelFlags.stale)
        overwritten.append(model)
      }
    }
    return overwritten
  }

  /// After an upsert two objects stand for one row: the one that existed first stays and takes the new values, and the
  /// new one forwards to it.
  private func redirect(_ loser: any PersistentModel, to winner: any PersistentModel) {
    notifying(winner, nil) { winner._$statePointer.pointee.set(_ModelFlags.stale) }
    let state = loser._$statePointer
    state.pointee.makeExtra().successor = winner
    state.pointee.rowID = winner._$statePointer.pointee.rowID
    state.pointee.object = nil
    state.pointee.set(_ModelFlags.redirected)
    hasStandIns = true
  }

  /// Takes deleted objects out of the loaded relationships that no rule has cleared: those without an inverse, and
  /// those whose rule leaves a reference behind.
  ///
  /// Otherwise an owner would return an object that has left the context. Costs a look at each registered object if
  /// the class has such relationships, else nothing.
  ///
  /// - Parameter isOwnCommit: Whether this context deleted them. Another context's commit names the owners of one-way
  ///   relationships, whose rows it changed.
  func dropReferences(to deleted: [any PersistentModel], isOwnCommit: Bool = true) {
    guard !deleted.isEmpty else { return }
    // By root, since each hierarchy numbers its own rows.
    var rows: [Int: Set<Int64>] = [:]
    for model in deleted {
      let state = model._$statePointer
      rows[traits[Int(state.pointee.entity)].root, default: []].insert(state.pointee.rowID)
    }
    let places = rows.keys.flatMap {
      (isOwnCommit ? layout.oneWay[$0] : []) + layout.danglingReferences[$0]
    }
    guard !places.isEmpty else { return }
    let gone = Set(deleted.map { ObjectIdentifier($0) })
    for case let owner as any PersistentModel in loader.registry.all() {
      let entity = entity(of: owner)
      for place in places where place.entity == entity.index {
        let index = place.property
        switch owner.content(at: index) {
        case .toOne(.model(let target)) where gone.contains(ObjectIdentifier(target)):
          notifying(owner, index) { owner.setContent(.toOne(.none), at: index) }
        case .toOne(.row(let row)):
          let root = entity.properties[index].destination.map { traits[$0].root }
          if let root, rows[root]?.contains(row) == true {
            owner.setContent(.toOne(.none), at: index)
          }
        case .toMany(var targets):
          let left = targets.loaded?.filter { !gone.contains(ObjectIdentifier($0)) }
          guard left?.count != targets.loaded?.count else { continue }
          targets.loaded = left
          notifying(owner, index) { owner.setContent(.toMany(targets), at: index) }
        default: break
        }
      }
    }
  }

  // MARK: Transactions of the program

  /// Runs a block with the write lock and the newest rows, and saves.
  ///
  /// A save in the block commits what it saves, and the lock is acquired again. What the block commits by other routes,
  /// such as a deletion by predicate or a save of another context, is a transaction within this one and stays with it.
  func transaction(_ block: () throws -> Void) throws {
    tellOfSave(
      try exclusively {
        let summary = try runTransaction(block)
        notePendingTables()
        return summary
      })
  }

  /// Runs the block of a program's transaction, with the write locks of all stores that can be written.
  ///
  /// Invariant: the locks are released when this returns or throws, and what was committed within the block stays.
  /// Followers are called before the block, since the commits that were applied as the locks were taken have changed
  /// what they show.
  private func runTransaction(_ block: () throws -> Void) throws -> SaveSummary? {
    guard heldStores == nil, !isSaving else {
      // Nested in another transaction or a save, which has the locks.
      try block()
      try save()
      return nil
    }
    heldStores = try begin(
      stores.indices.filter { stores[$0].configuration.allowsSave }, isDurable: false)
    let summary: SaveSummary?
    do {
      notifyFollowers()
      try block()
      isLastSave = true
      summary = try saveAlone(noting: nil)
    } catch {
      do {
        try endHeldStores()
      } catch let second {
        Report.problem("What a transaction's block had committed was lost: \(second)")
      }
      throw error
    }
    try endHeldStores()
    return summary
  }

  // MARK: Deleting by predicate

  /// Deletes the stored objects that match, at once, and takes new ones that match out of the context.
  ///
  /// One DELETE statement if nothing depends on the objects: no relationship of the class or to it, no class
  /// hierarchy, no external files, nothing pending that the predicate would have to see, and a predicate that SQL
  /// evaluates completely. A custom store is asked to delete them itself, unless something depends on them. Otherwise
  /// the objects are fetched and deleted in a context of their own, which applies delete rules and saves.
  func delete<T: PersistentModel>(
    type: T.Type, matching predicate: Predicate<T>?, includeSubclasses: Bool
  ) throws {
    let descriptor = FetchDescriptor<T>(predicate: predicate)
    let plan = try makePlan(descriptor)
    let isAlone =
      plan.entity.relationships.isEmpty && plan.entity.discriminator == nil && !plan.mergesPending
      && !layout.entities.contains { other in
        other.relationships.contains { other.properties[$0].destination == plan.entity.index }
      }
    let custom = customStore(of: plan.entity)
    if isAlone, let custom {
      let request = DataStoreBatchDeleteRequest(
        predicate: predicate, editingState: editingState, includeSubclasses: includeSubclasses)
      if try !custom.delete(request, of: plan.entity) {
        try deleteObjects(descriptor, includeSubclasses: includeSubclasses)
      }
    } else if isAlone, custom == nil, plan.isExact, !plans[plan.entity.index].hasExternal {
      try deleteRows(plan)
    } else {
      try deleteObjects(descriptor, includeSubclasses: includeSubclasses)
    }
    // New objects are in no store yet.
    for model in try pendingModels(matching: predicate) as [T]
    where model.has(_ModelFlags.inserted) {
      if includeSubclasses || Swift.type(of: model) == type { delete(model) }
    }
    applyCommitsOfOthers()
  }

  /// Deletes stored objects by their relationships' delete rules, in a separate context, so that nothing else of this
  /// context is saved with them.
  private func deleteObjects<T>(
    _ descriptor: FetchDescriptor<T>, includeSubclasses: Bool
  ) throws {
    let context = ModelContext(container)
    context.observesModels = false
    context.author = author
    for model in try context.fetch(descriptor) {
      if includeSubclasses || Swift.type(of: model) == T.self { context.delete(model) }
    }
    try context.save()
  }

  /// One statement for objects that nothing else depends on.
  ///
  /// Locks the store alone, not the context's saves: nothing of the context's pending changes is written.
  private func deleteRows<T>(_ plan: FetchPlan<T>) throws {
    let index = storeIndex[plan.entity.index]
    let entityPlan = plans[plan.entity.index]
    let selection = plan.selection(
      of: entityPlan.identifierColumns, from: entityPlan, limit: nil, offset: nil)
    let connection = try stores[index].begin()
    var written = CommitLog.Rows()
    do {
      let rows = try connection.deleteRows(of: entityPlan, selectedBy: selection)
      // As with a save that has nothing to write: no commit, so other contexts are not notified.
      if rows.isEmpty { return stores[index].rollBack() }
      written.add(.init(name: plan.entity.table, written: rows, deleted: rows))
      connection.changes.author = author
    } catch {
      stores[index].rollBack()
      throw error
    }
    // Without an author, so that this context applies it as the others do.
    try stores[index].commit(from: nil, rows: written)
    stores[index].trimIfDue()
  }
}
