public import Foundation

// One side optional, the other not: Swift promotes the other.
extension _PredicateNodes {
  public static func equal<L: PredicateExpression, R: PredicateExpression>(
    _ left: L, _ right: R
  ) -> PredicateExpressions.Equal<L, _SteadExpressions.Promotion<R>>
  where L.Output == R.Output?, R.Output: Equatable {
    PredicateExpressions.build_Equal(lhs: left, rhs: .init(right))
  }
  public static func equal<L: PredicateExpression, R: PredicateExpression>(
    _ left: L, _ right: R
  ) -> PredicateExpressions.Equal<_SteadExpressions.Promotion<L>, R>
  where R.Output == L.Output?, L.Output: Equatable {
    PredicateExpressions.build_Equal(lhs: .init(left), rhs: right)
  }
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

  public static func notEqual<L: PredicateExpression, R: PredicateExpression>(
    _ left: L, _ right: R
  ) -> PredicateExpressions.NotEqual<L, _SteadExpressions.Promotion<R>>
  where L.Output == R.Output?, R.Output: Equatable {
    PredicateExpressions.build_NotEqual(lhs: left, rhs: .init(right))
  }
  public static func notEqual<L: PredicateExpression, R: PredicateExpression>(
    _ left: L, _ right: R
  ) -> PredicateExpressions.NotEqual<_SteadExpressions.Promotion<L>, R>
  where R.Output == L.Output?, L.Output: Equatable {
    PredicateExpressions.build_NotEqual(lhs: .init(left), rhs: right)
  }
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

  public static func conditional<T, L, R>(
    _ test: T, _ yes: L, _ no: R
  ) -> PredicateExpressions.Conditional<T, L, _SteadExpressions.Promotion<R>>
  where
    T: PredicateExpression, L: PredicateExpression, R: PredicateExpression, T.Output == Bool,
    L.Output == R.Output?
  {
    PredicateExpressions.build_Conditional(test, yes, .init(no))
  }
  public static func conditional<T, L, R>(
    _ test: T, _ yes: L, _ no: R
  ) -> PredicateExpressions.Conditional<T, _SteadExpressions.Promotion<L>, R>
  where
    T: PredicateExpression, L: PredicateExpression, R: PredicateExpression, T.Output == Bool,
    R.Output == L.Output?
  {
    PredicateExpressions.build_Conditional(test, .init(yes), no)
  }
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

  public static func coalesce<L: PredicateExpression, R: PredicateExpression, W>(
    _ optional: L, _ other: R
  ) -> PredicateExpressions.Conditional<_SteadExpressions.IsNil<L, W>, R, L>
  where L.Output == W?, R.Output == W? {
    PredicateExpressions.build_Conditional(.init(optional), other, optional)
  }
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
