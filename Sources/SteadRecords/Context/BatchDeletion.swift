import Foundation

/// Deletes the stored objects that match a predicate, at once.
struct BatchDeletion {
  let graph: ObjectGraph

  init(_ graph: ObjectGraph) { self.graph = graph }

  // MARK: Deleting by predicate

  /// Deletes the stored objects that match, at once, and takes new ones that match out of the context.
  ///
  /// One DELETE statement if nothing depends on the objects: no relationship of the class or to it, no class
  /// hierarchy, no external files, nothing pending that the predicate would have to see, and a predicate that SQL
  /// evaluates completely. A custom store is asked to delete them itself, unless something depends on them. Otherwise
  /// the objects are fetched and deleted in a context of their own, which applies delete rules and saves.
  ///
  /// Invariant: this context's pending changes are neither written nor lost. Deleted objects leave it with the commit,
  /// which it applies as the other contexts do.
  func delete<T: PersistentModel>(
    type: T.Type, matching predicate: Predicate<T>?, includeSubclasses: Bool
  ) throws {
    let descriptor = FetchDescriptor<T>(predicate: predicate)
    let plan = try FetchRunner(graph).makePlan(descriptor)
    // With a relationship or a hierarchy, rows of other tables or rules depend on the objects, which a DELETE would not
    // know.
    let isAlone =
      plan.entity.relationships.isEmpty && plan.entity.discriminator == nil && !plan.mergesPending
      && !graph.layout.entities.contains { other in
        other.relationships.contains { other.properties[$0].destination == plan.entity.index }
      }
    let custom = graph.customStore(of: plan.entity)
    if isAlone, let custom {
      let request = DataStoreBatchDeleteRequest(
        predicate: predicate, editingState: graph.editingState, includeSubclasses: includeSubclasses
      )
      if try !custom.delete(request, of: plan.entity) {
        try deleteObjects(descriptor, includeSubclasses: includeSubclasses)
      }
    } else if isAlone, custom == nil, plan.isExact,
      !graph.entities[plan.entity.index].lazyPlan.plan.hasExternal
    {
      try deleteRows(plan)
    } else {
      try deleteObjects(descriptor, includeSubclasses: includeSubclasses)
    }
    // New objects are in no store yet.
    for model in try FetchRunner(graph).pendingModels(matching: predicate) as [T]
    where model.has(_ModelFlags.inserted) {
      if includeSubclasses || Swift.type(of: model) == type { DeleteRules(graph).delete(model) }
    }
    // The deletion was a commit without this context as its author.
    graph.commits.applyCommitsOfOthers()
  }

  /// Deletes stored objects by their relationships' delete rules, in a separate context, so that nothing else of this
  /// context is saved with them.
  private func deleteObjects<T>(
    _ descriptor: FetchDescriptor<T>, includeSubclasses: Bool
  ) throws {
    let context = ModelContext(graph.container)
    context.observesModels = false
    context.author = graph.author
    for model in try context.fetch(descriptor) {
      if includeSubclasses || Swift.type(of: model) == T.self { context.delete(model) }
    }
    try context.save()
  }

  /// One statement for objects that nothing else depends on.
  ///
  /// Locks the store alone, not the context's saves: nothing of the context's pending changes is written.
  private func deleteRows<T>(_ plan: FetchPlan<T>) throws {
    let index = graph.entities[plan.entity.index].storeIndex
    let entityPlan = graph.entities[plan.entity.index].lazyPlan.plan
    let selection = plan.selection(
      of: entityPlan.identifierColumns, from: entityPlan, limit: nil, offset: nil)
    // The lock first: an object that another context saves before the DELETE is deleted, too.
    let store = graph.stores[index]
    let hasDeleted = try store.writer.transact { connection in
      let rows = try connection.deleteRows(of: entityPlan, selectedBy: selection)
      // As with a save that has nothing to write: no commit, so other contexts are not notified.
      if rows.isEmpty { return false }
      var written = CommitLog.Rows()
      written.add(.init(name: plan.entity.table, written: rows, deleted: rows))
      connection.changes.author = graph.author
      // Without an author, so that this context applies it as the others do.
      try store.writer.commit(from: nil, rows: written)
      return true
    }
    if hasDeleted { store.trimIfDue() }
  }
}
