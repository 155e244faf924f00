import Foundation

/// A node of a predicate that has a meaning in SQL.
///
/// The conformances of Foundation's nodes are under Operators, one file each, and all in ``TranslatedNodes``; our own nodes are under Nodes with
/// theirs. A node that cannot be expressed in SQL throws ``NotTranslatable``; the predicate, or the part of it that a
/// conjunction separates, is then evaluated in memory.
protocol SQLTranslatable: PredicateExpression, SendableMetatype {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term

  /// This node for memory, which throws instead of trapping; nil if nothing in it can trap.
  func checkedNode() -> CheckedExpression<Output>?
}
