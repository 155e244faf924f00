extension ModelContext {
  /// The SQL that a fetch runs, for reading; its values are bound, not part of the text.
  ///
  /// Throws what ``fetch(_:)`` throws for a predicate or a sort order that cannot be used.
  public func sql<T: PersistentModel>(for descriptor: FetchDescriptor<T>) throws -> String {
    let plan = try graph.makePlan(descriptor)
    let columns = graph.plans[plan.entity.index].columnList
    let (sql, _) = graph.select(
      plan, columns: columns, limit: descriptor.fetchLimit, offset: descriptor.fetchOffset)
    return plan.isExact ? sql : sql + " -- and a check in memory"
  }
}
