import Foundation

/// A predicate for evaluation in memory, with the meaning that its SQL has: where Swift would throw or trap, a value
/// does not match.
///
/// Making one visits each node of the predicate, so a fetch makes one for all of its objects.
struct PredicateMatcher<Input> {
  private let predicate: Predicate<Input>
  /// The predicate with checked arithmetic; nil if nothing in it can trap.
  private let checked: CheckedExpression<Bool>?

  /// Rebuilds the parts of the predicate that can trap.
  init(_ predicate: Predicate<Input>) {
    self.predicate = predicate
    checked = predicate.expression.checked()
  }

  /// Whether a value matches.
  ///
  /// - Throws: What a node that this package does not know throws.
  func matches(_ value: Input) throws -> Bool {
    do {
      // Foundation's own evaluation, which is faster than closures over each node.
      guard let checked else { return try predicate.evaluate(value) }
      return try checked.evaluate(PredicateBindings((predicate.variable, value)))
    } catch is PredicateError {
      return false
    } catch is Trap {
      return false
    }
  }
}

// MARK: - Expressions that throw

/// An expression that throws where Foundation's node traps.
///
/// Foundation's nodes add, divide, negate and make closed ranges with Swift's operators, so a stored number could end
/// the program. For evaluation in memory a predicate is rebuilt with these nodes, from each one that can trap up to
/// the root. A subtree in which nothing can trap is used as it is, with its own speed.
struct CheckedExpression<Output>: PredicateExpression {
  /// Evaluates the expression, or throws where Swift would trap.
  private let body: (PredicateBindings) throws -> Output

  init(_ body: @escaping (PredicateBindings) throws -> Output) { self.body = body }

  init<E: PredicateExpression>(_ expression: E) where E.Output == Output {
    body = expression.evaluate
  }

  func evaluate(_ bindings: PredicateBindings) throws -> Output { try body(bindings) }
}

extension PredicateExpression {
  /// The expression rebuilt to throw instead of trapping; nil if nothing in it can trap.
  func checked() -> CheckedExpression<Output>? {
    // A node of another package is used as it is, with its traps.
    guard let node = self as? any SQLTranslatable else { return nil }
    // The existential has lost the node's output type; the cast finds it again, and always
    // succeeds.
    func open<N: SQLTranslatable>(_ node: N) -> CheckedExpression<Output>? {
      node.checkedNode() as? CheckedExpression<Output>
    }
    return open(node)
  }

  /// The expression rebuilt to throw instead of trapping, or the expression itself.
  func checkedOrSame() -> CheckedExpression<Output> { checked() ?? CheckedExpression(self) }

  /// The same choice by a flag: with `orSame` the result is never nil.
  func checked(orSame: Bool) -> CheckedExpression<Output>? {
    orSame ? checkedOrSame() : checked()
  }
}

extension PredicateExpression {
  /// This node over a checked operand; nil if the operand cannot trap.
  func rebuilt<A: PredicateExpression, Node: PredicateExpression>(
    _ operand: A, _ make: (CheckedExpression<A.Output>) -> Node
  ) -> CheckedExpression<Output>? where Node.Output == Output {
    operand.checked().map { CheckedExpression(make($0)) }
  }

  /// This node over two checked operands; nil if neither can trap.
  func rebuilt<A: PredicateExpression, B: PredicateExpression, Node: PredicateExpression>(
    _ left: A, _ right: B,
    _ make: (CheckedExpression<A.Output>, CheckedExpression<B.Output>) -> Node
  ) -> CheckedExpression<Output>? where Node.Output == Output {
    let (first, second) = (left.checked(), right.checked())
    // Leaves a subtree without traps as it is, all the way up: only the paths to a trap are
    // rebuilt.
    if first == nil, second == nil { return nil }
    return CheckedExpression(
      make(first ?? CheckedExpression(left), second ?? CheckedExpression(right)))
  }

  /// This node over three checked operands; nil if none can trap.
  func rebuilt<
    A: PredicateExpression, B: PredicateExpression, C: PredicateExpression,
    Node: PredicateExpression
  >(
    _ a: A, _ b: B, _ c: C,
    _ make: (
      CheckedExpression<A.Output>, CheckedExpression<B.Output>, CheckedExpression<C.Output>
    ) -> Node
  ) -> CheckedExpression<Output>? where Node.Output == Output {
    let (first, second, third) = (a.checked(), b.checked(), c.checked())
    if first == nil, second == nil, third == nil { return nil }
    return CheckedExpression(
      make(
        first ?? CheckedExpression(a), second ?? CheckedExpression(b),
        third ?? CheckedExpression(c)))
  }
}

/// Thrown by a checked node where Swift would trap.
struct Trap: Error {}
