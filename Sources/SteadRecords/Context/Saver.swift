import Foundation

/// Saves a context: when, and by which thread. Each attempt is a ``SaveRun``.
final class Saver {
  // Unowned without a check: the engine owns this part, and nothing else keeps it.
  unowned(unsafe) let graph: ObjectGraph

  let lock = SaveLock()
  var autosaves = false
  /// Whether the last autosave failed, so that each change may have mended the cause.
  var autosaveFailed = false {
    // A change of a property that is marked as changed already is reported by `valueWillChange` alone, which is only
    // called while `recordsUndo` is true.
    didSet { graph.updateRecordsUndo() }
  }
  /// Whether a save is under way, within which no other one may begin.
  private var isSaving = false
  /// The stores whose write lock a `transaction(block:)` holds; nil outside.
  private var heldStores: [Int]?
  /// How many transactions the thread had open in each of these stores, with that of the block.
  private var heldLevels: [Int: Int] = [:]

  init(_ graph: ObjectGraph) { self.graph = graph }

  /// Writes all pending changes in one transaction per store; on an error they stay pending.
  ///
  /// Waits for another thread's save of the context.
  ///
  /// - Parameter note: More work within the save's transaction of each store, which is then durable.
  /// - Throws: ``ModelContext/save()`` lists the errors.
  func save(noting note: SaveRun.Note? = nil) throws {
    tellOfSave(
      try exclusively {
        let summary = try saveAlone(noting: note)
        graph.notePendingTables()
        return summary
      })
  }

  /// Saves in a turn; the caller has the lock.
  ///
  /// - Returns: What was saved, if an observer may ask for it.
  func autosave() -> SaveSummary? {
    guard autosaves, graph.pending.hasChanges else { return nil }
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
  /// ``ObjectGraph/notePendingTables()`` has been called within the lock.
  func tellOfSave(_ summary: SaveSummary?) {
    if let summary { SaveNotification.didSave.post(graph.context, summary) }
    graph.commits.followers.notify()
  }

  /// Runs a body while no other thread saves the context.
  private func exclusively<Result>(_ body: () throws -> Result) throws -> Result {
    // Not waited for by a thread that is within a store's transaction: the thread that saves may be waiting for that
    // store.
    guard lock.lock(waits: !graph.stores.contains(where: \.writer.isWritingHere)) else {
      throw SwiftDataError(
        .saveInProgress,
        "save() was called in a transaction's block while another thread saves the context. Save before or after "
          + "the transaction, or use a context of this thread's own in it.")
    }
    defer { endExclusive() }
    return try body()
  }

  /// Releases the save lock, and requests a turn if one was skipped meanwhile.
  func endExclusive() {
    if lock.unlock() { graph.commits.listener.schedule() }
  }

  /// Saves with the save lock, in as many attempts as changes of custom stores by other programs require.
  ///
  /// Invariant: `isSaving` is true exactly while it runs, so that what an observer of `willSave` or an app's store
  /// calls cannot save within this save. Without changes nothing is written, and only other contexts' commits are
  /// applied.
  ///
  /// - Parameter endsTransaction: Whether this is the save at the end of a transaction's block.
  /// - Returns: What was saved, if an observer may ask for it.
  private func saveAlone(
    noting note: SaveRun.Note?, endsTransaction: Bool = false
  ) throws -> SaveSummary? {
    guard !isSaving else {
      throw SwiftDataError(
        .saveInProgress,
        "save() was called while the context saves. Call it in an observer of didSave, not of "
          + "willSave, or after the save.")
    }
    try throwMisuse()
    guard graph.pending.hasChanges else {
      // What is left of changes that cancelled each other, such as pairs, and the flags' gaps.
      graph.pending.removeAll()
      graph.commits.applyCommitsOfOthers()
      return nil
    }
    isSaving = true
    defer {
      isSaving = false
      // After a save that succeeded it finds nothing: `endSave` has taken all.
      graph.undo.endFailedSave()
    }
    SaveNotification.willSave.post(graph.context)
    // One attempt less: the last one is made below, and its error is the program's.
    for _ in 1..<Self.saveAttempts {
      do {
        return try saveOnce(noting: note, endsTransaction: endsTransaction)
      } catch let error as OutdatedSave {
        // A custom store that has saved cannot be rolled back, and a second attempt would insert its new objects
        // again.
        if error.hasSavedOthers { throw error.reason }
      }
    }
    do {
      return try saveOnce(noting: note, endsTransaction: endsTransaction)
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
  private func saveOnce(noting note: SaveRun.Note?, endsTransaction: Bool) throws -> SaveSummary? {
    let run = try SaveRun(graph, noting: note, within: heldStores, levels: heldLevels)
    let result: SaveResult
    do {
      result = try run.save()
    } catch {
      if run.hasBegun {
        run.rollBack()
        graph.editor.restoreCutSides()
      }
      // The block goes on after it has caught the error.
      if let heldStores, !run.isNested { hold(heldStores, again: run.savepoints) }
      throw run.hasBegun ? SwiftDataError.ofSave(error) : error
    }
    if endsTransaction {
      // What observers save from now on is not the transaction's.
      heldStores = nil
    } else if let held = heldStores, !run.isNested {
      // The block of a transaction continues with the lock, or without it if that cannot be had again: the rows are
      // committed, and a save that took its objects for pending would insert them a second time.
      do {
        try resume(held)
      } catch {
        heldStores = nil
        _ = run.finish(result)
        throw SwiftDataError.ofSave(error)
      }
    }
    return run.finish(result)
  }

  /// Throws an error for the calls that had no effect, and forgets them: each is reported once.
  private func throwMisuse() throws {
    guard let first = graph.pending.misuses.first else { return }
    let messages = Set(graph.pending.misuses.map(\.error.message)).sorted()
    // Before throwing: nothing is left to correct, since the calls had no effect, and the next save must proceed.
    graph.pending.misuses = []
    var text = messages.prefix(Misuses.namedLimit).joined(separator: " ")
    if messages.count > Misuses.namedLimit {
      text += " The same applies to \(messages.count - Misuses.namedLimit) more objects."
    }
    throw SwiftDataError(first.error.code, text)
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
        graph.notePendingTables()
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
    let writable = graph.stores.indices.filter { graph.stores[$0].configuration.allowsSave }
    return try SaveRun.transact(in: writable[...], of: graph, isDurable: false) {
      heldStores = writable
      for index in writable { heldLevels[index] = graph.stores[index].writer.level }
      let summary: SaveSummary?
      do {
        graph.notifyFollowers()
        try block()
        summary = try saveAlone(noting: nil, endsTransaction: true)
      } catch {
        endReporting(heldStores ?? [])
        didEndHeldStores()
        throw error
      }
      defer { didEndHeldStores() }
      try end(heldStores ?? [])
      return summary
    }
  }

  /// Begins a program's transaction again in stores where a save in its block has ended it: in all of them, or, if it
  /// throws, in none.
  ///
  /// The only transactions that begin without a closure: the block goes on in them, and cannot be called again. The
  /// closure of ``runTransaction(_:)`` ends them, whatever is thrown. No lock of a later store may be kept meanwhile:
  /// it could be what the thread waits for that has the lock of an earlier one.
  private func resume(_ indices: [Int]) throws {
    var resumed: [Int] = []
    do {
      for index in indices {
        let connection = try graph.stores[index].writer.resume()
        resumed.append(index)
        SaveRun.applyCommits(to: index, of: graph, connection)
      }
    } catch {
      // Each lock that was taken is released, or the next save of another thread would wait forever.
      for index in resumed { graph.stores[index].writer.rollBack() }
      throw error
    }
  }

  /// Continues a program's transaction after a save in its block has failed.
  ///
  /// Where it has ended, by the save or by SQLite, which ends one itself after some errors, it begins again. In the
  /// stores after the first of these it is ended, too, with what was committed within it, since locks are taken in the
  /// stores' order. If a lock cannot be had again, it is ended in all stores: saves in the rest of the block then take
  /// the locks themselves.
  private func hold(_ held: [Int], again protected: Set<Int>) {
    let lost = held.filter { index in
      let writer = graph.stores[index].writer
      // A transaction that is open may also be another context's, around this one.
      return !protected.contains(index) || !writer.isInTransaction || !isHeld(index)
    }
    guard let first = lost.first else { return }
    let later = held.filter { $0 >= first }
    // What SQLite has taken back is reported by the store, and the save's own error is thrown.
    for index in later where isHeld(index) && !graph.stores[index].writer.isInTransaction {
      graph.stores[index].writer.rollBack()
    }
    endReporting(later)
    do {
      try resume(later)
    } catch {
      // No lock is kept that nobody would release.
      endReporting(held.filter { $0 < first })
      heldStores = nil
      Report.problem(
        "A transaction's block goes on without its locks, since a save in it has failed: \(error)")
    }
  }

  /// Ends a program's transaction in some stores. Only reports an error, since another one is thrown.
  private func endReporting(_ stores: [Int]) {
    do {
      try end(stores)
    } catch {
      Report.problem("What a transaction's block had committed was lost: \(error)")
    }
  }

  /// Whether the transaction of the block has not ended in a store.
  private func isHeld(_ index: Int) -> Bool {
    graph.stores[index].writer.level >= heldLevels[index] ?? 0
  }

  /// Ends a program's transaction in some stores with what was committed within it, unless it has ended there. That
  /// stays even if the block or its save throws.
  ///
  /// - Throws: The first error, when no lock of these stores is kept.
  private func end(_ stores: [Int]) throws {
    var first: (any Error)?
    for index in stores where isHeld(index) {
      let writer = graph.stores[index].writer
      do {
        if graph.customStores.isEmpty || graph.customStores[index] == nil {
          try writer.commitInnerWork()
        } else {
          // The block may have fetched objects into the mirror, which are registered now. Rolled back, their rows
          // would be missing.
          try writer.commit(from: nil, rows: CommitLog.Rows())
        }
      } catch {
        first = first ?? error
      }
    }
    if let first { throw first }
  }

  /// Called when a program's transaction has ended in all stores.
  private func didEndHeldStores() {
    heldStores = nil
    for store in graph.stores { store.removeDroppedFiles() }
  }
}
