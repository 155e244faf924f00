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
