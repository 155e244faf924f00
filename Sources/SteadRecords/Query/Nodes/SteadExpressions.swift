public import Foundation

/// The nodes of predicates that Foundation lacks; not for use by hand.
///
/// They have names of their own, since a later Foundation may have nodes of the same names. Each has its SQL and its
/// form for evaluation in memory beside it. They are Codable where their operands are, as Foundation's are.
public enum _SteadExpressions {}

// MARK: - Optionals and raw values

extension _SteadExpressions {
  /// A value wrapped in an optional, as Swift does with one operand of `==` if the other is optional. SQL needs
  /// nothing for that.
  public struct Promotion<Inner: PredicateExpression>: PredicateExpression {
    public typealias Output = Inner.Output?
    let inner: Inner

    init(_ inner: Inner) { self.inner = inner }

    public func evaluate(_ bindings: PredicateBindings) throws -> Inner.Output? {
      try inner.evaluate(bindings)
    }
  }
}

extension _SteadExpressions.Promotion: Sendable where Inner: Sendable {}
extension _SteadExpressions.Promotion: Codable where Inner: Codable {}
extension _SteadExpressions.Promotion: StandardPredicateExpression
where Inner: StandardPredicateExpression {}

extension _SteadExpressions.Promotion: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    // The same SQL: a value that is not nil and an optional that has it are one value there.
    try translation.term(inner)
  }

  func checkedNode() -> CheckedExpression<Output>? {
    rebuilt(inner) { _SteadExpressions.Promotion($0) }
  }
}

extension _SteadExpressions {
  /// Whether an optional is nil. Unlike `==`, it needs no values that can be compared.
  public struct IsNil<Inner: PredicateExpression, Wrapped>: PredicateExpression
  where Inner.Output == Wrapped? {
    public typealias Output = Bool
    let inner: Inner

    init(_ inner: Inner) { self.inner = inner }

    public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
      try inner.evaluate(bindings) == nil
    }
  }
}

extension _SteadExpressions.IsNil: Sendable where Inner: Sendable {}
extension _SteadExpressions.IsNil: Codable where Inner: Codable {}
extension _SteadExpressions.IsNil: StandardPredicateExpression
where Inner: StandardPredicateExpression {}

extension _SteadExpressions.IsNil: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    try translation.nilTest(translation.term(inner), isNegated: false)
  }

  func checkedNode() -> CheckedExpression<Bool>? { rebuilt(inner) { _SteadExpressions.IsNil($0) } }
}

extension _SteadExpressions {
  /// The raw value of an enum. The key path `\.rawValue` of an app's module could not be recognised as such.
  public struct RawValue<Wrapped: PredicateExpression>: PredicateExpression
  where Wrapped.Output: RawRepresentable {
    public typealias Output = Wrapped.Output.RawValue
    let wrapped: Wrapped

    init(_ wrapped: Wrapped) { self.wrapped = wrapped }

    public func evaluate(_ bindings: PredicateBindings) throws -> Output {
      try wrapped.evaluate(bindings).rawValue
    }
  }
}

extension _SteadExpressions.RawValue: Sendable where Wrapped: Sendable {}
extension _SteadExpressions.RawValue: Codable where Wrapped: Codable {}
extension _SteadExpressions.RawValue: StandardPredicateExpression
where Wrapped: StandardPredicateExpression {}

extension _SteadExpressions.RawValue: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    // The column holds the raw value.
    .scalar(try translation.scalar(wrapped))
  }

  func checkedNode() -> CheckedExpression<Output>? {
    rebuilt(wrapped) { _SteadExpressions.RawValue($0) }
  }
}

// MARK: - Objects

extension _SteadExpressions {
  /// Whether an object, or nil, is among some captured objects.
  ///
  /// A predicate is Sendable and a model is not, so the node keeps the objects' identifiers. A query finds no object
  /// that was not saved when the predicate was made, since its identifier was temporary.
  public struct IsModel<Input: PredicateExpression>: PredicateExpression {
    public typealias Output = Bool
    let input: Input
    let identifiers: [PersistentIdentifier?]

    init(_ input: Input, _ identifiers: [PersistentIdentifier?]) {
      self.input = input
      self.identifiers = identifiers
    }

    public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
      // `as?` also unwraps: an optional that is nil gives nil, which may be among the identifiers.
      let model = try input.evaluate(bindings) as? any PersistentModel
      return identifiers.contains(model?.persistentModelID)
    }
  }

  /// Whether a to-many relationship contains a captured object, of which the identifier is kept.
  public struct ContainsModel<Models: PredicateExpression, Model: PersistentModel>:
    PredicateExpression
  where Models.Output: Sequence<Model> {
    public typealias Output = Bool
    let models: Models
    let identifier: PersistentIdentifier

    init(_ models: Models, _ identifier: PersistentIdentifier) {
      self.models = models
      self.identifier = identifier
    }

    public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
      try models.evaluate(bindings).contains { $0.persistentModelID == identifier }
    }
  }
}

extension _SteadExpressions.IsModel: Sendable where Input: Sendable {}
extension _SteadExpressions.IsModel: Codable where Input: Codable {}
extension _SteadExpressions.IsModel: StandardPredicateExpression
where Input: StandardPredicateExpression {}

extension _SteadExpressions.ContainsModel: Sendable where Models: Sendable {}
extension _SteadExpressions.ContainsModel: Codable where Models: Codable {}
extension _SteadExpressions.ContainsModel: StandardPredicateExpression
where Models: StandardPredicateExpression {}

extension _SteadExpressions.IsModel: SQLTranslatable {
  /// One object is an equality; several are a captured collection of identifiers.
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    let model = try translation.term(input)
    guard identifiers.count == 1, let only = identifiers.first else {
      return try translation.contains(.constant(.other(identifiers)), model, mode)
    }
    return try translation.equality(
      model, .constant(only.map(Constant.identifier) ?? .null), isNegated: false, mode)
  }

  func checkedNode() -> CheckedExpression<Bool>? {
    rebuilt(input) { _SteadExpressions.IsModel($0, identifiers) }
  }
}

extension _SteadExpressions.ContainsModel: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    try translation.contains(
      translation.term(models), .constant(.identifier(identifier)), mode)
  }

  func checkedNode() -> CheckedExpression<Bool>? {
    rebuilt(models) { _SteadExpressions.ContainsModel($0, identifier) }
  }
}

// MARK: - Predicates in predicates

extension _SteadExpressions {
  /// A captured predicate or expression, as a constant of another predicate.
  ///
  /// Off Apple's systems these are not Codable. The node is, so that it can be part of a predicate, and throws when
  /// it is encoded or decoded.
  public struct Captured<Output: Sendable>: StandardPredicateExpression {
    let value: Output

    init(_ value: Output) { self.value = value }

    public func evaluate(_ bindings: PredicateBindings) throws -> Output { value }

    public init(from decoder: any Decoder) throws {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "\(Output.self) cannot be decoded.")
      )
    }

    public func encode(to encoder: any Encoder) throws {
      throw EncodingError.invalidValue(
        value,
        .init(codingPath: encoder.codingPath, debugDescription: "\(Output.self) cannot be encoded.")
      )
    }
  }
}

extension _SteadExpressions.Captured: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    .constant(.other(value))
  }

  func checkedNode() -> CheckedExpression<Output>? { nil }
}

extension _SteadExpressions {
  /// Another predicate, applied to values of this one.
  public struct PredicateEvaluate<Condition: PredicateExpression, each Input: PredicateExpression>:
    PredicateExpression
  where Condition.Output == Foundation.Predicate<repeat (each Input).Output> {
    public typealias Output = Bool
    let predicate: Condition
    let input: (repeat each Input)

    init(_ predicate: Condition, _ input: repeat each Input) {
      self.predicate = predicate
      self.input = (repeat each input)
    }

    public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
      try predicate.evaluate(bindings).evaluate(repeat (each input).evaluate(bindings))
    }
  }
}

extension _SteadExpressions.PredicateEvaluate: Sendable
where Condition: Sendable, repeat each Input: Sendable {}

extension _SteadExpressions.PredicateEvaluate: Encodable
where Condition: Encodable, repeat each Input: Encodable {
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    try container.encode(predicate)
    repeat try container.encode(each input)
  }
}

extension _SteadExpressions.PredicateEvaluate: Decodable
where Condition: Decodable, repeat each Input: Decodable {
  public init(from decoder: any Decoder) throws {
    var container = try decoder.unkeyedContainer()
    predicate = try container.decode(Condition.self)
    input = (repeat try container.decode((each Input).self))
  }
}

extension _SteadExpressions.PredicateEvaluate: StandardPredicateExpression
where Condition: StandardPredicateExpression, repeat each Input: StandardPredicateExpression {}

extension _SteadExpressions.PredicateEvaluate: SQLTranslatable {
  /// Translates the captured predicate in place, with its variables bound to the arguments. The mode is passed on, so
  /// a part of it can be left to memory like a part of this one.
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    // The structure of the inner predicate decides the SQL, so it must be known now. One that
    // depends on the row is not.
    guard case .constant(.other(let value)) = try translation.term(predicate),
      let inner = value as? Condition.Output
    else { throw NotTranslatable("a predicate that is not known before the query runs") }
    var terms: [Term] = []
    for input in repeat each input { terms.append(try translation.term(input)) }
    var keys: [PredicateExpressions.VariableID] = []
    for variable in repeat each inner.variable { keys.append(variable.key) }
    return try translation.binding(keys, to: terms) {
      .scalar(try translation.scalar(try translation.term(inner.expression, mode)))
    }
  }

  /// The captured predicate is rebuilt as well if it, or an argument, can trap.
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
