import SteadSQLite

/// A fetch as it will be run: the SQL, and the work left for memory.
struct FetchPlan<T: PersistentModel> {
  let descriptor: FetchDescriptor<T>
  let entity: EntityLayout
  var query: TranslatedQuery
  /// Whether pending changes of the context can change the result.
  var mergesPending = false

  /// Whether SQL alone returns the right objects in the right order.
  var isExact: Bool { query.isExact && (query.orderIsExact || descriptor.sortBy.isEmpty) }

  /// - Parameter pendingRoots: The hierarchies with changes that no row has yet.
  init(
    _ descriptor: FetchDescriptor<T>, layout: StoreLayout, plans: EntityPlans,
    pendingRoots: Set<Int>
  ) throws {
    guard let entity = layout.entity(for: T.self) else {
      let unknown = UnknownClass(T.self, in: layout)
      throw SwiftDataError(.unknownSchema, "\(unknown.problem). \(unknown.remedy).")
    }
    self.descriptor = descriptor
    self.entity = entity
    query = try QueryTranslator(
      layout: layout, store: plans[entity.index].reference.store
    ).translate(
      predicate: descriptor.predicate, sortBy: descriptor.sortBy, entity: entity)
    guard descriptor.includePendingChanges, !pendingRoots.isEmpty else { return }
    mergesPending = pendingRoots.contains(entity.rootIndex)
    let related = Set(query.relatedEntities.map { layout.entities[$0].rootIndex })
    if !pendingRoots.isDisjoint(with: related) {
      // Rows do not show the pending changes that the predicate reads: it is evaluated on objects.
      query.condition = nil
      query.isExact = descriptor.predicate == nil
      query.order = nil
      query.orderIsExact = false
      mergesPending = true
    }
  }

  /// The SELECT of some columns.
  func selection(
    of columns: String, from plan: EntityPlan, limit: Int?, offset: Int?
  ) -> SQLFragment {
    plan.selection(
      of: columns, where: query.condition, order: query.orderIsExact ? query.order : nil,
      limit: limit, offset: offset)
  }
}

extension FetchPlan {
  /// The SELECT of the numbers of all rows, in the order in which a fetch without predicate and order returns them; nil
  /// for other fetches, since an index could change their order.
  func scan(of plan: EntityPlan) -> String? {
    guard query.condition == nil, query.order == nil, entity.discriminator == nil else {
      return nil
    }
    return "SELECT \"_id\" FROM \(plan.table) NOT INDEXED"
  }

  /// The SELECT of computed columns; the first of them form the groups.
  func selection(
    of columns: [SQLFragment], groups: Int, from plan: EntityPlan
  ) -> SQLFragment {
    let list = SQLFragment.joined(columns, by: ", ")
    let rows = selection(of: list.sql, from: plan, limit: nil, offset: nil)
    return SQLFragment(
      sql: rows.sql + SQLFragment.grouping(byFirst: groups),
      bindings: list.bindings + rows.bindings)
  }
}
