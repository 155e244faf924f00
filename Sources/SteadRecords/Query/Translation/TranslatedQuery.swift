import SteadSQLite

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
