public import Foundation

// Nodes that the expansion of `#Predicate` makes: equality and order. Each function takes a value from outside the
// predicate as it is written, so that literals get their types from the other operand.
extension _PredicateNodes {
  /// `a == b`.
  public static func equal<L, R>(_ left: L, _ right: R) -> PredicateExpressions.Equal<L, R>
  where L: PredicateExpression, R: PredicateExpression, L.Output: Equatable, L.Output == R.Output {
    PredicateExpressions.build_Equal(lhs: left, rhs: right)
  }
  /// `a == value`.
  public static func equal<L>(
    _ left: L, value: L.Output
  ) -> PredicateExpressions.Equal<L, PredicateExpressions.Value<L.Output>>
  where L: PredicateExpression, L.Output: Equatable {
    PredicateExpressions.build_Equal(lhs: left, rhs: PredicateExpressions.Value(value))
  }
  /// `value == a`.
  public static func equal<R>(
    value: R.Output, _ right: R
  ) -> PredicateExpressions.Equal<PredicateExpressions.Value<R.Output>, R>
  where R: PredicateExpression, R.Output: Equatable {
    PredicateExpressions.build_Equal(lhs: PredicateExpressions.Value(value), rhs: right)
  }

  /// `a != b`.
  public static func notEqual<L, R>(_ left: L, _ right: R) -> PredicateExpressions.NotEqual<L, R>
  where L: PredicateExpression, R: PredicateExpression, L.Output: Equatable, L.Output == R.Output {
    PredicateExpressions.build_NotEqual(lhs: left, rhs: right)
  }
  /// `a != value`.
  public static func notEqual<L>(
    _ left: L, value: L.Output
  ) -> PredicateExpressions.NotEqual<L, PredicateExpressions.Value<L.Output>>
  where L: PredicateExpression, L.Output: Equatable {
    PredicateExpressions.build_NotEqual(lhs: left, rhs: PredicateExpressions.Value(value))
  }
  /// `value != a`.
  public static func notEqual<R>(
    value: R.Output, _ right: R
  ) -> PredicateExpressions.NotEqual<PredicateExpressions.Value<R.Output>, R>
  where R: PredicateExpression, R.Output: Equatable {
    PredicateExpressions.build_NotEqual(lhs: PredicateExpressions.Value(value), rhs: right)
  }

  /// `a < b` or another comparison.
  public static func comparison<L, R>(
    _ left: L, _ right: R, _ operation: PredicateExpressions.ComparisonOperator
  ) -> PredicateExpressions.Comparison<L, R>
  where L: PredicateExpression, R: PredicateExpression, L.Output: Comparable, L.Output == R.Output {
    PredicateExpressions.build_Comparison(lhs: left, rhs: right, op: operation)
  }
  /// `a < value` or another comparison.
  public static func comparison<L>(
    _ left: L, value: L.Output,
    _ operation: PredicateExpressions.ComparisonOperator
  ) -> PredicateExpressions.Comparison<L, PredicateExpressions.Value<L.Output>>
  where L: PredicateExpression, L.Output: Comparable {
    PredicateExpressions.build_Comparison(
      lhs: left, rhs: PredicateExpressions.Value(value), op: operation)
  }
  /// `value < a` or another comparison.
  public static func comparison<R>(
    value: R.Output, _ right: R,
    _ operation: PredicateExpressions.ComparisonOperator
  ) -> PredicateExpressions.Comparison<PredicateExpressions.Value<R.Output>, R>
  where R: PredicateExpression, R.Output: Comparable {
    PredicateExpressions.build_Comparison(
      lhs: PredicateExpressions.Value(value), rhs: right, op: operation)
  }
}

// MARK: - One side optional

// One side optional, the other not: Swift promotes the other.
extension _PredicateNodes {
  /// `a == b`.
  public static func equal<L: PredicateExpression, R: PredicateExpression>(
    _ left: L, _ right: R
  ) -> PredicateExpressions.Equal<L, _SteadExpressions.Promotion<R>>
  where L.Output == R.Output?, R.Output: Equatable {
    PredicateExpressions.build_Equal(lhs: left, rhs: .init(right))
  }
  /// `a == b`.
  public static func equal<L: PredicateExpression, R: PredicateExpression>(
    _ left: L, _ right: R
  ) -> PredicateExpressions.Equal<_SteadExpressions.Promotion<L>, R>
  where R.Output == L.Output?, L.Output: Equatable {
    PredicateExpressions.build_Equal(lhs: .init(left), rhs: right)
  }
  /// `a == value`.
  @_disfavoredOverload
  public static func equal<L: PredicateExpression>(
    _ left: L, value: L.Output?
  )
    -> PredicateExpressions.Equal<
      _SteadExpressions.Promotion<L>, PredicateExpressions.Value<L.Output?>
    >
  where L.Output: Equatable {
    PredicateExpressions.build_Equal(lhs: .init(left), rhs: .init(value))
  }
  /// `value == a`.
  @_disfavoredOverload
  public static func equal<R: PredicateExpression>(
    value: R.Output?, _ right: R
  )
    -> PredicateExpressions.Equal<
      PredicateExpressions.Value<R.Output?>, _SteadExpressions.Promotion<R>
    >
  where R.Output: Equatable {
    PredicateExpressions.build_Equal(lhs: .init(value), rhs: .init(right))
  }

  /// `a != b`.
  public static func notEqual<L: PredicateExpression, R: PredicateExpression>(
    _ left: L, _ right: R
  ) -> PredicateExpressions.NotEqual<L, _SteadExpressions.Promotion<R>>
  where L.Output == R.Output?, R.Output: Equatable {
    PredicateExpressions.build_NotEqual(lhs: left, rhs: .init(right))
  }
  /// `a != b`.
  public static func notEqual<L: PredicateExpression, R: PredicateExpression>(
    _ left: L, _ right: R
  ) -> PredicateExpressions.NotEqual<_SteadExpressions.Promotion<L>, R>
  where R.Output == L.Output?, L.Output: Equatable {
    PredicateExpressions.build_NotEqual(lhs: .init(left), rhs: right)
  }
  /// `a != value`.
  @_disfavoredOverload
  public static func notEqual<L: PredicateExpression>(
    _ left: L, value: L.Output?
  )
    -> PredicateExpressions.NotEqual<
      _SteadExpressions.Promotion<L>, PredicateExpressions.Value<L.Output?>
    >
  where L.Output: Equatable {
    PredicateExpressions.build_NotEqual(lhs: .init(left), rhs: .init(value))
  }
  /// `value != a`.
  @_disfavoredOverload
  public static func notEqual<R: PredicateExpression>(
    value: R.Output?, _ right: R
  )
    -> PredicateExpressions.NotEqual<
      PredicateExpressions.Value<R.Output?>, _SteadExpressions.Promotion<R>
    >
  where R.Output: Equatable {
    PredicateExpressions.build_NotEqual(lhs: .init(value), rhs: .init(right))
  }

  /// `test ? a : b`.
  public static func conditional<T, L, R>(
    _ test: T, _ yes: L, _ no: R
  ) -> PredicateExpressions.Conditional<T, L, _SteadExpressions.Promotion<R>>
  where
    T: PredicateExpression, L: PredicateExpression, R: PredicateExpression, T.Output == Bool,
    L.Output == R.Output?
  {
    PredicateExpressions.build_Conditional(test, yes, .init(no))
  }
  /// `test ? a : b`.
  public static func conditional<T, L, R>(
    _ test: T, _ yes: L, _ no: R
  ) -> PredicateExpressions.Conditional<T, _SteadExpressions.Promotion<L>, R>
  where
    T: PredicateExpression, L: PredicateExpression, R: PredicateExpression, T.Output == Bool,
    R.Output == L.Output?
  {
    PredicateExpressions.build_Conditional(test, .init(yes), no)
  }
  /// `test ? a : value`.
  @_disfavoredOverload
  public static func conditional<T: PredicateExpression, L: PredicateExpression>(
    _ test: T, _ yes: L, value: L.Output?
  )
    -> PredicateExpressions.Conditional<
      T, _SteadExpressions.Promotion<L>, PredicateExpressions.Value<L.Output?>
    >
  where T.Output == Bool {
    PredicateExpressions.build_Conditional(test, .init(yes), .init(value))
  }
  /// `test ? value : a`.
  @_disfavoredOverload
  public static func conditional<T: PredicateExpression, R: PredicateExpression>(
    _ test: T, value: R.Output?, _ no: R
  )
    -> PredicateExpressions.Conditional<
      T, PredicateExpressions.Value<R.Output?>, _SteadExpressions.Promotion<R>
    >
  where T.Output == Bool {
    PredicateExpressions.build_Conditional(test, .init(value), .init(no))
  }

  // `a ?? b` of two optionals.

  /// `a ?? b`.
  public static func coalesce<L: PredicateExpression, R: PredicateExpression, W>(
    _ optional: L, _ other: R
  ) -> PredicateExpressions.Conditional<_SteadExpressions.IsNil<L, W>, R, L>
  where L.Output == W?, R.Output == W? {
    PredicateExpressions.build_Conditional(.init(optional), other, optional)
  }
  /// `a ?? value`.
  @_disfavoredOverload
  public static func coalesce<L: PredicateExpression, W>(
    _ optional: L, value: W?
  )
    -> PredicateExpressions.Conditional<
      _SteadExpressions.IsNil<L, W>, PredicateExpressions.Value<W?>, L
    >
  where L.Output == W? {
    PredicateExpressions.build_Conditional(.init(optional), .init(value), optional)
  }
}

// MARK: - Captured objects

// Objects from outside, of which a predicate keeps the identifier.
extension _PredicateNodes {
  /// `a == value`.
  public static func equal<L: PredicateExpression, M: PersistentModel>(
    _ left: L, value: M
  ) -> _SteadExpressions.IsModel<L> where L.Output == M {
    .init(left, [value.persistentModelID])
  }
  /// `a == value`.
  public static func equal<L: PredicateExpression, M: PersistentModel>(
    _ left: L, value: M?
  ) -> _SteadExpressions.IsModel<L> where L.Output == M? {
    .init(left, [value?.persistentModelID])
  }
  /// `a == value`.
  @_disfavoredOverload
  public static func equal<L: PredicateExpression, M: PersistentModel>(
    _ left: L, value: M?
  ) -> _SteadExpressions.IsModel<L> where L.Output == M {
    .init(left, [value?.persistentModelID])
  }
  /// `value == a`.
  public static func equal<R: PredicateExpression, M: PersistentModel>(
    value: M, _ right: R
  ) -> _SteadExpressions.IsModel<R> where R.Output == M {
    .init(right, [value.persistentModelID])
  }
  /// `value == a`.
  public static func equal<R: PredicateExpression, M: PersistentModel>(
    value: M?, _ right: R
  ) -> _SteadExpressions.IsModel<R> where R.Output == M? {
    .init(right, [value?.persistentModelID])
  }
  /// `value == a`.
  @_disfavoredOverload
  public static func equal<R: PredicateExpression, M: PersistentModel>(
    value: M?, _ right: R
  ) -> _SteadExpressions.IsModel<R> where R.Output == M {
    .init(right, [value?.persistentModelID])
  }
  /// `a != value`.
  public static func notEqual<L: PredicateExpression, M: PersistentModel>(
    _ left: L, value: M
  ) -> PredicateExpressions.Negation<_SteadExpressions.IsModel<L>> where L.Output == M {
    .init(.init(left, [value.persistentModelID]))
  }
  /// `a != value`.
  public static func notEqual<L: PredicateExpression, M: PersistentModel>(
    _ left: L, value: M?
  ) -> PredicateExpressions.Negation<_SteadExpressions.IsModel<L>> where L.Output == M? {
    .init(.init(left, [value?.persistentModelID]))
  }
  /// `a != value`.
  @_disfavoredOverload
  public static func notEqual<L: PredicateExpression, M: PersistentModel>(
    _ left: L, value: M?
  ) -> PredicateExpressions.Negation<_SteadExpressions.IsModel<L>> where L.Output == M {
    .init(.init(left, [value?.persistentModelID]))
  }
  /// `value != a`.
  public static func notEqual<R: PredicateExpression, M: PersistentModel>(
    value: M, _ right: R
  ) -> PredicateExpressions.Negation<_SteadExpressions.IsModel<R>> where R.Output == M {
    .init(.init(right, [value.persistentModelID]))
  }
  /// `value != a`.
  public static func notEqual<R: PredicateExpression, M: PersistentModel>(
    value: M?, _ right: R
  ) -> PredicateExpressions.Negation<_SteadExpressions.IsModel<R>> where R.Output == M? {
    .init(.init(right, [value?.persistentModelID]))
  }
  /// `value != a`.
  @_disfavoredOverload
  public static func notEqual<R: PredicateExpression, M: PersistentModel>(
    value: M?, _ right: R
  ) -> PredicateExpressions.Negation<_SteadExpressions.IsModel<R>> where R.Output == M {
    .init(.init(right, [value?.persistentModelID]))
  }
}
