public import Foundation

// Nodes that the expansion of `#Predicate` makes: logic, ranges and nil. Each function takes a value from outside the
// predicate as it is written, so that literals get their types from the other operand.
extension _PredicateNodes {
  /// `a && b`.
  public static func conjunction<L, R>(_ left: L, _ right: R)
    -> PredicateExpressions.Conjunction<L, R>
  where L: PredicateExpression, R: PredicateExpression, L.Output == Bool, L.Output == R.Output {
    PredicateExpressions.build_Conjunction(lhs: left, rhs: right)
  }
  /// `a && value`.
  public static func conjunction<L>(
    _ left: L, value: L.Output
  ) -> PredicateExpressions.Conjunction<L, PredicateExpressions.Value<L.Output>>
  where L: PredicateExpression, L.Output == Bool {
    PredicateExpressions.build_Conjunction(lhs: left, rhs: PredicateExpressions.Value(value))
  }
  /// `value && a`.
  public static func conjunction<R>(
    value: R.Output, _ right: R
  ) -> PredicateExpressions.Conjunction<PredicateExpressions.Value<R.Output>, R>
  where R: PredicateExpression, R.Output == Bool {
    PredicateExpressions.build_Conjunction(lhs: PredicateExpressions.Value(value), rhs: right)
  }

  /// `a || b`.
  public static func disjunction<L, R>(_ left: L, _ right: R)
    -> PredicateExpressions.Disjunction<L, R>
  where L: PredicateExpression, R: PredicateExpression, L.Output == Bool, L.Output == R.Output {
    PredicateExpressions.build_Disjunction(lhs: left, rhs: right)
  }
  /// `a || value`.
  public static func disjunction<L>(
    _ left: L, value: L.Output
  ) -> PredicateExpressions.Disjunction<L, PredicateExpressions.Value<L.Output>>
  where L: PredicateExpression, L.Output == Bool {
    PredicateExpressions.build_Disjunction(lhs: left, rhs: PredicateExpressions.Value(value))
  }
  /// `value || a`.
  public static func disjunction<R>(
    value: R.Output, _ right: R
  ) -> PredicateExpressions.Disjunction<PredicateExpressions.Value<R.Output>, R>
  where R: PredicateExpression, R.Output == Bool {
    PredicateExpressions.build_Disjunction(lhs: PredicateExpressions.Value(value), rhs: right)
  }

  /// `a...b`.
  public static func closedRange<L, R>(_ left: L, _ right: R)
    -> PredicateExpressions.ClosedRange<L, R>
  where L: PredicateExpression, R: PredicateExpression, L.Output: Comparable, L.Output == R.Output {
    PredicateExpressions.build_ClosedRange(lower: left, upper: right)
  }
  /// `a...value`.
  public static func closedRange<L>(
    _ left: L, value: L.Output
  ) -> PredicateExpressions.ClosedRange<L, PredicateExpressions.Value<L.Output>>
  where L: PredicateExpression, L.Output: Comparable {
    PredicateExpressions.build_ClosedRange(lower: left, upper: PredicateExpressions.Value(value))
  }
  /// `value...a`.
  public static func closedRange<R>(
    value: R.Output, _ right: R
  ) -> PredicateExpressions.ClosedRange<PredicateExpressions.Value<R.Output>, R>
  where R: PredicateExpression, R.Output: Comparable {
    PredicateExpressions.build_ClosedRange(lower: PredicateExpressions.Value(value), upper: right)
  }

  /// `a..<b`.
  public static func range<L, R>(_ left: L, _ right: R) -> PredicateExpressions.Range<L, R>
  where L: PredicateExpression, R: PredicateExpression, L.Output: Comparable, L.Output == R.Output {
    PredicateExpressions.build_Range(lower: left, upper: right)
  }
  /// `a..<value`.
  public static func range<L>(
    _ left: L, value: L.Output
  ) -> PredicateExpressions.Range<L, PredicateExpressions.Value<L.Output>>
  where L: PredicateExpression, L.Output: Comparable {
    PredicateExpressions.build_Range(lower: left, upper: PredicateExpressions.Value(value))
  }
  /// `value..<a`.
  public static func range<R>(
    value: R.Output, _ right: R
  ) -> PredicateExpressions.Range<PredicateExpressions.Value<R.Output>, R>
  where R: PredicateExpression, R.Output: Comparable {
    PredicateExpressions.build_Range(lower: PredicateExpressions.Value(value), upper: right)
  }

  /// `!a`.
  public static func negation<E: PredicateExpression>(
    _ operand: E
  ) -> PredicateExpressions.Negation<E> where E.Output == Bool {
    PredicateExpressions.build_Negation(operand)
  }

  /// `a!`.
  ///
  /// Where the value is nil, a row matches neither the predicate nor its negation.
  public static func forcedUnwrap<E: PredicateExpression, W>(
    _ optional: E
  ) -> PredicateExpressions.ForcedUnwrap<E, W> where E.Output == W? {
    PredicateExpressions.build_ForcedUnwrap(optional)
  }

  /// `a == nil`.
  public static func isNil<E: PredicateExpression, W>(
    _ optional: E
  ) -> _SteadExpressions.IsNil<E, W> where E.Output == W? {
    _SteadExpressions.IsNil(optional)
  }
  /// `a == nil` of a value that is never nil: Swift accepts it with a warning.
  @_disfavoredOverload
  public static func isNil<E: PredicateExpression>(_ value: E) -> PredicateExpressions.Value<Bool> {
    PredicateExpressions.Value(false)
  }

  /// `a ?? b`.
  public static func coalesce<L: PredicateExpression, R: PredicateExpression>(
    _ optional: L, _ other: R
  ) -> PredicateExpressions.NilCoalesce<L, R> where L.Output == R.Output? {
    PredicateExpressions.build_NilCoalesce(lhs: optional, rhs: other)
  }
  /// `a ?? value`.
  public static func coalesce<L: PredicateExpression, W>(
    _ optional: L, value: W
  ) -> PredicateExpressions.NilCoalesce<L, PredicateExpressions.Value<W>> where L.Output == W? {
    PredicateExpressions.build_NilCoalesce(lhs: optional, rhs: PredicateExpressions.Value(value))
  }
  /// `value ?? a`.
  public static func coalesce<R: PredicateExpression>(
    value: R.Output?, _ other: R
  ) -> PredicateExpressions.NilCoalesce<PredicateExpressions.Value<R.Output?>, R> {
    PredicateExpressions.build_NilCoalesce(lhs: PredicateExpressions.Value(value), rhs: other)
  }

  /// `test ? a : b`.
  public static func conditional<T: PredicateExpression, L, R>(
    _ test: T, _ yes: L, _ no: R
  ) -> PredicateExpressions.Conditional<T, L, R>
  where T.Output == Bool, L: PredicateExpression, R: PredicateExpression, L.Output == R.Output {
    PredicateExpressions.build_Conditional(test, yes, no)
  }
  /// `test ? a : value`.
  public static func conditional<T: PredicateExpression, L: PredicateExpression>(
    _ test: T, _ yes: L, value: L.Output
  ) -> PredicateExpressions.Conditional<T, L, PredicateExpressions.Value<L.Output>>
  where T.Output == Bool {
    PredicateExpressions.build_Conditional(test, yes, PredicateExpressions.Value(value))
  }
  /// `test ? value : a`.
  public static func conditional<T: PredicateExpression, R: PredicateExpression>(
    _ test: T, value: R.Output, _ no: R
  ) -> PredicateExpressions.Conditional<T, PredicateExpressions.Value<R.Output>, R>
  where T.Output == Bool {
    PredicateExpressions.build_Conditional(test, PredicateExpressions.Value(value), no)
  }
  /// `test ? value : value`.
  public static func conditional<T: PredicateExpression, V>(
    _ test: T, values yes: V, _ no: V
  )
    -> PredicateExpressions.Conditional<
      T, PredicateExpressions.Value<V>, PredicateExpressions.Value<V>
    > where T.Output == Bool
  {
    PredicateExpressions.build_Conditional(
      test, PredicateExpressions.Value(yes), PredicateExpressions.Value(no))
  }

  /// `a?.member` or `flatMap`.
  ///
  /// The closure gets the unwrapped value, and the whole is nil without one.
  public static func flatMap<L: PredicateExpression, R: PredicateExpression, W>(
    _ optional: L, _ transform: (PredicateExpressions.Variable<W>) -> R
  ) -> PredicateExpressions.OptionalFlatMap<L, W, R, R.Output> where L.Output == W? {
    PredicateExpressions.build_flatMap(optional, transform)
  }
  /// `a?.member` or `flatMap`.
  public static func flatMap<L: PredicateExpression, R: PredicateExpression, W, Result>(
    _ optional: L, _ transform: (PredicateExpressions.Variable<W>) -> R
  ) -> PredicateExpressions.OptionalFlatMap<L, W, R, Result>
  where L.Output == W?, R.Output == Result? {
    PredicateExpressions.build_flatMap(optional, transform)
  }

  /// `map` of an optional.
  public static func map<L: PredicateExpression, R: PredicateExpression, W>(
    _ optional: L, _ transform: (PredicateExpressions.Variable<W>) -> R
  ) -> PredicateExpressions.OptionalFlatMap<L, W, R, R.Output> where L.Output == W? {
    PredicateExpressions.build_flatMap(optional, transform)
  }
  @available(*, unavailable, message: "this gives an optional in an optional; use flatMap")
  public static func map<L: PredicateExpression, R: PredicateExpression, W, Result>(
    _ optional: L, _ transform: (PredicateExpressions.Variable<W>) -> R
  ) -> PredicateExpressions.OptionalFlatMap<L, W, R, Result>
  where L.Output == W?, R.Output == Result? {
    PredicateExpressions.build_flatMap(optional, transform)
  }
  @available(*, unavailable, message: "use contains(where:), allSatisfy or filter")
  public static func map<L: PredicateExpression, R: PredicateExpression>(
    _ sequence: L, _ transform: (PredicateExpressions.Variable<L.Output.Element>) -> R
  ) -> L where L.Output: Sequence {
    sequence
  }
}
