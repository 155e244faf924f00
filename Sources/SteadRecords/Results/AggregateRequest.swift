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
    // SQL has done the grouping, save for keys that only Swift finds equal.
    if let rows = try rows() {
      for values in rows {
        var values = values[...]
        let key = try self.key(&values)
        try row(&states[key], values)
      }
      return states
    }
    for model in try FetchRunner(graph).fetch(FetchDescriptor(predicate: predicate)) {
      // Through Any, since the key path's root may be a superclass.
      let subject: Any = model
      let read = group.map { subject[keyPath: $0] } ?? NoGroup()
      guard let key = read as? Group else { throw mismatch(group) }
      try object(&states[key], model)
    }
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
    guard let entity = graph.layout.entity(for: Model.self),
      let index = entity.propertyByKeyPath[keyPath]
    else { return "\(keyPath)" }
    return "\(entity.name).\(entity.properties[index].name)"
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

// MARK: - Totals

/// A sum of numbers under way: exact for integers, and of `Double` for floating-point numbers.
///
/// Rows of results and objects are added to the same type, so that a sum does not depend on which of its values are
/// saved, but for the last digits of floating-point numbers: newer versions of SQLite add them with a compensation.
///
/// An integer on the way may be larger than the type of the values: only the whole sum has to fit. Floating-point
/// numbers are added as SQLite's `total` adds them, in `Double` also for `Float`. What overflows is infinite, as with
/// Swift's `+`.
enum NumberTotal {
  // Twice as wide as the widest column, so that no number of rows overflows it.
  case integer(Int128)
  case real(Double)

  /// The number of a value; nil for a type that no column holds as an integer or a floating-point number, nor its raw
  /// value, such as `Decimal` and `Int128`.
  init?(_ value: Any) {
    if let integer = value as? any BinaryInteger {
      guard value is any SQLDecodable, let exact = Self.exact(integer) else { return nil }
      self = .integer(exact)
    } else if let real = value as? any BinaryFloatingPoint {
      guard value is any SQLDecodable else { return nil }
      self = .real(Self.double(real))
    } else if !(value is Decimal), let raw = value as? any RawRepresentable {
      // A column has the raw value, which SQL adds.
      self.init(raw.rawValue)
    } else {
      return nil
    }
  }

  /// The total of a row of results of ``AggregateTranslator/results(of:over:)``; nil if a column does not hold numbers.
  init?(row: ArraySlice<SQLValue>) {
    let row = Array(row)
    guard row.count >= 3, row[2] == .integer(0) else { return nil }
    switch (row[0], row[1]) {
    case (.integer(let high), .integer(let low)):
      self = .integer(Int128(high) << 32 + Int128(low))
    case (.real(let sum), .integer(let notNumbers)):
      self = .real(notNumbers == 0 ? sum : .nan)
    // The sum of both infinities is NaN, which SQLite returns as NULL.
    case (.null, .integer): self = .real(.nan)
    default: return nil
    }
  }

  /// Adds another total.
  mutating func add(_ other: NumberTotal) {
    if case .integer(let left) = self, case .integer(let right) = other {
      self = .integer(left + right)
    } else {
      self = .real(double + other.double)
    }
  }

  /// The total, rounded to a `Double`.
  var double: Double {
    switch self {
    case .integer(let total): Double(total)
    case .real(let total): total
    }
  }

  /// The total as a number type: nil for an integer that the type lacks, infinite for a floating-point number that is
  /// too large.
  func value<V>(as type: V.Type) -> V? {
    switch self {
    case .integer(let total):
      // The digits of what no column holds as an integer, as in `UnsignedColumn`.
      let stored = Int64(exactly: total).map { SQLValue.integer($0) } ?? .text("\(total)")
      return stored.decoded(as: type)
    case .real(let total):
      return SQLValue.real(total).decoded(as: type)
        ?? SQLValue.real(total < 0 ? -.infinity : .infinity).decoded(as: type)
    }
  }

  private static func exact<I: BinaryInteger>(_ integer: I) -> Int128? { Int128(exactly: integer) }
  private static func double<F: BinaryFloatingPoint>(_ real: F) -> Double { Double(real) }
}

// MARK: - Sums

/// The sum of one group: a total, or the sum of a type that no column holds as a number, such as `Decimal` and `Int128`.
struct GroupSum<V: Numeric> {
  private var total: NumberTotal?
  private var other: V = 0
  /// Whether a sum of numbers was none. `Decimal` has NaN for a sum that it cannot hold.
  private var isTooLarge = false

  /// Adds a value of an object.
  mutating func add(_ value: V) {
    if let number = NumberTotal(value) { return add(number) }
    guard let sum = AggregateArithmetic.sum(other, value) else {
      isTooLarge = true
      return
    }
    if !AggregateArithmetic.isNumber(sum), AggregateArithmetic.isNumber(other),
      AggregateArithmetic.isNumber(value)
    {
      isTooLarge = true
    }
    other = sum
  }

  /// Adds the total of some rows.
  mutating func add(_ number: NumberTotal) {
    if total == nil { total = number } else { total?.add(number) }
  }

  /// The sum; nil if it does not fit the type.
  var value: V? {
    if let total { return total.value(as: V.self) }
    return isTooLarge ? nil : other
  }
}

// MARK: - Averages

/// The average of one group: the total of its values, and their number.
struct GroupAverage {
  private var total: NumberTotal
  private var count: Int

  init(_ total: NumberTotal, count: Int = 1) {
    self.total = total
    self.count = count
  }

  /// Adds the values of another average.
  mutating func add(_ other: GroupAverage) {
    total.add(other.total)
    count += other.count
  }

  /// The average; nil without a value.
  var value: Double? { count == 0 ? nil : total.double / Double(count) }
}

// MARK: - Arithmetic

/// What aggregates ask of values of any number type.
enum AggregateArithmetic {
  /// A value as a total; NaN for an app's own type that is not made of a number.
  static func total(_ value: Any) -> NumberTotal {
    if let total = NumberTotal(value) { return total }
    return switch value {
    case let decimal as Decimal: .real(NSDecimalNumber(decimal: decimal).doubleValue)
    case let integer as any BinaryInteger: .real(double(integer))
    case let real as any BinaryFloatingPoint: .real(double(real))
    default: .real(.nan)
    }
  }

  private static func double<I: BinaryInteger>(_ integer: I) -> Double { Double(integer) }
  private static func double<F: BinaryFloatingPoint>(_ real: F) -> Double { Double(real) }

  /// The sum of two values; nil for one of integers that their type does not hold.
  static func sum<V: Numeric>(_ left: V, _ right: V) -> V? {
    func add<I: FixedWidthInteger>(_ left: I) -> V? {
      guard let right = right as? I else { return nil }
      let (sum, overflows) = left.addingReportingOverflow(right)
      return overflows ? nil : sum as? V
    }
    guard let integer = left as? any FixedWidthInteger else { return left + right }
    return add(integer)
  }

  /// Whether a value is no NaN: it equals itself, and is not that of `Decimal`, which does.
  static func isNumber(_ value: some Equatable) -> Bool {
    value == value && (value as? Decimal)?.isNaN != true
  }
}
