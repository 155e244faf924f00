import Foundation

/// A predicate as it is evaluated in memory: where Swift would throw or trap, a value does not match.
///
/// Making one costs a visit to each node, so a fetch makes one for all of its objects.
struct PredicateMatcher<Input> {
  private let predicate: Predicate<Input>
  /// Nil if nothing in the predicate can trap.
  private let checked: CheckedExpression<Bool>?

  init(_ predicate: Predicate<Input>) {
    self.predicate = predicate
    checked = predicate.expression.checked()
  }

  /// - Throws: What a node that this package does not know throws.
  func matches(_ value: Input) throws -> Bool {
    do {
      guard let checked else { return try predicate.evaluate(value) }
      return try checked.evaluate(PredicateBindings((predicate.variable, value)))
    } catch is PredicateError {
      return false
    } catch is Trap {
      return false
    }
  }
}
