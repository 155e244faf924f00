import Foundation

// How Foundation's nodes of logic, optionals and types are remade over operands that throw instead of trapping.

private typealias Node = PredicateExpressions

extension PredicateExpressions.Conjunction {
  func checkedNode() -> CheckedExpression<Bool>? {
    remade(lhs, rhs) { Node.build_Conjunction(lhs: $0, rhs: $1) }
  }
}

extension PredicateExpressions.Disjunction {
  func checkedNode() -> CheckedExpression<Bool>? {
    remade(lhs, rhs) { Node.build_Disjunction(lhs: $0, rhs: $1) }
  }
}

extension PredicateExpressions.Negation {
  func checkedNode() -> CheckedExpression<Bool>? { remade(wrapped) { Node.build_Negation($0) } }
}

extension PredicateExpressions.Equal {
  func checkedNode() -> CheckedExpression<Bool>? {
    remade(lhs, rhs) { Node.build_Equal(lhs: $0, rhs: $1) }
  }
}

extension PredicateExpressions.NotEqual {
  func checkedNode() -> CheckedExpression<Bool>? {
    remade(lhs, rhs) { Node.build_NotEqual(lhs: $0, rhs: $1) }
  }
}

extension PredicateExpressions.Comparison {
  func checkedNode() -> CheckedExpression<Bool>? {
    remade(lhs, rhs) { Node.build_Comparison(lhs: $0, rhs: $1, op: op) }
  }
}

extension PredicateExpressions.Conditional {
  func checkedNode() -> CheckedExpression<Output>? {
    remade(test, trueBranch, falseBranch) { Node.build_Conditional($0, $1, $2) }
  }
}

extension PredicateExpressions.NilCoalesce {
  func checkedNode() -> CheckedExpression<Output>? {
    remade(lhs, rhs) { Node.build_NilCoalesce(lhs: $0, rhs: $1) }
  }
}

extension PredicateExpressions.ForcedUnwrap {
  func checkedNode() -> CheckedExpression<Output>? { remade(inner) { Node.build_ForcedUnwrap($0) } }
}

extension PredicateExpressions.OptionalFlatMap {
  func checkedNode() -> CheckedExpression<Output>? {
    remade(wrapped, transform) { [variable] wrapped, transform in
      CheckedExpression { bindings in
        guard let value = try wrapped.evaluate(bindings) else { return nil }
        let result = try transform.evaluate(bindings.binding(variable, to: value))
        // A closure's result may be optional itself, or not.
        return RHS.Output.self == Result.self ? result as? Result : result as? Result? ?? nil
      }
    }
  }
}

extension PredicateExpressions.TypeCheck {
  func checkedNode() -> CheckedExpression<Bool>? {
    remade(input) { Node.TypeCheck<_, Desired>($0) }
  }
}

extension PredicateExpressions.ConditionalCast {
  func checkedNode() -> CheckedExpression<Output>? {
    remade(input) { Node.ConditionalCast<_, Desired>($0) }
  }
}

extension PredicateExpressions.ForceCast {
  func checkedNode() -> CheckedExpression<Output>? {
    remade(input) { Node.ForceCast<_, Desired>($0) }
  }
}

extension PredicateExpressions.Value {
  func checkedNode() -> CheckedExpression<Output>? { nil }
}

extension PredicateExpressions.Variable {
  func checkedNode() -> CheckedExpression<Output>? { nil }
}

extension PredicateExpressions.NilLiteral {
  func checkedNode() -> CheckedExpression<Output>? { nil }
}

extension PredicateExpressions.KeyPath {
  func checkedNode() -> CheckedExpression<Output>? {
    remade(root) { Node.build_KeyPath(root: $0, keyPath: keyPath) }
  }
}

extension PredicateExpressions.ExpressionEvaluate {
  func checkedNode() -> CheckedExpression<Output>? {
    let inputs = (repeat (each input).checked())
    var canTrap = false
    for input in repeat each inputs { canTrap = canTrap || input != nil }
    // What is evaluated is captured, so it depends on no variable.
    guard let inner = try? expression.evaluate(PredicateBindings()),
      let body = inner.expression.checked(orSame: canTrap)
    else { return nil }
    let values = (repeat (each input).checkedOrSame())
    return CheckedExpression { bindings in
      try body.evaluate(
        PredicateBindings(repeat (each inner.variable, try (each values).evaluate(bindings))))
    }
  }
}
