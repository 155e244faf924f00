import Foundation

/// A node of a predicate that has a meaning in SQL.
///
/// The conformances of Foundation's nodes lie under Operators, a file for each; nodes of ours lie under
/// Nodes with theirs. A node that cannot say what it means in SQL throws ``NotTranslatable``; the
/// predicate, or the part of it that a conjunction separates, is then evaluated in memory.
protocol SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term
}

/// What the place of an expression allows its SQL to be.
enum TranslationMode {
  /// The value itself.
  case exact
  /// A condition: NULL counts as false.
  case condition
  /// A condition that may also let rows through that do not match, where the translation notes it.
  case filter

  var nullIsFalse: Bool { self != .exact }
  /// The mode of a condition that must be exact, yet may be NULL for false.
  var withoutExcess: TranslationMode { self == .filter ? .condition : self }
}

/// Why a part of a predicate has no SQL.
struct NotTranslatable: Error {
  let reason: String

  init(_ reason: String) { self.reason = reason }
}
