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

// MARK: - Order

/// The order of sort descriptors for objects in memory: the one that their SQL has.
///
/// A value that does not equal itself, which is NaN or made of it, comes after all others, and nil before them; a
/// reversed order is the exact opposite. Foundation's own comparison finds NaN equal to every number: that is no
/// order, and other values end up in the wrong places, too.
///
/// `Decimal` orders its NaN itself, before all numbers, and so does its collation.
struct MemoryOrder<Element> {
  private let comparisons: [(Element, Element) -> ComparisonResult]

  /// The order by the first descriptor that tells two objects apart.
  init(_ descriptors: [SortDescriptor<Element>]) {
    comparisons = descriptors.map { Self.comparison($0) }
  }

  /// The elements in order. Those that no descriptor tells apart stay as they are.
  func sorted(_ elements: [Element]) -> [Element] {
    elements.sorted { left, right in
      for comparison in comparisons {
        let result = comparison(left, right)
        if result != .orderedSame { return result == .orderedAscending }
      }
      return false
    }
  }

  private static func comparison(
    _ descriptor: SortDescriptor<Element>
  ) -> (Element, Element) -> ComparisonResult {
    // The casts are made once, since they cost more than most comparisons.
    guard descriptor.stringComparator == nil, let keyPath = descriptor.keyPath,
      let compare = (keyPath as? any OrderedKeyPath)?.comparison(of: Element.self)
        ?? (keyPath as? any OptionalOrderedKeyPath)?.comparison(of: Element.self)
    else { return { descriptor.compare($0, $1) } }
    return descriptor.order == .forward ? compare : { compare($1, $0) }
  }
}

// MARK: - Values

/// The order of two values, in which those that are not equal to themselves are last.
private func compare<Value: Comparable>(_ left: Value, _ right: Value) -> ComparisonResult {
  // First, and not only where neither is less: a value of several numbers, one of which is NaN, may be less than some.
  switch (left == left, right == right) {
  case (true, true): break
  case (true, false): return .orderedAscending
  case (false, true): return .orderedDescending
  case (false, false): return .orderedSame
  }
  if left < right { return .orderedAscending }
  return right < left ? .orderedDescending : .orderedSame
}

/// A key path whose values have an order.
private protocol OrderedKeyPath {
  /// The order of two objects by their values; nil if the key path does not start at their type.
  func comparison<Root>(of type: Root.Type) -> ((Root, Root) -> ComparisonResult)?
}
extension KeyPath: OrderedKeyPath where Value: Comparable {
  fileprivate func comparison<Element>(
    of type: Element.Type
  ) -> ((Element, Element) -> ComparisonResult)? {
    guard let path = self as? KeyPath<Element, Value> else { return nil }
    return { compare($0[keyPath: path], $1[keyPath: path]) }
  }
}

/// A key path whose values are optional, and have an order.
private protocol OptionalOrderedKeyPath {
  /// The order of two objects by their values; nil if the key path does not start at their type.
  func comparison<Root>(of type: Root.Type) -> ((Root, Root) -> ComparisonResult)?
}
extension KeyPath: OptionalOrderedKeyPath where Value: OrderedOptional {
  fileprivate func comparison<Element>(
    of type: Element.Type
  ) -> ((Element, Element) -> ComparisonResult)? {
    guard let path = self as? KeyPath<Element, Value> else { return nil }
    return { $0[keyPath: path].order(before: $1[keyPath: path]) }
  }
}

/// An optional whose values have an order.
private protocol OrderedOptional {
  /// The order of two values; nil is first.
  func order(before other: Self) -> ComparisonResult
}
extension Optional: OrderedOptional where Wrapped: Comparable {
  fileprivate func order(before other: Wrapped?) -> ComparisonResult {
    switch (self, other) {
    case (nil, nil): .orderedSame
    case (nil, _): .orderedAscending
    case (_, nil): .orderedDescending
    case (let left?, let right?): compare(left, right)
    }
  }
}
