import Foundation

/// One attempt to save a context: what it writes, and the transactions in which it does.
///
/// `save()` has the transactions; then `finish()` follows, or, if it throws after it has begun them, `rollBack()`.
///
/// A class, though it lives for one call: a copy for each step would retain all of it.
final class SaveRun {
  /// More work for a save's transaction, which is then durable.
  typealias Note = (RecordStore, StoreConnection, SaveResult) throws -> Void

  let graph: ObjectGraph
  private let note: Note?
  /// The versions that custom stores had when they were checked.
  private let versions: [Int: Any]
  /// Whether the transactions are a program's, which goes on after the save.
  private let isHeld: Bool
  /// The stores that take part, in the order of their locks.
  let opened: [Int]
  /// Those of them in which the save was not committed.
  private var open: [Int]
  /// Those where the save is a savepoint within a program's transaction: all of them, if others have committed within
  /// that, if there are several, or if another context's transaction is open within it.
  ///
  /// Without it, a save that fails would roll back the whole transaction, and with it commits that their authors take
  /// for made. It would also release the locks of some stores, which cannot be taken again while others are kept.
  let savepoints: Set<Int>
  /// Whether another context's transaction is open within the program's: the save is part of that one, which is not ended.
  let isNested: Bool
  /// Whether all transactions were begun, so that there is something to take back.
  private(set) var hasBegun = false

  /// Brings what is checked into the mirrors of custom stores, and determines the stores to write.
  ///
  /// - Parameters:
  ///   - held: The stores of the program's transaction; nil outside one.
  ///   - levels: How many transactions were open in each of them as it began.
  init(
    _ graph: ObjectGraph, noting note: Note?, within held: [Int]?, levels: [Int: Int]
  ) throws {
    (self.graph, self.note, isHeld) = (graph, note, held != nil)
    // In transactions of their own, so that what they bring into the mirrors stays if the save fails.
    versions = graph.customStores.isEmpty ? [:] : try CustomStoreCheck(graph).prepare()
    opened = held ?? Self.storesToSave(of: graph)
    open = opened
    let held = held ?? []
    isNested = held.contains { graph.stores[$0].writer.level > levels[$0] ?? 0 }
    let needsSavepoints =
      isNested || held.count > 1 || held.contains { graph.stores[$0].writer.hasInnerWork }
    savepoints = needsSavepoints ? Set(held) : []
  }

  // MARK: Transactions

  /// The stores that have, or by a delete rule may have, something to write.
  private static func storesToSave(of graph: ObjectGraph) -> [Int] {
    if graph.stores.count == 1 { return [0] }
    return Set(graph.pending.roots.map { graph.entities[$0].storeIndex }).sorted()
  }

  /// Runs a body in transactions on some stores, each within the one before, to which others' commits were applied.
  ///
  /// The locks are taken in the stores' order, so that two saves cannot wait for each other. Commits are applied with
  /// the lock, so that none can come between what the save is checked against and what it writes.
  ///
  /// What the body doesn't commit is rolled back.
  static func transact<Result>(
    in stores: ArraySlice<Int>, of graph: ObjectGraph, isDurable: Bool,
    _ body: () throws -> Result
  ) throws -> Result {
    guard let index = stores.first else { return try body() }
    return try graph.stores[index].writer.transact(isDurable: isDurable) { connection in
      applyCommits(to: index, of: graph, connection)
      return try transact(in: stores.dropFirst(), of: graph, isDurable: isDurable, body)
    }
  }

  /// Applies what other contexts, or deletions by predicate, have committed, in the transaction that was just begun.
  static func applyCommits(to index: Int, of graph: ObjectGraph, _ connection: StoreConnection) {
    let number = graph.stores[index].writer.number
    graph.commits.apply(
      graph.commits.inbox.news(of: index, upTo: number), in: index, connection)
  }

  /// Writes and commits the save, in transactions of its own, or in those of a program's transaction.
  ///
  /// The locks are released as the stores are committed.
  func save() throws -> SaveResult {
    let begun = isHeld ? opened.filter(savepoints.contains) : opened
    return try Self.transact(in: begun[...], of: graph, isDurable: !isHeld && note != nil) {
      hasBegun = true
      let result = try write()
      try commit(result)
      return result
    }
  }

  // MARK: Writing

  /// Checks the stores' places and the pending changes, plans the save, and writes it to the open transactions.
  ///
  /// The order matters. Denials are checked first, so that a save that a `deny` rule refuses has changed nothing.
  /// Delete rules are applied before the other checks, because they may clear a required reference or remove members.
  /// Duplicates are merged before the plan is made, so that no two new objects are written to one row. From the plan
  /// on, nothing may change `pending`: the plan holds the states of its objects by address, and `finish` cleans
  /// exactly those.
  ///
  /// If it throws, new objects have their temporary numbers again.
  ///
  /// Invariant: no row is written before all checks that need no written row have passed, and `pending` does not change
  /// from the plan on.
  private func write() throws -> SaveResult {
    // Before the first is written: a block may have held them for long, and no store takes back what it has committed. A
    // single store was compared as its transaction began.
    if isHeld || opened.count > 1 {
      for index in opened { try graph.stores[index].writer.checkPlace() }
    }
    // Objects that other contexts have linked to a deleted object are found in the rows.
    let readsRows = graph.commits.hasNews
    if readsRows, graph.pending.ruleEffects.needsReview { RuleReview.run(graph) }
    try SaveValidator(graph: graph).checkDenials(readsRows: readsRows)
    try DeleteRules(graph).applyRulesAgain(readsRows: readsRows)
    try SaveValidator(graph: graph).run()
    if graph.concernsKeys { try graph.merger.mergeDuplicates() }
    let result = SaveResult(
      SavePlan(&graph.pending, sides: graph.pending.sides.compactMap(sideToSave)), of: graph)
    let saves = try customSaves(of: result)
    do {
      for index in result.stores {
        try graph.stores[index].writer.joinTransaction { connection in
          try SaveWriter.write(result, to: index, connection)
          try note?(graph.stores[index], connection, result)
          connection.changes.author = graph.author
        }
      }
      // Last, since what a custom store has saved is not taken back.
      for (place, save) in saves.enumerated() {
        do {
          try save.run(result)
          graph.undo.noteCommit()
        } catch var error as OutdatedSave {
          // Those before it have saved, and a custom store cannot take that back.
          error.hasSavedOthers = place > 0
          throw error
        }
      }
    } catch {
      result.revert()
      throw error
    }
    return result
  }

  /// What a save hands to custom stores, begun before it writes a row.
  private func customSaves(of save: SaveResult) throws -> [CustomSave] {
    if graph.customStores.isEmpty { return [] }
    return try save.stores.compactMap { index in
      try graph.customStores[index].map {
        try CustomSave(to: $0, at: index, of: graph, save, checkedAt: versions[index])
      }
    }
  }

  /// A changed list as the save writes it; nil if its owner has left, or its changes have cancelled each other.
  private func sideToSave(_ side: PendingChanges.Side) -> SavePlan.Side? {
    guard graph.isHere(side.owner), case .toMany(let targets) = side.owner.content(at: side.index),
      let delta = targets.delta, !delta.isEmpty
    else { return nil }
    let additions = delta.additions.compactMap { $0 as? any PersistentModel }
    // Loaded before the save writes: afterwards the query would find the rows of new objects, which are not
    // registered before `finish`, and make second objects of them.
    return SavePlan.Side(
      owner: side.owner, property: graph.entity(of: side.owner).properties[side.index],
      additions: additions,
      members: delta.ordering == nil
        ? additions : graph.reader.targets(of: side.owner, at: side.index),
      isOrdered: delta.ordering != nil)
  }

  /// Commits, and takes out of `open` each store whose transaction has ended, also by an error.
  private func commit(_ result: SaveResult) throws {
    do {
      for index in open {
        // First, because a commit that throws has ended its transaction itself.
        open.removeFirst()
        // With a single context nobody asks for the rows. One that is made at this moment, and reads before the
        // commit, takes every row as changed.
        let rows = graph.stores[index].log.hasSeveralContexts ? result.rows(in: index) : nil
        let store = graph.stores[index].writer
        let number = try store.commit(from: graph.commits.listener.reader, rows: rows)
        // The program's transaction around the savepoint.
        if savepoints.contains(index), !isNested { try store.commitInnerWork() }
        // The context's objects have this commit already: it must not come back as news.
        graph.commits.inbox.didCommit(number, to: index)
        graph.undo.noteCommit()
        graph.commits.clock.observe(graph.stores[index].log.newestStamp)
      }
    } catch {
      // An object without a row must not keep the number of one, which another object may get.
      result.revert()
      throw error
    }
  }

  /// Takes back the rest of what a failed save has done: rolls back a program's transactions that it has written to
  /// directly, and makes merged objects separate again.
  func rollBack() {
    if isHeld {
      // Stores that have committed are no longer in `open`, and keep the commit.
      for store in open where !savepoints.contains(store) { graph.stores[store].writer.rollBack() }
    }
    open = []
    graph.merger.takeBackMerging()
    // What was recorded of the merge is taken back with it.
    graph.undo.forgetMerge()
    // What was written of large values takes space, which may be what the save lacked.
    if !isHeld { for store in opened { graph.stores[store].removeDroppedFiles() } }
  }
}

extension SaveResult {
  /// The result of a save of a context that has written nothing yet.
  convenience init(_ plan: SavePlan, of graph: ObjectGraph) {
    self.init(
      plan,
      SaveLayout(
        store: graph.layout, entities: graph.entities, stores: graph.stores,
        readsOldRows: graph.commits.hasNews, keepsUniqueRows: graph.merger.keepsUniqueRows))
  }
}
