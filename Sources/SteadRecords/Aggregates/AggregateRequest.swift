import Foundation
import SteadSQLite

/// The one group of an aggregate that is not grouped.
struct NoGroup: Hashable {}

/// An aggregate over the objects of one class, in groups.
struct AggregateRequest<Model: PersistentModel, Group: Hashable> {
  let graph: ObjectGraph
  let function: AggregateFunction
  /// What is aggregated; nil when objects are counted.
  let value: AnyKeyPath?
  /// What the groups are made by; nil for one group.
  let group: AnyKeyPath?
  let predicate: Predicate<Model>?

  /// Runs in SQL if SQL gives the same result as Swift and no unsaved changes are in the way; otherwise over fetched
  /// objects.
  ///
  /// `row` and `object` each take one more row of results, or one more object, into a group's state.
  func run<State>(
    row: (inout State?, ArraySlice<SQLValue>) throws -> Void,
    object: (inout State?, Model) throws -> Void
  ) throws -> [Group: State] {
    var states: [Group: State] = [:]
    if let rows = try rows() {
      for values in rows {
        var values = values[...]
        let key = try self.key(&values)
        try row(&states[key], values)
      }
      return states
    }
    for model in try graph.fetch(FetchDescriptor(predicate: predicate)) {
      let subject: Any = model
      let read = group.map { subject[keyPath: $0] } ?? NoGroup()
      guard let key = read as? Group else { throw Self.mismatch(group) }
      try object(&states[key], model)
    }
    return states
  }

  private func key(_ values: inout ArraySlice<SQLValue>) throws -> Group {
    guard group != nil else {
      guard let key = NoGroup() as? Group else { throw Self.mismatch(group) }
      return key
    }
    guard let key = values.popFirst()?.decoded(as: Group.self) else { throw Self.mismatch(group) }
    return key
  }

  static func mismatch(_ keyPath: AnyKeyPath?) -> SwiftDataError {
    let path = keyPath.map { "\($0)" } ?? "the result"
    return SwiftDataError(
      .unreadableValue, "\(Model.self): a column does not hold values of the type of \(path).")
  }

  /// The rows that SQL returns; nil if objects must be fetched instead.
  private func rows() throws -> [[SQLValue]]? {
    let plan = try graph.makePlan(FetchDescriptor(predicate: predicate))
    guard !plan.mergesPending, plan.isExact else { return nil }
    try graph.mirror(plan.entity)
    let translator = AggregateTranslator(
      layout: graph.layout, entity: plan.entity, store: nil)
    guard let columns = columns(translator) else { return nil }
    let related = Set(translator.relatedEntities.map { graph.layout.entities[$0].rootIndex })
    guard graph.pending.roots.isDisjoint(with: related) else { return nil }
    let groups = (group == nil ? 0 : 1) + (function == .values ? 1 : 0)
    let sql = plan.selection(of: columns, groups: groups, from: graph.plans[plan.entity.index])
    return try graph.readNewest(of: graph.storeIndex[plan.entity.index]) {
      try $0.rows(sql.sql, sql.bindings)
    }
  }

  private func columns(_ translator: AggregateTranslator) -> [SQLFragment]? {
    do {
      let key = try group.map { try translator.scalar($0).operand }
      let scalar = try value.map { try translator.scalar($0) }
      let counted = Scalar(sql: "1", encoding: .integer)
      guard let results = translator.results(of: function, over: scalar ?? counted) else {
        return nil
      }
      return [key].compactMap { $0 } + results
    } catch { return nil }
  }
}
