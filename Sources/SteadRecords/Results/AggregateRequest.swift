import Foundation
import SteadSQLite

/// The key of an aggregate without groups.
struct NoGroup: Hashable {}

/// An aggregate over the objects of one class, in groups.
///
/// It runs as one SELECT with GROUP BY if SQL gives Swift's result, and over fetched objects otherwise; both ways
/// feed the same state of a group, so that the functions of ``ModelContext`` are written once.
struct AggregateRequest<Model: PersistentModel, Group: Hashable> {
  let graph: ObjectGraph
  let function: AggregateFunction
  /// The property that is aggregated; nil to count objects.
  let value: AnyKeyPath?
  /// The property whose values form the groups; nil for a single group.
  let group: AnyKeyPath?
  let predicate: Predicate<Model>?

  /// Computes the state of each group.
  ///
  /// Two rows of results can belong to one group, if SQL tells keys apart that are equal in Swift. So `row` adds to a
  /// state, as `object` does.
  ///
  /// - Parameters:
  ///   - row: Adds a row of results, without the key, to a group's state.
  ///   - object: Adds an object to a group's state.
  /// - Throws: ``SwiftDataError`` `.unreadableValue` for a column that does not hold values of the property's type.
  func run<State>(
    row: (inout State?, ArraySlice<SQLValue>) throws -> Void,
    object: (inout State?, Model) throws -> Void
  ) throws -> [Group: State] {
    var states: [Group: State] = [:]
    // NaN equals no key, itself included. It is one group nevertheless, as in SQL. A struct that has one stays as it is.
    var (notANumber, ofNotANumber): (Group?, State?)
    func update(_ key: Group, _ body: (inout State?) throws -> Void) rethrows {
      guard key != key, key is any FloatingPoint else { return try body(&states[key]) }
      notANumber = key
      try body(&ofNotANumber)
    }
    // SQL has done the grouping, save for keys that only Swift finds equal.
    if let rows = try rows() {
      for values in rows {
        var values = values[...]
        let key = try self.key(&values)
        try update(key) { try row(&$0, values) }
      }
    } else {
      for model in try FetchRunner(graph).fetch(FetchDescriptor(predicate: predicate)) {
        // Through Any, since the key path's root may be a superclass.
        let subject: Any = model
        let read = group.map { subject[keyPath: $0] } ?? NoGroup()
        guard let key = read as? Group else { throw mismatch(group) }
        try update(key) { try object(&$0, model) }
      }
    }
    if let notANumber { states[notANumber] = ofNotANumber }
    return states
  }

  /// Takes the key off a row of results.
  private func key(_ values: inout ArraySlice<SQLValue>) throws -> Group {
    guard group != nil else {
      guard let key = NoGroup() as? Group else { throw mismatch(group) }
      return key
    }
    guard let key = values.popFirst()?.decoded(as: Group.self) else { throw mismatch(group) }
    return key
  }

  /// The error for a column that does not hold values of a property's type.
  func mismatch(_ keyPath: AnyKeyPath?) -> SwiftDataError {
    let path = keyPath.map { name(of: $0) } ?? "the result"
    return SwiftDataError(
      .unreadableValue,
      "\(Model.self): a column does not hold values of the type of \(path). Repair the column, or leave out its rows by a "
        + "predicate.")
  }

  /// The error for a sum that does not fit the property's type.
  func overflow(_ keyPath: AnyKeyPath) -> SwiftDataError {
    SwiftDataError(
      .storeFailure,
      "The sum of \(name(of: keyPath)) does not fit into the property's type. Average the values, or sum a property "
        + "of a wider type.")
  }

  /// A property as the program writes it. The description of a key path has only an address for a property with
  /// accessors, as the macro makes them.
  private func name(of keyPath: AnyKeyPath) -> String {
    guard var entity = graph.layout.entity(for: Model.self),
      let indices = entity.propertyByKeyPath[keyPath].map({ [$0] })
        ?? TracedPath.find(keyPath, from: entity, in: graph.layout)
    else { return "\(type(of: keyPath).valueType) of \(Model.self)" }
    var names = [entity.name]
    for index in indices {
      let property = entity.properties[index]
      names.append(property.name)
      if case .toOne(let destination) = property.kind {
        entity = graph.layout.entities[destination]
      }
    }
    return names.joined(separator: ".")
  }

  /// The rows of results; nil if objects must be fetched: the predicate or the property has no exact SQL, or unsaved
  /// changes of a class that is read are not in the rows yet.
  private func rows() throws -> [[SQLValue]]? {
    let plan = try FetchRunner(graph).makePlan(FetchDescriptor(predicate: predicate))
    // Unsaved values are not in the rows, and a part in memory needs the objects.
    guard !plan.mergesPending, plan.isExact else { return nil }
    // A custom store's rows must be complete in the mirror before SQL adds them up.
    try FetchRunner(graph).mirror(plan.entity)
    // Without a store, since key paths capture no objects, of which some might be another store's.
    let translator = AggregateTranslator(
      layout: graph.layout, entity: plan.entity, store: nil)
    guard let columns = columns(translator) else { return nil }
    // A key path may lead to objects of another class, whose unsaved values the rows do not have.
    let related = Set(translator.relatedEntities.map { graph.layout.entities[$0].rootIndex })
    guard graph.pending.roots.isDisjoint(with: related) else { return nil }
    // For different values, the value itself is a column that the rows are grouped by.
    let groups = (group == nil ? 0 : 1) + (function == .values ? 1 : 0)
    let sql = plan.selection(
      of: columns, groups: groups, from: graph.entities[plan.entity.index].lazyPlan.plan)
    return try graph.commits.readNewest(of: graph.entities[plan.entity.index].storeIndex) {
      try $0.rows(sql.sql, sql.bindings)
    }
  }

  /// The result columns, those of the key first; nil if one of them has no SQL.
  private func columns(_ translator: AggregateTranslator) -> [SQLFragment]? {
    do {
      let key = try group.map { try translator.scalar($0).operand }
      let isOrdered = function == .minimum || function == .maximum
      let scalar = try value.map {
        try isOrdered ? translator.orderedScalar($0) : translator.scalar($0)
      }
      let counted = Scalar(sql: "1", encoding: .integer)
      guard let results = translator.results(of: function, over: scalar ?? counted) else {
        return nil
      }
      return [key].compactMap { $0 } + results
      // A property without SQL is no error: the objects are fetched instead.
    } catch { return nil }
  }
}

// MARK: - Functions

// What the grouped and the ungrouped functions share.
extension ModelContext {
  /// The sum of each group.
  ///
  /// - Parameter read: The property, for objects in memory.
  func sums<T: PersistentModel, V: Numeric, K: Hashable>(
    _ value: AnyKeyPath, _ read: (T) -> V?, by group: AnyKeyPath?, _ key: K.Type,
    _ predicate: Predicate<T>?
  ) throws -> [K: V] {
    let request = AggregateRequest<T, K>(
      graph: linkedGraph(), function: .sum, value: value, group: group, predicate: predicate)
    let states: [K: GroupSum<V>] = try request.run(
      row: { state, row in
        guard let total = NumberTotal(row: row) else {
          throw request.mismatch(value)
        }
        state = state ?? GroupSum()
        state?.add(total)
      },
      object: { state, model in
        // A group of nil alone has the sum zero.
        state = state ?? GroupSum()
        if let number = read(model) { state?.add(number) }
      })
    return try states.mapValues {
      guard let sum = $0.value else { throw request.overflow(value) }
      return sum
    }
  }

  /// The average of each group that has a value.
  func averages<T: PersistentModel, V: Numeric, K: Hashable>(
    _ value: AnyKeyPath, _ read: (T) -> V?, by group: AnyKeyPath?, _ key: K.Type,
    _ predicate: Predicate<T>?
  ) throws -> [K: Double] {
    let request = AggregateRequest<T, K>(
      graph: linkedGraph(), function: .average, value: value, group: group, predicate: predicate)
    func merge(_ state: inout GroupAverage?, _ new: GroupAverage) {
      if state == nil { state = new } else { state?.add(new) }
    }
    let states: [K: GroupAverage] = try request.run(
      row: { state, row in
        guard let total = NumberTotal(row: row), let count = row.last?.decoded(as: Int.self) else {
          throw request.mismatch(value)
        }
        merge(&state, GroupAverage(total, count: count))
      },
      object: { state, model in
        guard let number = read(model) else { return }
        merge(&state, GroupAverage(AggregateArithmetic.total(number)))
      })
    return states.compactMapValues(\.value)
  }

  /// The least or the greatest value of each group that has one.
  func extremes<T: PersistentModel, V: Comparable, K: Hashable>(
    _ function: AggregateFunction, _ value: AnyKeyPath, _ read: (T) -> V?, by group: AnyKeyPath?,
    _ key: K.Type, _ predicate: Predicate<T>?
  ) throws -> [K: V] {
    let request = AggregateRequest<T, K>(
      graph: linkedGraph(), function: function, value: value, group: group, predicate: predicate)
    func merge(_ state: inout V??, _ new: V?) {
      // The group exists, even if it has no value yet; it is left out at the end.
      guard let new, AggregateArithmetic.isNumber(new) else { return state = state ?? .some(nil) }
      guard let old = state ?? nil else { return state = .some(new) }
      state = .some((function == .minimum ? new < old : new > old) ? new : old)
    }
    let states: [K: V?] = try request.run(
      row: { state, row in
        guard let read = row.first?.decoded(as: V?.self) else {
          throw request.mismatch(value)
        }
        merge(&state, read)
      },
      object: { state, model in merge(&state, read(model)) })
    return states.compactMapValues { $0 }
  }
}
