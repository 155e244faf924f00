extension ModelContext {
  /// The SQL that a fetch runs, for reading; its values are bound, not part of the text.
  ///
  /// Throws what ``fetch(_:)`` throws for a predicate or a sort order that cannot be used.
  @_disfavoredOverload
  public func sql<T: PersistentModel>(for descriptor: FetchDescriptor<T>) throws -> String {
    let plan = try graph.makePlan(descriptor)
    let entityPlan = graph.plans[plan.entity.index]
    let sql = plan.selection(
      of: entityPlan.columnList, from: entityPlan, limit: descriptor.fetchLimit,
      offset: descriptor.fetchOffset
    ).sql
    return plan.isExact ? sql : sql + " -- and a check in memory"
  }
}
