import Foundation

// How Foundation's nodes of ranges, strings and collections are remade over operands that throw instead of trapping.

private typealias Node = PredicateExpressions

extension PredicateExpressions.Range {
  func checkedNode() -> CheckedExpression<Output>? {
    remade(lower, upper) { Node.build_Range(lower: $0, upper: $1) }
  }
}

extension PredicateExpressions.ClosedRange {
  /// Bounds in the wrong order trap here, while they throw in a half-open range.
  func checkedNode() -> CheckedExpression<Output>? {
    let (lower, upper) = (lower.checkedOrSame(), upper.checkedOrSame())
    return CheckedExpression { bindings in
      let (first, last) = (try lower.evaluate(bindings), try upper.evaluate(bindings))
      guard first <= last else { throw Trap() }
      return first...last
    }
  }
}

extension PredicateExpressions.RangeExpressionContains {
  func checkedNode() -> CheckedExpression<Bool>? {
    remade(range, element) { Node.build_contains($0, $1) }
  }
}

extension PredicateExpressions.SequenceContains {
  func checkedNode() -> CheckedExpression<Bool>? {
    remade(sequence, element) { Node.build_contains($0, $1) }
  }
}

extension PredicateExpressions.SequenceContainsWhere {
  func checkedNode() -> CheckedExpression<Bool>? {
    remade(sequence, test) { [variable] sequence, test in
      CheckedExpression { bindings in
        try sequence.evaluate(bindings).contains {
          try test.evaluate(bindings.binding(variable, to: $0))
        }
      }
    }
  }
}

extension PredicateExpressions.SequenceAllSatisfy {
  func checkedNode() -> CheckedExpression<Bool>? {
    remade(sequence, test) { [variable] sequence, test in
      CheckedExpression { bindings in
        try sequence.evaluate(bindings).allSatisfy {
          try test.evaluate(bindings.binding(variable, to: $0))
        }
      }
    }
  }
}

extension PredicateExpressions.Filter {
  func checkedNode() -> CheckedExpression<Output>? {
    remade(sequence, filter) { [variable] sequence, filter in
      CheckedExpression { bindings in
        try sequence.evaluate(bindings).filter {
          try filter.evaluate(bindings.binding(variable, to: $0))
        }
      }
    }
  }
}

extension PredicateExpressions.SequenceStartsWith {
  func checkedNode() -> CheckedExpression<Bool>? {
    remade(base, prefix) { Node.build_starts($0, with: $1) }
  }
}

extension PredicateExpressions.SequenceMinimum {
  func checkedNode() -> CheckedExpression<Output>? { remade(elements) { Node.build_min($0) } }
}

extension PredicateExpressions.SequenceMaximum {
  func checkedNode() -> CheckedExpression<Output>? { remade(elements) { Node.build_max($0) } }
}

extension PredicateExpressions.CollectionContainsCollection {
  func checkedNode() -> CheckedExpression<Bool>? {
    remade(base, other) { Node.build_contains($0, $1) }
  }
}

extension PredicateExpressions.CollectionIndexSubscript {
  func checkedNode() -> CheckedExpression<Output>? {
    remade(wrapped, index) { Node.build_subscript($0, $1) }
  }
}

extension PredicateExpressions.CollectionRangeSubscript {
  func checkedNode() -> CheckedExpression<Output>? {
    remade(wrapped, range) { Node.build_subscript($0, $1) }
  }
}

extension PredicateExpressions.DictionaryKeySubscript {
  func checkedNode() -> CheckedExpression<Output>? {
    remade(wrapped, key) { Node.build_subscript($0, $1) }
  }
}

extension PredicateExpressions.DictionaryKeyDefaultValueSubscript {
  func checkedNode() -> CheckedExpression<Output>? {
    remade(wrapped, key, `default`) { Node.build_subscript($0, $1, default: $2) }
  }
}

extension PredicateExpressions.StringContainsRegex {
  func checkedNode() -> CheckedExpression<Bool>? {
    remade(subject, regex) { Node.build_contains($0, $1) }
  }
}
