public import Foundation

// Nodes of collections and ranges.
extension _PredicateNodes {
  // A range of numbers is a sequence, too.
  /// `a.contains(b)`.
  @_disfavoredOverload
  public static func contains<L: PredicateExpression, R: PredicateExpression>(
    _ sequence: L, _ element: R
  ) -> PredicateExpressions.SequenceContains<L, R>
  where L.Output: Sequence, R.Output: Equatable, R.Output == L.Output.Element {
    PredicateExpressions.build_contains(sequence, element)
  }
  /// `a.contains(b)`.
  public static func contains<L: PredicateExpression, R: PredicateExpression>(
    _ text: L, _ part: R
  ) -> PredicateExpressions.CollectionContainsCollection<L, R>
  where L.Output: StringProtocol, R.Output: StringProtocol {
    PredicateExpressions.build_contains(text, part)
  }
  /// `a.contains(b)`.
  public static func contains<L: PredicateExpression, R: PredicateExpression>(
    _ range: L, _ element: R
  ) -> PredicateExpressions.RangeExpressionContains<L, R>
  where L.Output: RangeExpression, R.Output == L.Output.Bound {
    PredicateExpressions.build_contains(range, element)
  }

  // A value from outside as the element.

  /// `a.contains(value)`.
  public static func contains<L: PredicateExpression>(
    _ text: L, value: String
  ) -> PredicateExpressions.CollectionContainsCollection<L, PredicateExpressions.Value<String>>
  where L.Output: StringProtocol {
    PredicateExpressions.build_contains(text, PredicateExpressions.Value(value))
  }
  /// `a.contains(value)`.
  @_disfavoredOverload
  public static func contains<L: PredicateExpression>(
    _ sequence: L, value: L.Output.Element
  ) -> PredicateExpressions.SequenceContains<L, PredicateExpressions.Value<L.Output.Element>>
  where L.Output: Sequence, L.Output.Element: Equatable {
    PredicateExpressions.build_contains(sequence, PredicateExpressions.Value(value))
  }
  /// `a.contains(value)`.
  public static func contains<L: PredicateExpression, M: PersistentModel>(
    _ models: L, value: M
  ) -> _SteadExpressions.ContainsModel<L, M> where L.Output: Sequence<M> {
    .init(models, value.persistentModelID)
  }
  /// `a.contains(value)`.
  public static func contains<L: PredicateExpression>(
    _ range: L, value: L.Output.Bound
  )
    -> PredicateExpressions.RangeExpressionContains<
      L, PredicateExpressions.Value<L.Output.Bound>
    > where L.Output: RangeExpression
  {
    PredicateExpressions.build_contains(range, PredicateExpressions.Value(value))
  }
  /// `a.contains(value)`.
  public static func contains<L: PredicateExpression>(
    _ text: L, value: some RegexComponent
  )
    -> PredicateExpressions.StringContainsRegex<
      L, PredicateExpressions.Value<PredicateExpressions.PredicateRegex>
    > where L.Output: BidirectionalCollection, L.Output.SubSequence == Substring
  {
    PredicateExpressions.build_contains(text, PredicateExpressions.build_Arg(value))
  }

  // A value from outside as the collection. Whatever it is, an array is what a predicate can hold.

  /// `value.contains(a)`.
  @_disfavoredOverload
  public static func contains<S: Sequence, R: PredicateExpression>(
    value: S, _ element: R
  ) -> PredicateExpressions.SequenceContains<PredicateExpressions.Value<[R.Output]>, R>
  where S.Element == R.Output, R.Output: Equatable {
    PredicateExpressions.build_contains(PredicateExpressions.Value(Array(value)), element)
  }
  /// `value.contains(a)`.
  public static func contains<R: PredicateExpression>(
    value: [R.Output], _ element: R
  ) -> PredicateExpressions.SequenceContains<PredicateExpressions.Value<[R.Output]>, R>
  where R.Output: Equatable {
    PredicateExpressions.build_contains(PredicateExpressions.Value(value), element)
  }
  /// `value.contains(a)`.
  public static func contains<R: PredicateExpression>(
    value: Set<R.Output>, _ element: R
  ) -> PredicateExpressions.SequenceContains<PredicateExpressions.Value<Set<R.Output>>, R> {
    PredicateExpressions.build_contains(PredicateExpressions.Value(value), element)
  }
  /// `value.contains(a)`.
  public static func contains<M: PersistentModel, R: PredicateExpression>(
    value: [M], _ element: R
  ) -> _SteadExpressions.IsModel<R> where R.Output == M {
    .init(element, value.map(\.persistentModelID))
  }
  /// `value.contains(a)`.
  public static func contains<M: PersistentModel, R: PredicateExpression>(
    value: [M?], _ element: R
  ) -> _SteadExpressions.IsModel<R> where R.Output == M? {
    .init(element, value.map { $0?.persistentModelID })
  }
  /// `value.contains(a)`.
  public static func contains<R: PredicateExpression>(
    value: String, _ part: R
  ) -> PredicateExpressions.CollectionContainsCollection<PredicateExpressions.Value<String>, R>
  where R.Output: StringProtocol {
    PredicateExpressions.build_contains(PredicateExpressions.Value(value), part)
  }
  /// `value.contains(a)`.
  public static func contains<R: PredicateExpression>(
    value: ClosedRange<R.Output>, _ element: R
  )
    -> PredicateExpressions.RangeExpressionContains<
      PredicateExpressions.Value<ClosedRange<R.Output>>, R
    >
  {
    PredicateExpressions.build_contains(PredicateExpressions.Value(value), element)
  }
  /// `value.contains(a)`.
  public static func contains<R: PredicateExpression>(
    value: Range<R.Output>, _ element: R
  )
    -> PredicateExpressions.RangeExpressionContains<
      PredicateExpressions.Value<Range<R.Output>>, R
    >
  {
    PredicateExpressions.build_contains(PredicateExpressions.Value(value), element)
  }
  /// `value.contains(a)`.
  public static func contains<R: PredicateExpression>(
    value: PartialRangeFrom<R.Output>, _ element: R
  )
    -> PredicateExpressions.RangeExpressionContains<
      PredicateExpressions.Value<PartialRangeFrom<R.Output>>, R
    >
  {
    PredicateExpressions.build_contains(PredicateExpressions.Value(value), element)
  }
  /// `value.contains(a)`.
  public static func contains<R: PredicateExpression>(
    value: PartialRangeThrough<R.Output>, _ element: R
  )
    -> PredicateExpressions.RangeExpressionContains<
      PredicateExpressions.Value<PartialRangeThrough<R.Output>>, R
    >
  {
    PredicateExpressions.build_contains(PredicateExpressions.Value(value), element)
  }
  /// `value.contains(a)`.
  public static func contains<R: PredicateExpression>(
    value: PartialRangeUpTo<R.Output>, _ element: R
  )
    -> PredicateExpressions.RangeExpressionContains<
      PredicateExpressions.Value<PartialRangeUpTo<R.Output>>, R
    >
  {
    PredicateExpressions.build_contains(PredicateExpressions.Value(value), element)
  }

  // MARK: - Closures

  /// `a.contains { … }`.
  ///
  /// In SQL an EXISTS over the relationship's rows, or over the array's elements.
  public static func containsWhere<L: PredicateExpression, R: PredicateExpression>(
    _ sequence: L, _ test: (PredicateExpressions.Variable<L.Output.Element>) -> R
  ) -> PredicateExpressions.SequenceContainsWhere<L, R> where L.Output: Sequence, R.Output == Bool {
    PredicateExpressions.build_contains(sequence, where: test)
  }
  /// `a.allSatisfy { … }`.
  ///
  /// True for an empty collection, as in Swift.
  public static func allSatisfy<L: PredicateExpression, R: PredicateExpression>(
    _ sequence: L, _ test: (PredicateExpressions.Variable<L.Output.Element>) -> R
  ) -> PredicateExpressions.SequenceAllSatisfy<L, R> where L.Output: Sequence, R.Output == Bool {
    PredicateExpressions.build_allSatisfy(sequence, test)
  }
  /// `a.filter { … }`.
  ///
  /// A collection again, of which `count`, `isEmpty`, `first` and the other tests can be asked.
  public static func filter<L: PredicateExpression, R: PredicateExpression>(
    _ sequence: L, _ test: (PredicateExpressions.Variable<L.Output.Element>) -> R
  ) -> PredicateExpressions.Filter<L, R> where L.Output: Sequence, R.Output == Bool {
    PredicateExpressions.build_filter(sequence, test)
  }

  /// `a.min()`.
  ///
  /// Of an array of values that SQL can order; nil if it is empty.
  public static func min<L: PredicateExpression>(
    _ elements: L
  ) -> PredicateExpressions.SequenceMinimum<L>
  where L.Output: Sequence, L.Output.Element: Comparable {
    PredicateExpressions.build_min(elements)
  }
  /// `a.max()`.
  ///
  /// Of an array of values that SQL can order; nil if it is empty.
  public static func max<L: PredicateExpression>(
    _ elements: L
  ) -> PredicateExpressions.SequenceMaximum<L>
  where L.Output: Sequence, L.Output.Element: Comparable {
    PredicateExpressions.build_max(elements)
  }
}

// MARK: - Strings

// Nodes of strings.
extension _PredicateNodes {
  /// `a.lowercased()` or `uppercased()`.
  public static func letterCase<E: PredicateExpression>(
    _ text: E, isUpper: Bool
  ) -> _SteadExpressions.StringCase<E> where E.Output: StringProtocol {
    .init(text, isUpper: isUpper)
  }

  /// `a.starts(with: b)`.
  public static func starts<L: PredicateExpression, R: PredicateExpression>(
    _ base: L, _ prefix: R
  ) -> PredicateExpressions.SequenceStartsWith<L, R>
  where
    L.Output: Sequence, R.Output: Sequence, L.Output.Element: Equatable,
    L.Output.Element == R.Output.Element
  {
    PredicateExpressions.build_starts(base, with: prefix)
  }
  /// `a.starts(with: value)`.
  public static func starts<L: PredicateExpression>(
    _ base: L, value: String
  ) -> PredicateExpressions.SequenceStartsWith<L, PredicateExpressions.Value<String>>
  where L.Output: StringProtocol {
    PredicateExpressions.build_starts(base, with: PredicateExpressions.Value(value))
  }
  /// `value.starts(with: a)`.
  public static func starts<R: PredicateExpression>(
    value: String, _ prefix: R
  ) -> PredicateExpressions.SequenceStartsWith<PredicateExpressions.Value<String>, R>
  where R.Output: StringProtocol {
    PredicateExpressions.build_starts(PredicateExpressions.Value(value), with: prefix)
  }

  // The tests and comparisons of two strings, each selected by a value.

  /// `a.hasPrefix(b)` or another test.
  public static func stringTest<L: PredicateExpression, R: PredicateExpression>(
    _ text: L, _ other: R, _ kind: _SteadExpressions.StringTestKind
  ) -> _SteadExpressions.StringTest<L, R>
  where L.Output: StringProtocol, R.Output: StringProtocol {
    .init(text, other, kind)
  }
  /// `a.hasPrefix(value)` or another test.
  public static func stringTest<L: PredicateExpression>(
    _ text: L, value: String, _ kind: _SteadExpressions.StringTestKind
  ) -> _SteadExpressions.StringTest<L, PredicateExpressions.Value<String>>
  where L.Output: StringProtocol {
    .init(text, .init(value), kind)
  }
  /// `value.hasPrefix(a)` or another test.
  public static func stringTest<R: PredicateExpression>(
    value: String, _ other: R, _ kind: _SteadExpressions.StringTestKind
  ) -> _SteadExpressions.StringTest<PredicateExpressions.Value<String>, R>
  where R.Output: StringProtocol {
    .init(.init(value), other, kind)
  }

  /// `a.localizedCompare(b)` or another comparison.
  public static func stringComparison<L: PredicateExpression, R: PredicateExpression>(
    _ text: L, _ other: R, _ method: _StringComparisonMethod
  ) -> _SteadExpressions.StringComparison<L, R>
  where L.Output: StringProtocol, R.Output: StringProtocol {
    .init(text, other, method)
  }
  /// `a.localizedCompare(value)` or another comparison.
  public static func stringComparison<L: PredicateExpression>(
    _ text: L, value: String, _ method: _StringComparisonMethod
  ) -> _SteadExpressions.StringComparison<L, PredicateExpressions.Value<String>>
  where L.Output: StringProtocol {
    .init(text, .init(value), method)
  }
  /// `value.localizedCompare(a)` or another comparison.
  public static func stringComparison<R: PredicateExpression>(
    value: String, _ other: R, _ method: _StringComparisonMethod
  ) -> _SteadExpressions.StringComparison<PredicateExpressions.Value<String>, R>
  where R.Output: StringProtocol {
    .init(.init(value), other, method)
  }
}
