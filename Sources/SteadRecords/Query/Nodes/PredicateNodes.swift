public import Foundation

/// Foundation's `Predicate` under a name that generated code can qualify in files that do not import Foundation.
public typealias _Predicate<each Input> = Foundation.Predicate<repeat each Input>

/// The functions that the expansion of `#Predicate` calls; not for use by hand.
///
/// A function takes the operands and returns the node that Foundation's `build_…` function returns. It exists for two
/// reasons. Overloads of Foundation's functions and operators make the compiler's work exponential in the number of
/// terms; here functions differ in their names and labels, which the compiler compares before any type, so that its
/// work is linear. And an operand with the label `value:` comes from outside the predicate: it is passed as it is
/// written, so that a literal, `nil` or `.case` gets its type from the other operand.
///
/// If operators make the same kind of node, one function takes the operator as its last argument. `==` and `!=`, `&&`
/// and `||`, and the ranges make nodes of different types, and each has its own function.
///
/// A comment on a function names the source that it stands for: `a`, `b` and `test` depend on the model, and `value`
/// is captured.
///
/// ```swift
/// // { $0.name == title } becomes
/// let _t0 = SteadRecords._PredicateNodes.keyPath(_v0, \.name)
/// let _t1 = SteadRecords._PredicateNodes.equal(_t0, value: title)
/// ```
public enum _PredicateNodes {
  /// A captured value as a node of its own.
  ///
  /// For a value that no other operand gives its type. The predicate has a copy, so a later change
  /// of the captured variable has no effect on it.
  public static func value<T: Codable & Sendable>(_ value: T) -> PredicateExpressions.Value<T> {
    .init(value)
  }
  @available(
    *, unavailable,
    message: "a predicate cannot hold a model; compare it directly, or capture a property of it"
  )
  public static func value<M: PersistentModel>(_ model: M) -> _NoPredicateValue<M> { .init() }
  @available(
    *, unavailable,
    message: "a predicate cannot hold a model; compare it directly, or capture a property of it"
  )
  public static func value<M: PersistentModel>(_ model: M?) -> _NoPredicateValue<M?> { .init() }
  @available(
    *, unavailable,
    message: "a predicate cannot hold models; capture their identifiers, or use contains(_:)"
  )
  public static func value<S: Sequence>(_ models: S) -> _NoPredicateValue<S>
  where S.Element: PersistentModel { .init() }
  /// A captured regular expression.
  ///
  /// It has no SQL: a fetch evaluates it in memory.
  @_disfavoredOverload
  public static func value(_ regex: some RegexComponent)
    -> PredicateExpressions.Value<
      PredicateExpressions.PredicateRegex
    >
  {
    PredicateExpressions.build_Arg(regex)
  }

  /// A property.
  ///
  /// A stored property has SQL, also behind relationships, unless its values are in external storage
  /// or opaque. A computed property of a model is evaluated in memory.
  public static func keyPath<Root: PredicateExpression, V>(
    _ root: Root, _ keyPath: any KeyPath<Root.Output, V> & Sendable
  ) -> PredicateExpressions.KeyPath<Root, V> {
    PredicateExpressions.build_KeyPath(root: root, keyPath: keyPath)
  }

  /// `rawValue` of an enum; the other overload is for any other type with a property of that name.
  public static func rawValue<Root: PredicateExpression>(
    _ root: Root, _ keyPath: any KeyPath<Root.Output, Root.Output.RawValue> & Sendable
  ) -> _SteadExpressions.RawValue<Root> where Root.Output: RawRepresentable {
    _SteadExpressions.RawValue(root)
  }
  /// A property named `rawValue` of any other type.
  @_disfavoredOverload
  public static func rawValue<Root: PredicateExpression, V>(
    _ root: Root, _ keyPath: any KeyPath<Root.Output, V> & Sendable
  ) -> PredicateExpressions.KeyPath<Root, V> {
    PredicateExpressions.build_KeyPath(root: root, keyPath: keyPath)
  }

  // MARK: - Types

  /// `a is T`.
  ///
  /// It has SQL for model objects only.
  public static func typeCheck<E: PredicateExpression, T>(
    _ value: E, _ type: T.Type
  ) -> PredicateExpressions.TypeCheck<E, T> { .init(value) }
  /// `a as? T`.
  public static func conditionalCast<E: PredicateExpression, T>(
    _ value: E, _ type: T.Type
  ) -> PredicateExpressions.ConditionalCast<E, T> { .init(value) }
  /// `a as! T`.
  public static func forceCast<E: PredicateExpression, T>(
    _ value: E, _ type: T.Type
  ) -> PredicateExpressions.ForceCast<E, T> { .init(value) }

  // MARK: - Predicates and expressions

  /// `value.evaluate(a)`.
  public static func evaluate<each I: PredicateExpression>(
    value: Foundation.Predicate<repeat (each I).Output>, _ input: repeat each I
  )
    -> _SteadExpressions.PredicateEvaluate<
      _SteadExpressions.Captured<Foundation.Predicate<repeat (each I).Output>>, repeat each I
    >
  {
    .init(_SteadExpressions.Captured(value), repeat each input)
  }
  /// `value.evaluate(a)`.
  public static func evaluate<each I: PredicateExpression, Output>(
    value: Expression<repeat (each I).Output, Output>, _ input: repeat each I
  )
    -> PredicateExpressions.ExpressionEvaluate<
      _SteadExpressions.Captured<Expression<repeat (each I).Output, Output>>, repeat each I,
      Output
    >
  {
    PredicateExpressions.build_evaluate(
      _SteadExpressions.Captured(value), repeat each input)
  }

  // MARK: - Subscripts

  /// `a[b]`.
  ///
  /// The element at an index. A row matches nothing if the index is past the end.
  public static func element<C: PredicateExpression, I: PredicateExpression>(
    _ collection: C, _ index: I
  ) -> PredicateExpressions.CollectionIndexSubscript<C, I>
  where C.Output: Collection, I.Output == C.Output.Index {
    PredicateExpressions.build_subscript(collection, index)
  }
  /// `a[b]`.
  ///
  /// The value of a dictionary, which is looked up in memory.
  public static func element<C: PredicateExpression, K: PredicateExpression, V>(
    _ dictionary: C, _ key: K
  ) -> PredicateExpressions.DictionaryKeySubscript<C, K, V>
  where C.Output == [K.Output: V], K.Output: Hashable {
    PredicateExpressions.build_subscript(dictionary, key)
  }
  /// `a[b]`.
  public static func element<C, K, D>(
    _ dictionary: C, _ key: K, default value: D
  ) -> PredicateExpressions.DictionaryKeyDefaultValueSubscript<C, K, D>
  where
    C: PredicateExpression, K: PredicateExpression, D: PredicateExpression,
    C.Output == [K.Output: D.Output], K.Output: Hashable
  {
    PredicateExpressions.build_subscript(dictionary, key, default: value)
  }
}

/// Replaces a value that a predicate cannot hold, so that the compiler reports the unavailable function and nothing
/// else.
public struct _NoPredicateValue<Output>: StandardPredicateExpression {
  public func evaluate(_ bindings: PredicateBindings) throws -> Output { throw Unsupported() }

  private struct Unsupported: Error {}
}

// MARK: - Arithmetic

// Nodes that the expansion of `#Predicate` makes: arithmetic. Each function takes a value from outside the
// predicate as it is written, so that literals get their types from the other operand.
extension _PredicateNodes {
  /// `a + b`, `-` or `*`.
  public static func arithmetic<L, R>(
    _ left: L, _ right: R, _ operation: PredicateExpressions.ArithmeticOperator
  ) -> PredicateExpressions.Arithmetic<L, R>
  where L: PredicateExpression, R: PredicateExpression, L.Output: Numeric, L.Output == R.Output {
    PredicateExpressions.build_Arithmetic(lhs: left, rhs: right, op: operation)
  }
  /// `a + value`, `-` or `*`.
  public static func arithmetic<L>(
    _ left: L, value: L.Output,
    _ operation: PredicateExpressions.ArithmeticOperator
  ) -> PredicateExpressions.Arithmetic<L, PredicateExpressions.Value<L.Output>>
  where L: PredicateExpression, L.Output: Numeric {
    PredicateExpressions.build_Arithmetic(
      lhs: left, rhs: PredicateExpressions.Value(value), op: operation)
  }
  /// `value + a`, `-` or `*`.
  public static func arithmetic<R>(
    value: R.Output, _ right: R,
    _ operation: PredicateExpressions.ArithmeticOperator
  ) -> PredicateExpressions.Arithmetic<PredicateExpressions.Value<R.Output>, R>
  where R: PredicateExpression, R.Output: Numeric {
    PredicateExpressions.build_Arithmetic(
      lhs: PredicateExpressions.Value(value), rhs: right, op: operation)
  }

  /// `a / b`.
  public static func quotient<L, R>(_ left: L, _ right: R) -> PredicateExpressions.IntDivision<L, R>
  where
    L: PredicateExpression, R: PredicateExpression, L.Output: BinaryInteger, L.Output == R.Output
  {
    PredicateExpressions.build_Division(lhs: left, rhs: right)
  }
  /// `a / value`.
  public static func quotient<L>(
    _ left: L, value: L.Output
  ) -> PredicateExpressions.IntDivision<L, PredicateExpressions.Value<L.Output>>
  where L: PredicateExpression, L.Output: BinaryInteger {
    PredicateExpressions.build_Division(lhs: left, rhs: PredicateExpressions.Value(value))
  }
  /// `value / a`.
  public static func quotient<R>(
    value: R.Output, _ right: R
  ) -> PredicateExpressions.IntDivision<PredicateExpressions.Value<R.Output>, R>
  where R: PredicateExpression, R.Output: BinaryInteger {
    PredicateExpressions.build_Division(lhs: PredicateExpressions.Value(value), rhs: right)
  }

  /// `a / b`.
  public static func quotient<L, R>(_ left: L, _ right: R)
    -> PredicateExpressions.FloatDivision<L, R>
  where
    L: PredicateExpression, R: PredicateExpression, L.Output: FloatingPoint, L.Output == R.Output
  {
    PredicateExpressions.build_Division(lhs: left, rhs: right)
  }
  /// `a / value`.
  public static func quotient<L>(
    _ left: L, value: L.Output
  ) -> PredicateExpressions.FloatDivision<L, PredicateExpressions.Value<L.Output>>
  where L: PredicateExpression, L.Output: FloatingPoint {
    PredicateExpressions.build_Division(lhs: left, rhs: PredicateExpressions.Value(value))
  }
  /// `value / a`.
  public static func quotient<R>(
    value: R.Output, _ right: R
  ) -> PredicateExpressions.FloatDivision<PredicateExpressions.Value<R.Output>, R>
  where R: PredicateExpression, R.Output: FloatingPoint {
    PredicateExpressions.build_Division(lhs: PredicateExpressions.Value(value), rhs: right)
  }

  /// `a % b`.
  public static func remainder<L, R>(_ left: L, _ right: R)
    -> PredicateExpressions.IntRemainder<L, R>
  where
    L: PredicateExpression, R: PredicateExpression, L.Output: BinaryInteger, L.Output == R.Output
  {
    PredicateExpressions.build_Remainder(lhs: left, rhs: right)
  }
  /// `a % value`.
  public static func remainder<L>(
    _ left: L, value: L.Output
  ) -> PredicateExpressions.IntRemainder<L, PredicateExpressions.Value<L.Output>>
  where L: PredicateExpression, L.Output: BinaryInteger {
    PredicateExpressions.build_Remainder(lhs: left, rhs: PredicateExpressions.Value(value))
  }
  /// `value % a`.
  public static func remainder<R>(
    value: R.Output, _ right: R
  ) -> PredicateExpressions.IntRemainder<PredicateExpressions.Value<R.Output>, R>
  where R: PredicateExpression, R.Output: BinaryInteger {
    PredicateExpressions.build_Remainder(lhs: PredicateExpressions.Value(value), rhs: right)
  }

  /// `-a`.
  public static func unaryMinus<E: PredicateExpression>(
    _ operand: E
  ) -> PredicateExpressions.UnaryMinus<E> where E.Output: SignedNumeric {
    PredicateExpressions.build_UnaryMinus(operand)
  }
}
