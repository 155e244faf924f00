public import Foundation

// Nodes of texts.
extension _PredicateNodes {
  public static func lowercased<E: PredicateExpression>(
    _ text: E
  ) -> PredicateExpressions.StringCase<E> where E.Output: StringProtocol {
    .init(text, isUpper: false)
  }
  public static func uppercased<E: PredicateExpression>(
    _ text: E
  ) -> PredicateExpressions.StringCase<E> where E.Output: StringProtocol {
    .init(text, isUpper: true)
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

  public static func hasPrefix<L: PredicateExpression, R: PredicateExpression>(
    _ text: L, _ other: R
  ) -> PredicateExpressions.StringTest<L, R>
  where L.Output: StringProtocol, R.Output: StringProtocol {
    .init(text, other, .hasPrefix)
  }
  public static func hasPrefix<L: PredicateExpression>(
    _ text: L, value: String
  ) -> PredicateExpressions.StringTest<L, PredicateExpressions.Value<String>>
  where L.Output: StringProtocol {
    .init(text, .init(value), .hasPrefix)
  }
  public static func hasPrefix<R: PredicateExpression>(
    value: String, _ other: R
  ) -> PredicateExpressions.StringTest<PredicateExpressions.Value<String>, R>
  where R.Output: StringProtocol {
    .init(.init(value), other, .hasPrefix)
  }

  public static func hasSuffix<L: PredicateExpression, R: PredicateExpression>(
    _ text: L, _ other: R
  ) -> PredicateExpressions.StringTest<L, R>
  where L.Output: StringProtocol, R.Output: StringProtocol {
    .init(text, other, .hasSuffix)
  }
  public static func hasSuffix<L: PredicateExpression>(
    _ text: L, value: String
  ) -> PredicateExpressions.StringTest<L, PredicateExpressions.Value<String>>
  where L.Output: StringProtocol {
    .init(text, .init(value), .hasSuffix)
  }
  public static func hasSuffix<R: PredicateExpression>(
    value: String, _ other: R
  ) -> PredicateExpressions.StringTest<PredicateExpressions.Value<String>, R>
  where R.Output: StringProtocol {
    .init(.init(value), other, .hasSuffix)
  }

  public static func localizedStandardContains<L: PredicateExpression, R: PredicateExpression>(
    _ text: L, _ other: R
  ) -> PredicateExpressions.StringTest<L, R>
  where L.Output: StringProtocol, R.Output: StringProtocol {
    .init(text, other, .localizedStandardContains)
  }
  public static func localizedStandardContains<L: PredicateExpression>(
    _ text: L, value: String
  ) -> PredicateExpressions.StringTest<L, PredicateExpressions.Value<String>>
  where L.Output: StringProtocol {
    .init(text, .init(value), .localizedStandardContains)
  }
  public static func localizedStandardContains<R: PredicateExpression>(
    value: String, _ other: R
  ) -> PredicateExpressions.StringTest<PredicateExpressions.Value<String>, R>
  where R.Output: StringProtocol {
    .init(.init(value), other, .localizedStandardContains)
  }

  public static func localizedCaseInsensitiveContains<
    L: PredicateExpression, R: PredicateExpression
  >(
    _ text: L, _ other: R
  ) -> PredicateExpressions.StringTest<L, R>
  where L.Output: StringProtocol, R.Output: StringProtocol {
    .init(text, other, .localizedCaseInsensitiveContains)
  }
  public static func localizedCaseInsensitiveContains<L: PredicateExpression>(
    _ text: L, value: String
  ) -> PredicateExpressions.StringTest<L, PredicateExpressions.Value<String>>
  where L.Output: StringProtocol {
    .init(text, .init(value), .localizedCaseInsensitiveContains)
  }
  public static func localizedCaseInsensitiveContains<R: PredicateExpression>(
    value: String, _ other: R
  ) -> PredicateExpressions.StringTest<PredicateExpressions.Value<String>, R>
  where R.Output: StringProtocol {
    .init(.init(value), other, .localizedCaseInsensitiveContains)
  }

  public static func caseInsensitiveCompare<L: PredicateExpression, R: PredicateExpression>(
    _ text: L, _ other: R
  ) -> PredicateExpressions.StringComparison<L, R>
  where L.Output: StringProtocol, R.Output: StringProtocol {
    .init(text, other, .caseInsensitive)
  }
  public static func caseInsensitiveCompare<L: PredicateExpression>(
    _ text: L, value: String
  ) -> PredicateExpressions.StringComparison<L, PredicateExpressions.Value<String>>
  where L.Output: StringProtocol {
    .init(text, .init(value), .caseInsensitive)
  }
  public static func caseInsensitiveCompare<R: PredicateExpression>(
    value: String, _ other: R
  ) -> PredicateExpressions.StringComparison<PredicateExpressions.Value<String>, R>
  where R.Output: StringProtocol {
    .init(.init(value), other, .caseInsensitive)
  }

  public static func localizedCompare<L: PredicateExpression, R: PredicateExpression>(
    _ text: L, _ other: R
  ) -> PredicateExpressions.StringComparison<L, R>
  where L.Output: StringProtocol, R.Output: StringProtocol {
    .init(text, other, .localized)
  }
  public static func localizedCompare<L: PredicateExpression>(
    _ text: L, value: String
  ) -> PredicateExpressions.StringComparison<L, PredicateExpressions.Value<String>>
  where L.Output: StringProtocol {
    .init(text, .init(value), .localized)
  }
  public static func localizedCompare<R: PredicateExpression>(
    value: String, _ other: R
  ) -> PredicateExpressions.StringComparison<PredicateExpressions.Value<String>, R>
  where R.Output: StringProtocol {
    .init(.init(value), other, .localized)
  }

  public static func localizedStandardCompare<L: PredicateExpression, R: PredicateExpression>(
    _ text: L, _ other: R
  ) -> PredicateExpressions.StringComparison<L, R>
  where L.Output: StringProtocol, R.Output: StringProtocol {
    .init(text, other, .localizedStandard)
  }
  public static func localizedStandardCompare<L: PredicateExpression>(
    _ text: L, value: String
  ) -> PredicateExpressions.StringComparison<L, PredicateExpressions.Value<String>>
  where L.Output: StringProtocol {
    .init(text, .init(value), .localizedStandard)
  }
  public static func localizedStandardCompare<R: PredicateExpression>(
    value: String, _ other: R
  ) -> PredicateExpressions.StringComparison<PredicateExpressions.Value<String>, R>
  where R.Output: StringProtocol {
    .init(.init(value), other, .localizedStandard)
  }

  public static func localizedCaseInsensitiveCompare<
    L: PredicateExpression, R: PredicateExpression
  >(
    _ text: L, _ other: R
  ) -> PredicateExpressions.StringComparison<L, R>
  where L.Output: StringProtocol, R.Output: StringProtocol {
    .init(text, other, .localizedCaseInsensitive)
  }
  public static func localizedCaseInsensitiveCompare<L: PredicateExpression>(
    _ text: L, value: String
  ) -> PredicateExpressions.StringComparison<L, PredicateExpressions.Value<String>>
  where L.Output: StringProtocol {
    .init(text, .init(value), .localizedCaseInsensitive)
  }
  public static func localizedCaseInsensitiveCompare<R: PredicateExpression>(
    value: String, _ other: R
  ) -> PredicateExpressions.StringComparison<PredicateExpressions.Value<String>, R>
  where R.Output: StringProtocol {
    .init(.init(value), other, .localizedCaseInsensitive)
  }
}
