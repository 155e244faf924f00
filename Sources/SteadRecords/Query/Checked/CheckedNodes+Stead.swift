import Foundation

// How this package's own nodes are remade over operands that throw instead of trapping.

extension _SteadExpressions.Promotion {
  func checkedNode() -> CheckedExpression<Output>? {
    remade(inner) { _SteadExpressions.Promotion($0) }
  }
}

extension _SteadExpressions.IsNil {
  func checkedNode() -> CheckedExpression<Bool>? { remade(inner) { _SteadExpressions.IsNil($0) } }
}

extension _SteadExpressions.RawValue {
  func checkedNode() -> CheckedExpression<Output>? {
    remade(wrapped) { _SteadExpressions.RawValue($0) }
  }
}

extension _SteadExpressions.StringCase {
  func checkedNode() -> CheckedExpression<String>? {
    remade(base) { _SteadExpressions.StringCase($0, isUpper: isUpper) }
  }
}

extension _SteadExpressions.StringTest {
  func checkedNode() -> CheckedExpression<Bool>? {
    remade(base, other) { _SteadExpressions.StringTest($0, $1, kind) }
  }
}

extension _SteadExpressions.StringComparison {
  func checkedNode() -> CheckedExpression<Output>? {
    remade(lhs, rhs) { _SteadExpressions.StringComparison($0, $1, method) }
  }
}

extension _SteadExpressions.IsModel {
  func checkedNode() -> CheckedExpression<Bool>? {
    remade(input) { _SteadExpressions.IsModel($0, identifiers) }
  }
}

extension _SteadExpressions.ContainsModel {
  func checkedNode() -> CheckedExpression<Bool>? {
    remade(models) { _SteadExpressions.ContainsModel($0, identifier) }
  }
}

extension _SteadExpressions.Captured {
  func checkedNode() -> CheckedExpression<Output>? { nil }
}

extension _SteadExpressions.PredicateEvaluate {
  func checkedNode() -> CheckedExpression<Bool>? {
    let inputs = (repeat (each input).checked())
    var canTrap = false
    for input in repeat each inputs { canTrap = canTrap || input != nil }
    // What is evaluated is captured, so it depends on no variable.
    guard let inner = try? predicate.evaluate(PredicateBindings()),
      let body = inner.expression.checked(orSame: canTrap)
    else { return nil }
    let values = (repeat (each input).checkedOrSame())
    return CheckedExpression { bindings in
      try body.evaluate(
        PredicateBindings(repeat (each inner.variable, try (each values).evaluate(bindings))))
    }
  }
}
