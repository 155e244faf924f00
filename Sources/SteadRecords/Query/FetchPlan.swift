import SteadSQLite

/// A fetch decided, before anything is read: its SQL, and what is left for memory.
///
/// Invariant: SQL alone decides only what it can decide on rows that are up to date. Everything
/// else is decided on objects, which have the pending changes.
struct FetchPlan<T: PersistentModel> {
  let descriptor: FetchDescriptor<T>
  let entity: EntityLayout
  var query: TranslatedQuery
  /// Whether unsaved changes of the context can change the result, so that pending objects are matched and merged in
  /// memory.
  var mergesPending = false

  /// Whether the SQL alone returns the right objects in the right order. Only then may a limit be part of it.
  var isExact: Bool { query.isExact && (query.orderIsExact || descriptor.sortBy.isEmpty) }

  /// Plans a fetch. Costs the translation of its predicate and order.
  ///
  /// If the predicate reads another entity with unsaved changes, its rows are out of date, and no condition over them
  /// can be trusted: the whole predicate is then evaluated on objects.
  ///
  /// - Parameter pendingRoots: The hierarchies with changes that no row has yet.
  /// - Throws: ``SwiftDataError`` `.unknownSchema` if the container's schema lacks the model.
  init(
    _ descriptor: FetchDescriptor<T>, layout: StoreLayout, entities: [ContextEntity],
    pendingRoots: Set<Int>
  ) throws {
    guard let entity = layout.entity(for: T.self) else {
      let unknown = UnknownClass(T.self, in: layout)
      throw SwiftDataError(.unknownSchema, "\(unknown.problem). \(unknown.remedy).")
    }
    self.descriptor = descriptor
    self.entity = entity
    query = try QueryTranslator(
      layout: layout, store: entities[entity.index].lazyPlan.plan.reference.store
    ).translate(
      predicate: descriptor.predicate, sortBy: descriptor.sortBy, entity: entity)
    // Without pending changes the rows say everything.
    guard descriptor.includePendingChanges, !pendingRoots.isEmpty else { return }
    mergesPending = pendingRoots.contains(entity.rootIndex)
    // By hierarchy, since its classes share one table.
    let related = Set(query.relatedEntities.map { layout.entities[$0].rootIndex })
    if !pendingRoots.isDisjoint(with: related) {
      // Rows do not show the pending changes that the predicate reads: it is evaluated on objects.
      query.condition = nil
      query.isExact = descriptor.predicate == nil
      // An order may lead over the related entity, too. All is sorted in memory instead of looking
      // which terms do.
      query.order = nil
      query.orderIsExact = false
      mergesPending = true
    }
  }

  /// The SELECT of some columns of the rows that match.
  ///
  /// An order that SQL has only in part is left out: the objects are sorted in memory, where rows in some of that order
  /// have no advantage. A caller may pass a limit only if ``isExact``; otherwise it would cut off rows before the rest
  /// of the predicate and of the order was applied.
  func selection(
    of columns: String, from plan: EntityPlan, limit: Int?, offset: Int?
  ) -> SQLFragment {
    plan.selection(
      of: columns, where: query.condition, order: query.orderIsExact ? query.order : nil,
      limit: limit, offset: offset)
  }
}

extension FetchPlan {
  /// The SELECT of all primary keys for a fetch without predicate and order; nil for all other fetches.
  ///
  /// Such a fetch returns rows by primary key. `NOT INDEXED` keeps SQLite from scanning a smaller index, whose order
  /// differs.
  func scan(of plan: EntityPlan) -> String? {
    guard query.condition == nil, query.order == nil, entity.discriminator == nil else {
      return nil
    }
    return "SELECT \"_id\" FROM \(plan.table) NOT INDEXED"
  }

  /// The SELECT of computed columns, grouped by the first ones.
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
