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

// MARK: - Partial fetches

/// The columns of a fetch that reads some properties only, see ``FetchDescriptor/propertiesToFetch``.
///
/// A class, since the row reader holds the map's address for as long as rows are read.
final class PartialColumns {
  /// The columns, as written after SELECT.
  let columnList: String
  /// The index of each property's column in the rows; -1 for those that are not read.
  let map: UnsafeMutablePointer<Int32>
  /// The properties that a row sets. To-many relationships count as loaded: they have no column.
  let loaded: PropertySet
  /// The columns that name which of several relationships a row is in.
  let lists: [ListColumn]

  /// Nil if all columns are wanted, or if the rows may be of several classes.
  init?<T: PersistentModel>(_ keyPaths: [PartialKeyPath<T>], _ plan: EntityPlan) {
    // In a hierarchy each row may be of another class, and one map of columns cannot serve them
    // all.
    guard !keyPaths.isEmpty, plan.entity.discriminator == nil else { return nil }
    let wanted = Set(keyPaths.compactMap { plan.entity.propertyIndex(of: $0) })
    var columns: [String] = []
    map = UnsafeMutablePointer<Int32>.allocate(capacity: max(plan.entity.properties.count, 1))
    // -1 is what makes a slot keep its placeholder: every column that the SELECT lacks must have
    // it.
    map.initialize(repeating: -1, count: max(plan.entity.properties.count, 1))
    // A `let` has no accessor that could read it later, so it is always among the columns. It is stored under its
    // name; the macro stores a `var` in a slot of another one.
    let constants = storedPropertyOffsets(in: T.self, plan.entity.properties.map(\.name))
    var loaded = PropertySet()
    var lists: [ListColumn] = []
    for (property, constant) in zip(plan.entity.properties, constants) {
      if let column = property.column {
        guard constant != nil || wanted.contains(property.index) else { continue }
        columns.append(column)
        // Column 0 is the row's number, so the first property has column 1.
        map[property.index] = Int32(columns.count)
        // A reference without its list's number would be in the wrong list.
        if let list = property.listColumn {
          columns.append(list)
          lists.append(ListColumn(property: property, index: Int32(columns.count)))
        }
      }
      loaded.insert(property.index)
    }
    self.loaded = loaded
    self.lists = lists
    columnList = plan.columnList(of: columns)
  }

  deinit { map.deallocate() }
}
