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

// MARK: - Functions

// What the grouped and the ungrouped functions share.
extension ModelContext {
  func sums<T: PersistentModel, V: Numeric, K: Hashable>(
    _ value: AnyKeyPath, _ read: (T) -> V?, by group: AnyKeyPath?, _ key: K.Type,
    _ predicate: Predicate<T>?
  ) throws -> [K: V] {
    let request = AggregateRequest<T, K>(
      graph: graph, function: .sum, value: value, group: group, predicate: predicate)
    return try request.run(
      row: { state, row in
        // The second result counts the values that are not a number.
        let sum =
          row.last == .integer(0)
          ? row.first?.decoded(as: V?.self) : SQLValue.text("NaN").decoded(as: V?.self)
        guard let sum else { throw AggregateArithmetic.overflow }
        state = try AggregateArithmetic.sum(state ?? 0, sum ?? 0)
      },
      object: { state, model in
        state = try AggregateArithmetic.sum(state ?? 0, read(model) ?? 0)
      })
  }

  func averages<T: PersistentModel, V: Numeric, K: Hashable>(
    _ value: AnyKeyPath, _ read: (T) -> V?, by group: AnyKeyPath?, _ key: K.Type,
    _ predicate: Predicate<T>?
  ) throws -> [K: Double] {
    let request = AggregateRequest<T, K>(
      graph: graph, function: .average, value: value, group: group, predicate: predicate)
    let states: [K: (total: Double, count: Int)] = try request.run(
      row: { state, row in
        let values = Array(row)
        guard values.count == 3, let total = values[0].decoded(as: Double.self),
          let count = values[1].decoded(as: Int.self)
        else { throw AggregateRequest<T, K>.mismatch(value) }
        let isNumber = values[2] == .integer(0)
        let old = state ?? (0, 0)
        state = (old.total + (isNumber ? total : .nan), old.count + count)
      },
      object: { state, model in
        let old = state ?? (0, 0)
        guard let number = read(model) else { return state = old }
        state = (old.total + AggregateArithmetic.double(number), old.count + 1)
      })
    return states.compactMapValues { $0.count == 0 ? nil : $0.total / Double($0.count) }
  }

  func extremes<T: PersistentModel, V: Comparable, K: Hashable>(
    _ function: AggregateFunction, _ value: AnyKeyPath, _ read: (T) -> V?, by group: AnyKeyPath?,
    _ key: K.Type, _ predicate: Predicate<T>?
  ) throws -> [K: V] {
    let request = AggregateRequest<T, K>(
      graph: graph, function: function, value: value, group: group, predicate: predicate)
    func merge(_ state: inout V??, _ new: V?) {
      guard let new, AggregateArithmetic.isNumber(new) else { return state = state ?? .some(nil) }
      guard let old = state ?? nil else { return state = .some(new) }
      state = .some((function == .minimum ? new < old : new > old) ? new : old)
    }
    let states: [K: V?] = try request.run(
      row: { state, row in
        guard let read = row.first?.decoded(as: V?.self) else {
          throw AggregateRequest<T, K>.mismatch(value)
        }
        merge(&state, read)
      },
      object: { state, model in merge(&state, read(model)) })
    return states.compactMapValues { $0 }
  }
}

// MARK: - Arithmetic

/// Sums that throw where Swift's would trap.
enum AggregateArithmetic {
  static func sum<V: Numeric>(_ left: V, _ right: V) throws -> V {
    guard let left = left as? any FixedWidthInteger else { return left + right }
    return try checked(left, right)
  }

  private static func checked<I: FixedWidthInteger, V: Numeric>(_ left: I, _ right: V) throws -> V {
    guard let right = right as? I else { throw overflow }
    let (sum, isTooLarge) = left.addingReportingOverflow(right)
    guard !isTooLarge, let sum = sum as? V else { throw overflow }
    return sum
  }

  static let overflow = SwiftDataError(
    .storeFailure, "The sum does not fit into the property's type; average, or sum a wider type.")

  static func double<V: Numeric>(_ value: V) -> Double {
    if let integer = value as? any BinaryInteger { return double(integer: integer) }
    if let real = value as? any BinaryFloatingPoint { return double(real: real) }
    return (value as? Decimal).map { NSDecimalNumber(decimal: $0).doubleValue } ?? .nan
  }

  private static func double<I: BinaryInteger>(integer: I) -> Double { Double(integer) }
  private static func double<F: BinaryFloatingPoint>(real: F) -> Double { Double(real) }

  /// Whether a value equals itself, which NaN doesn't.
  static func isNumber<V: Equatable>(_ value: V) -> Bool { value == value }
}
