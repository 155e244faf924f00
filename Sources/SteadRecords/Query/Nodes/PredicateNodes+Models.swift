public import Foundation

// Objects from outside, of which a predicate keeps the identifier.
extension _PredicateNodes {
  public static func equal<L: PredicateExpression, M: PersistentModel>(
    _ left: L, value: M
  ) -> _SteadExpressions.IsModel<L> where L.Output == M {
    .init(left, [value.persistentModelID])
  }
  public static func equal<L: PredicateExpression, M: PersistentModel>(
    _ left: L, value: M?
  ) -> _SteadExpressions.IsModel<L> where L.Output == M? {
    .init(left, [value?.persistentModelID])
  }
  @_disfavoredOverload
  public static func equal<L: PredicateExpression, M: PersistentModel>(
    _ left: L, value: M?
  ) -> _SteadExpressions.IsModel<L> where L.Output == M {
    .init(left, [value?.persistentModelID])
  }
  public static func equal<R: PredicateExpression, M: PersistentModel>(
    value: M, _ right: R
  ) -> _SteadExpressions.IsModel<R> where R.Output == M {
    .init(right, [value.persistentModelID])
  }
  public static func equal<R: PredicateExpression, M: PersistentModel>(
    value: M?, _ right: R
  ) -> _SteadExpressions.IsModel<R> where R.Output == M? {
    .init(right, [value?.persistentModelID])
  }
  @_disfavoredOverload
  public static func equal<R: PredicateExpression, M: PersistentModel>(
    value: M?, _ right: R
  ) -> _SteadExpressions.IsModel<R> where R.Output == M {
    .init(right, [value?.persistentModelID])
  }
  public static func notEqual<L: PredicateExpression, M: PersistentModel>(
    _ left: L, value: M
  ) -> PredicateExpressions.Negation<_SteadExpressions.IsModel<L>> where L.Output == M {
    .init(.init(left, [value.persistentModelID]))
  }
  public static func notEqual<L: PredicateExpression, M: PersistentModel>(
    _ left: L, value: M?
  ) -> PredicateExpressions.Negation<_SteadExpressions.IsModel<L>> where L.Output == M? {
    .init(.init(left, [value?.persistentModelID]))
  }
  @_disfavoredOverload
  public static func notEqual<L: PredicateExpression, M: PersistentModel>(
    _ left: L, value: M?
  ) -> PredicateExpressions.Negation<_SteadExpressions.IsModel<L>> where L.Output == M {
    .init(.init(left, [value?.persistentModelID]))
  }
  public static func notEqual<R: PredicateExpression, M: PersistentModel>(
    value: M, _ right: R
  ) -> PredicateExpressions.Negation<_SteadExpressions.IsModel<R>> where R.Output == M {
    .init(.init(right, [value.persistentModelID]))
  }
  public static func notEqual<R: PredicateExpression, M: PersistentModel>(
    value: M?, _ right: R
  ) -> PredicateExpressions.Negation<_SteadExpressions.IsModel<R>> where R.Output == M? {
    .init(.init(right, [value?.persistentModelID]))
  }
  @_disfavoredOverload
  public static func notEqual<R: PredicateExpression, M: PersistentModel>(
    value: M?, _ right: R
  ) -> PredicateExpressions.Negation<_SteadExpressions.IsModel<R>> where R.Output == M {
    .init(.init(right, [value?.persistentModelID]))
  }
}
