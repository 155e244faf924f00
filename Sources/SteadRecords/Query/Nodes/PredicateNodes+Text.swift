public import Foundation

// Nodes of strings.
extension _PredicateNodes {
  public static func letterCase<E: PredicateExpression>(
    _ text: E, isUpper: Bool
  ) -> _SteadExpressions.StringCase<E> where E.Output: StringProtocol {
    .init(text, isUpper: isUpper)
  }

  public static func starts<L: PredicateExpression, R: PredicateExpression>(
    _ base: L, _ prefix: R
  ) -> PredicateExpressions.SequenceStartsWith<L, R>
  where
    L.Output: Sequence, R.Output: Sequence, L.Output.Element: Equatable,
    L.Output.Element == R.Output.Element
  {
    PredicateExpressions.build_starts(base, with: prefix)
  }
  public static func starts<L: PredicateExpression>(
    _ base: L, value: String
  ) -> PredicateExpressions.SequenceStartsWith<L, PredicateExpressions.Value<String>>
  where L.Output: StringProtocol {
    PredicateExpressions.build_starts(base, with: PredicateExpressions.Value(value))
  }
  public static func starts<R: PredicateExpression>(
    value: String, _ prefix: R
  ) -> PredicateExpressions.SequenceStartsWith<PredicateExpressions.Value<String>, R>
  where R.Output: StringProtocol {
    PredicateExpressions.build_starts(PredicateExpressions.Value(value), with: prefix)
  }

  // The tests and comparisons of two strings, each selected by a value.

  public static func stringTest<L: PredicateExpression, R: PredicateExpression>(
    _ text: L, _ other: R, _ kind: _SteadExpressions.StringTestKind
  ) -> _SteadExpressions.StringTest<L, R>
  where L.Output: StringProtocol, R.Output: StringProtocol {
    .init(text, other, kind)
  }
  public static func stringTest<L: PredicateExpression>(
    _ text: L, value: String, _ kind: _SteadExpressions.StringTestKind
  ) -> _SteadExpressions.StringTest<L, PredicateExpressions.Value<String>>
  where L.Output: StringProtocol {
    .init(text, .init(value), kind)
  }
  public static func stringTest<R: PredicateExpression>(
    value: String, _ other: R, _ kind: _SteadExpressions.StringTestKind
  ) -> _SteadExpressions.StringTest<PredicateExpressions.Value<String>, R>
  where R.Output: StringProtocol {
    .init(.init(value), other, kind)
  }

  public static func stringComparison<L: PredicateExpression, R: PredicateExpression>(
    _ text: L, _ other: R, _ method: _StringComparisonMethod
  ) -> _SteadExpressions.StringComparison<L, R>
  where L.Output: StringProtocol, R.Output: StringProtocol {
    .init(text, other, method)
  }
  public static func stringComparison<L: PredicateExpression>(
    _ text: L, value: String, _ method: _StringComparisonMethod
  ) -> _SteadExpressions.StringComparison<L, PredicateExpressions.Value<String>>
  where L.Output: StringProtocol {
    .init(text, .init(value), method)
  }
  public static func stringComparison<R: PredicateExpression>(
    value: String, _ other: R, _ method: _StringComparisonMethod
  ) -> _SteadExpressions.StringComparison<PredicateExpressions.Value<String>, R>
  where R.Output: StringProtocol {
    .init(.init(value), other, method)
  }
}
