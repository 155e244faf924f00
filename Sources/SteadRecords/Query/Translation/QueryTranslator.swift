import Foundation
import SteadSQLite

/// Turns predicates and sort descriptors into SQL.
///
/// Every node of a predicate has Swift's meaning: nil, Unicode equivalence, NaN. Parts without SQL are left to memory,
/// one by one. If Swift would throw or trap (unwrapping nil, a failed cast, an overflow), the row does not match.
struct QueryTranslator {
  let layout: StoreLayout
  /// The store's identifier: objects captured from another store then match nothing.
  var store: String?

  init(layout: StoreLayout, store: String? = nil) {
    self.layout = layout
    self.store = store
  }

  /// Translates a predicate and an order. Costs time in proportion to the number of
  /// terms; the statement for the SQL is kept prepared.
  func translate<T>(
    predicate: Predicate<T>?, sortBy: [SortDescriptor<T>], entity: EntityLayout
  ) throws -> TranslatedQuery {
    var result = TranslatedQuery()
    let translation = PredicateTranslation(layout: layout, store: store)
    let row = RowTerm(entity: entity, id: "t0.\"_id\"", alias: "t0")
    if let predicate {
      result.condition = condition(predicate, of: row, in: translation)
      result.isExact = translation.isExact
      result.reasons = translation.reasons
    }
    if !sortBy.isEmpty {
      do {
        let terms = try sortBy.map { try SortTranslator(translation, row).order($0) }
        result.order = .joined(terms, by: ", ")
      } catch let error as NotTranslatable {
        result.orderIsExact = false
        result.reasons.append(error.reason)
      }
    }
    result.relatedEntities = translation.related
    return result
  }

  private func condition<T>(
    _ predicate: Predicate<T>, of row: RowTerm, in translation: PredicateTranslation
  ) -> SQLFragment? {
    do {
      return try translation.binding(predicate.variable.key, to: .row(row)) {
        try translation.condition(predicate.expression, .filter)
      }
    } catch {
      let reason = (error as? NotTranslatable) ?? NotTranslatable("\(error)")
      translation.leaveToMemory(reason)
      return nil
    }
  }
}

/// The SQL of a fetch over one entity, whose table has the alias `t0`.
struct TranslatedQuery {
  /// What follows WHERE; nil means all rows.
  var condition: SQLFragment?
  /// Whether exactly the matching rows pass the condition; otherwise more rows do, and each must also pass the
  /// predicate in memory.
  var isExact = true
  /// What follows ORDER BY; nil means no order.
  var order: SQLFragment?
  /// Whether the order is the descriptors'; otherwise the objects are sorted in memory.
  var orderIsExact = true
  /// Entities whose rows the query reads besides those it returns; the root itself if it is related to itself.
  var relatedEntities: Set<Int> = []
  /// What SQL could not express.
  var reasons: [String] = []
}

// MARK: - Sort descriptors

/// Turns sort descriptors into terms of ORDER BY.
struct SortTranslator {
  /// Types known without a cast, which costs more than all the rest.
  private static let plainTypes: Set<ObjectIdentifier> = [
    ObjectIdentifier(Int.self), ObjectIdentifier(String.self), ObjectIdentifier(Date.self),
    ObjectIdentifier(Double.self), ObjectIdentifier(Bool.self),
  ]

  private let translation: PredicateTranslation
  private let row: RowTerm

  init(_ translation: PredicateTranslation, _ row: RowTerm) {
    self.translation = translation
    self.row = row
  }

  func order<T>(_ descriptor: SortDescriptor<T>) throws -> SQLFragment {
    guard let keyPath = descriptor.keyPath else {
      throw NotTranslatable("a sort descriptor without a key path")
    }
    let scalar = try translation.scalar(try translation.property(keyPath, of: row))
    let valueType = type(of: keyPath as AnyKeyPath).valueType
    var localized: (any LocalizedText.Type)?
    if !Self.plainTypes.contains(ObjectIdentifier(valueType)) {
      let wrapped = PropertyShape(valueType).wrapped
      localized = wrapped as? any LocalizedText.Type
      if localized == nil { try checkOrder(wrapped) }
    }
    let collation: SQLFragment
    switch scalar.encoding {
    case .text where localized != nil: collation = localized?.collation ?? ""
    case .text where descriptor.stringComparator != nil: collation = try lexical(descriptor)
    case .text: collation = " COLLATE stead_canonical"
    case .decimal: collation = " COLLATE stead_decimal"
    case .boolean, .integer, .unsigned64, .real, .date, .uuid: collation = ""
    default: throw NotTranslatable("an order by \(keyPath)")
    }
    // SQLite puts NULL before everything, as Foundation puts nil.
    return
      "\(scalar.sql)\(collation)\(SQLFragment(sql: descriptor.order == .forward ? "" : " DESC"))"
  }

  private func lexical<T>(_ descriptor: SortDescriptor<T>) throws -> SQLFragment {
    var comparator = descriptor.stringComparator
    comparator?.order = .forward
    guard comparator == .lexical else {
      throw NotTranslatable("an order by \(String(describing: comparator))")
    }
    return " COLLATE stead_lexical"
  }

  private func checkOrder(_ type: any Any.Type) throws {
    func open<T>(_ type: T.Type) throws { try translation.checkOrder(of: type) }
    try _openExistential(type, do: open)
  }
}

// MARK: - Aggregates

/// What is computed over many objects.
enum AggregateFunction {
  case count, sum, average, minimum, maximum, values
}

/// Turns aggregates into SQL.
struct AggregateTranslator {
  private let translation: PredicateTranslation
  private let row: RowTerm

  init(layout: StoreLayout, entity: EntityLayout, store: String?) {
    translation = PredicateTranslation(layout: layout, store: store)
    row = RowTerm(entity: entity, id: "t0.\"_id\"", alias: "t0")
  }

  /// Entities whose rows the key paths reach.
  var relatedEntities: Set<Int> { translation.related }

  /// The value of a key path.
  func scalar(_ keyPath: AnyKeyPath) throws -> Scalar {
    try translation.scalar(try translation.property(keyPath, of: row))
  }

  /// The results of a function over a value; nil if SQL's value would differ from Swift's.
  func results(of function: AggregateFunction, over value: Scalar) -> [SQLFragment]? {
    let sql = value.operand
    switch (function, value.encoding) {
    case (.count, _): return ["count(*)"]
    case (.values, _): return [sql]
    case (.sum, .integer): return ["sum(\(sql))", "0"]
    case (.sum, .real): return ["sum(\(sql))", Self.notNumbers(sql)]
    case (.average, .integer): return ["total(\(sql))", "count(\(sql))", "0"]
    case (.average, .real): return ["total(\(sql))", "count(\(sql))", Self.notNumbers(sql)]
    case (.sum, _), (.average, _): return nil
    case (.minimum, let encoding): return Self.extreme("min", sql, encoding)
    case (.maximum, let encoding): return Self.extreme("max", sql, encoding)
    }
  }

  /// How many of the values are not a number, which SQLite's sum would take for zero.
  private static func notNumbers(_ sql: SQLFragment) -> SQLFragment {
    "coalesce(sum(typeof(\(sql)) = 'text'), 0)"
  }

  private static func extreme(
    _ function: String, _ sql: SQLFragment, _ encoding: ColumnEncoding
  ) -> [SQLFragment]? {
    let name = SQLFragment(sql: function)
    switch encoding {
    case .integer, .unsigned64, .uuid, .boolean: return ["\(name)(\(sql))"]
    // NaN is stored as text, which SQLite orders after every number.
    case .real, .date: return ["\(name)(CASE WHEN \(sql) <= 9e999 THEN \(sql) END)"]
    case .text: return ["\(name)(\(sql) COLLATE stead_canonical)"]
    case .decimal: return ["\(name)(\(sql) COLLATE stead_decimal)"]
    default: return nil
    }
  }
}
