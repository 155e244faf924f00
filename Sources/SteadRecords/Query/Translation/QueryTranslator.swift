import Foundation
import SteadSQLite

/// Translates a predicate and sort descriptors to the SQL of a fetch over one entity.
///
/// The SQL means what the predicate means in Swift: nil is a value, strings are equal by canonical equivalence, NaN
/// equals nothing. A part of a predicate without SQL is left to memory, and the rest is still translated. If Swift
/// would throw or trap, by unwrapping nil, a failed cast or an overflow, the row does not match.
struct QueryTranslator {
  let layout: StoreLayout
  /// The store's identifier, so that objects captured from another store match nothing.
  var store: String?

  init(layout: StoreLayout, store: String? = nil) {
    self.layout = layout
    self.store = store
  }

  /// Translates a predicate and an order.
  ///
  /// Costs time in proportion to the number of terms. It does not throw for what has no SQL: the result says what is
  /// left to memory.
  func translate<T>(
    predicate: Predicate<T>?, sortBy: [SortDescriptor<T>], entity: EntityLayout
  ) throws -> TranslatedQuery {
    var result = TranslatedQuery()
    let translation = PredicateTranslation(layout: layout, store: store)
    // The query's own row: it is in the FROM clause, exists, and is never nil.
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
        // All of the order is left to memory: rows sorted by some of the terms would have to be sorted again.
        result.orderIsExact = false
        result.reasons.append(error.reason)
      }
    }
    result.relatedEntities = translation.related
    return result
  }

  /// The condition of a predicate; nil if all of it is left to memory.
  private func condition<T>(
    _ predicate: Predicate<T>, of row: RowTerm, in translation: PredicateTranslation
  ) -> SQLFragment? {
    do {
      return try translation.binding(predicate.variable.key, to: .row(row)) {
        try translation.condition(predicate.expression, .filter)
      }
    } catch {
      // Whatever the translation throws, the fetch is still right without a condition: it only
      // reads every row.
      let reason = (error as? NotTranslatable) ?? NotTranslatable("\(error)")
      translation.leaveToMemory(reason)
      return nil
    }
  }
}

/// The SQL of a fetch over one entity, whose table has the alias `t0`.
struct TranslatedQuery {
  /// What follows WHERE; nil for all rows.
  var condition: SQLFragment?
  /// Whether the condition is the whole predicate. Otherwise it accepts more rows, and each object must also pass the
  /// predicate in memory.
  var isExact = true
  /// What follows ORDER BY; nil for no order.
  var order: SQLFragment?
  /// Whether the order is that of the sort descriptors. Otherwise the objects are sorted in memory.
  var orderIsExact = true
  /// Entities whose rows the query reads besides those it returns; the root itself if it is related to itself.
  var relatedEntities: Set<Int> = []
  /// Why parts have no SQL, which the tests of predicates print.
  var reasons: [String] = []
}

// MARK: - Sort descriptors

/// Translates sort descriptors to terms of ORDER BY.
struct SortTranslator {
  /// Types that are ordered like their columns. They are known without a cast, which costs more than the rest of a
  /// term.
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

  /// The ORDER BY term of a sort descriptor, with the collation that orders as the descriptor does.
  ///
  /// - Throws: ``NotTranslatable`` for a descriptor without a key path, a comparator that has no collation, or a type
  ///   with an order of its own.
  func order<T>(_ descriptor: SortDescriptor<T>) throws -> SQLFragment {
    guard let keyPath = descriptor.keyPath else {
      throw NotTranslatable("a sort descriptor without a key path")
    }
    // A path to an object, or to an array, is no scalar, and throws: neither has an order.
    let scalar = try translation.scalar(try translation.property(keyPath, of: row))
    let valueType = type(of: keyPath as AnyKeyPath).valueType
    var localized: (any LocalizedText.Type)?
    if !Self.plainTypes.contains(ObjectIdentifier(valueType)) {
      let wrapped = PropertyShape(valueType).wrapped
      localized = wrapped as? any LocalizedText.Type
      if localized == nil { try translation.checkOrder(ofAny: wrapped) }
    }
    let collation: SQLFragment
    switch scalar.encoding {
    // From the special to the general: a localized string and one with a comparator are text as
    // well.
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

  /// The collation of a descriptor with a string comparator. `String.StandardComparator` has no public kinds, so it
  /// is compared with the ones that Foundation offers here.
  private func lexical<T>(_ descriptor: SortDescriptor<T>) throws -> SQLFragment {
    // Compared by kind alone: the direction is a keyword of SQL.
    var comparator = descriptor.stringComparator
    comparator?.order = .forward
    guard comparator == .lexical else {
      throw NotTranslatable("an order by \(String(describing: comparator))")
    }
    return " COLLATE stead_lexical"
  }
}

// MARK: - Aggregates

/// What is computed over the objects that match.
///
/// `values` is the set of all different values.
enum AggregateFunction {
  case count, sum, average, minimum, maximum, values
}

/// Translates aggregates over properties to SQL.
struct AggregateTranslator {
  private let translation: PredicateTranslation
  private let row: RowTerm

  init(layout: StoreLayout, entity: EntityLayout, store: String?) {
    translation = PredicateTranslation(layout: layout, store: store)
    row = RowTerm(entity: entity, id: "t0.\"_id\"", alias: "t0")
  }

  /// The entities whose rows the key paths reach.
  var relatedEntities: Set<Int> { translation.related }

  /// The SQL of the property that a key path leads to.
  func scalar(_ keyPath: AnyKeyPath) throws -> Scalar {
    try translation.scalar(try translation.property(keyPath, of: row))
  }

  /// The SQL of a property whose least or greatest value is asked for.
  ///
  /// - Throws: ``NotTranslatable`` for a type whose own order differs from its column's.
  func orderedScalar(_ keyPath: AnyKeyPath) throws -> Scalar {
    try translation.checkOrder(ofAny: PropertyShape(type(of: keyPath).valueType).wrapped)
    return try scalar(keyPath)
  }

  /// The result columns of a function over a value; nil if SQL's result would differ from Swift's.
  ///
  /// The first column is the value, unless it is a sum or an average, whose columns are those of ``NumberTotal``:
  ///
  /// - two parts. Integers are added in halves of 32 bits, since SQLite fails where a sum on the way is too large,
  ///   although what follows makes it smaller. Fewer than 2³¹ rows don't overflow a half. Floating-point numbers have
  ///   their total, which is NULL for NaN, and the number of NaN, which SQLite takes for zero;
  /// - the number of values that are neither numbers nor nil, which another program has written.
  ///
  /// Last, an average has the number of its values: keys that SQL tells apart may be equal in Swift, so that several
  /// rows make one group. Sums of decimals and of unsigned 64-bit integers have no SQL; both may be stored as text,
  /// which SQLite adds as floating-point numbers.
  func results(of function: AggregateFunction, over value: Scalar) -> [SQLFragment]? {
    let sql = value.operand
    switch (function, value.encoding) {
    case (.count, _): return ["count(*)"]
    case (.values, _): return [sql]
    case (.sum, .integer): return Self.integers(sql)
    case (.sum, .real): return Self.reals(sql)
    case (.average, .integer): return Self.integers(sql) + ["count(\(sql))"]
    case (.average, .real): return Self.reals(sql) + ["count(\(sql))"]
    case (.sum, _), (.average, _): return nil
    case (.minimum, let encoding): return Self.extreme("min", sql, encoding)
    case (.maximum, let encoding): return Self.extreme("max", sql, encoding)
    }
  }

  /// The sum of integers. `sum` of no rows is NULL.
  private static func integers(_ sql: SQLFragment) -> [SQLFragment] {
    [
      "coalesce(sum(\(sql) >> 32), 0)", "coalesce(sum(\(sql) & 4294967295), 0)",
      "coalesce(sum(typeof(\(sql)) NOT IN ('integer', 'null')), 0)",
    ]
  }

  /// The sum of floating-point numbers. `total` does not fail if another program has written large integers.
  private static func reals(_ sql: SQLFragment) -> [SQLFragment] {
    [
      "total(\(sql))", "coalesce(sum(\(sql) IS 'NaN'), 0)",
      "coalesce(sum(typeof(\(sql)) NOT IN ('real', 'integer', 'null') AND \(sql) IS NOT 'NaN'), 0)",
    ]
  }

  /// The least or the greatest value by Swift's order of the encoding; nil for encodings without one.
  private static func extreme(
    _ function: String, _ sql: SQLFragment, _ encoding: ColumnEncoding
  ) -> [SQLFragment]? {
    let name = SQLFragment(sql: function)
    switch encoding {
    case .integer, .unsigned64, .uuid, .boolean: return ["\(name)(\(sql))"]
    // NaN is stored as text, which SQLite orders after every number.
    case .real, .date: return ["\(name)(CASE WHEN \(sql) <= 9e999 THEN \(sql) END)"]
    case .text: return ["\(name)(\(sql) COLLATE stead_canonical)"]
    // `Decimal` has NaN before every number.
    case .decimal:
      return ["\(name)(CASE WHEN \(sql) <> 'NaN' THEN \(sql) END COLLATE stead_decimal)"]
    default: return nil
    }
  }
}
