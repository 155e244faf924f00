import SwiftDiagnostics
import SwiftSyntax

extension VariableDeclSyntax {
  /// What is wrong with a property of a model.
  ///
  /// Empty for a property that is not stored, unless it has an attribute about storage.
  var propertyDiagnostics: [Diagnostic] {
    // Other problems of the property would follow from this one.
    if let misplaced = misplacedAttribute { return [misplaced] }
    guard isStoredInstanceProperty else { return [] }
    if attribute(named: "Transient") != nil { return transientDiagnostics }
    if bindings.count > 1 || bindings.first?.pattern.is(TuplePatternSyntax.self) == true {
      return [diagnostic(.severalBindings, fixIts: [splitting].compactMap { $0 })]
    }
    guard let binding = bindings.first,
      let pattern = binding.pattern.as(IdentifierPatternSyntax.self)
    else { return [] }
    let name = pattern.identifier.text.filter { $0 != "`" }
    return [
      modifierDiagnostic(name), tupleDiagnostic(name, binding), wrapperDiagnostic(name),
      relationshipDiagnostic(name, binding), nameDiagnostic(name, pattern),
    ].compactMap { $0 } + optionDiagnostics(name, binding)
  }

  /// The diagnostic for an attribute about storage on a property without any, or for two that contradict each other.
  private var misplacedAttribute: Diagnostic? {
    let marks = ["Attribute", "Relationship"].compactMap { attribute(named: $0) }
    let name = bindings.first?.pattern.trimmedDescription ?? ""
    if marks.count == 2 {
      return marks[0].diagnostic(
        .contradiction(first: "Attribute", second: "Relationship", property: name),
        fixIts: marks.map { .removing($0) })
    }
    guard let mark = marks.first else { return nil }
    if let transient = attribute(named: "Transient") {
      return mark.diagnostic(
        .contradiction(first: mark.plainName, second: "Transient", property: name),
        fixIts: [.removing(mark), .removing(transient)])
    }
    if isStoredInstanceProperty { return nil }
    return mark.diagnostic(
      .notStored(attribute: mark.plainName, property: name), fixIts: [.removing(mark)])
  }

  /// The diagnostics for `@Transient` properties without an initial value, which objects read from the store could
  /// not have.
  private var transientDiagnostics: [Diagnostic] {
    // The language makes a `lazy` property's value at its first use, in an object from a row as
    // well.
    guard !modifiers.contains(where: { $0.name.text == "lazy" }) else { return [] }
    return bindings.compactMap { binding in
      guard binding.initializer == nil, !binding.startsAsNil(constant: isConstant) else {
        return nil
      }
      let position = (binding.typeAnnotation.map(Syntax.init) ?? Syntax(binding.pattern))
        .endPositionBeforeTrailingTrivia
      return binding.diagnostic(
        .transientWithoutValue(property: binding.pattern.trimmedDescription),
        fixIts: [.inserting(" = <#initial value#>", at: position, of: self)])
    }
  }

  /// Whether the property is a `let`.
  private var isConstant: Bool { bindingSpecifier.tokenKind == .keyword(.let) }

  // MARK: - One check each

  /// The diagnostic for `lazy`, `weak` or `unowned`.
  private func modifierDiagnostic(_ name: String) -> Diagnostic? {
    for modifier in modifiers {
      let message: ModelMessage
      switch modifier.name.text {
      case "lazy": message = .lazy(property: name)
      case "weak", "unowned":
        message = .reference(modifier: modifier.name.text, property: name)
      default: continue
      }
      return modifier.diagnostic(
        message, fixIts: [.removing(modifier), .inserting("@Transient ", at: start, of: self)])
    }
    return nil
  }

  /// Where an attribute or a modifier is inserted.
  private var start: AbsolutePosition { positionAfterSkippingLeadingTrivia }

  /// The diagnostic for a tuple, which is not Codable.
  private func tupleDiagnostic(_ name: String, _ binding: PatternBindingSyntax) -> Diagnostic? {
    if let tuple = binding.valueType?.as(TupleTypeSyntax.self), tuple.elements.count > 1 {
      return tuple.diagnostic(.tuple(property: name))
    }
    guard binding.typeAnnotation == nil,
      let tuple = binding.initializer?.value.as(TupleExprSyntax.self), tuple.elements.count > 1
    else { return nil }
    return tuple.diagnostic(.tuple(property: name))
  }

  /// The diagnostic for a property wrapper, whose storage would replace the slot.
  private func wrapperDiagnostic(_ name: String) -> Diagnostic? {
    // By name, since syntax does not tell a property wrapper from a macro.
    for wrapper in ["Published", "State", "AppStorage", "SceneStorage", "Bindable"] {
      guard let mark = attribute(named: wrapper) else { continue }
      return mark.diagnostic(
        .wrapper(attribute: wrapper, property: name),
        fixIts: [.removing(mark), .inserting("@Transient ", at: start, of: self)])
    }
    return nil
  }

  /// The diagnostic for a relationship that is a `let`, or whose type is certainly no model.
  private func relationshipDiagnostic(
    _ name: String, _ binding: PatternBindingSyntax
  ) -> Diagnostic? {
    guard let mark = attribute(named: "Relationship") else { return nil }
    if let type = binding.obviousValueType {
      return mark.diagnostic(
        .relationshipOfValue(property: name, type: type), fixIts: [.removing(mark)])
    }
    guard isConstant else { return nil }
    return bindingSpecifier.diagnostic(
      .constantRelationship(property: name),
      fixIts: [.replacing(bindingSpecifier, with: "private(set) var")])
  }

  /// The diagnostic for a name that is taken.
  private func nameDiagnostic(_ name: String, _ pattern: IdentifierPatternSyntax) -> Diagnostic? {
    // The errors first, then the warnings: one diagnostic for a name is enough.
    if name.hasPrefix(ReservedNames.prefix) {
      return pattern.diagnostic(.reservedPrefix(property: name))
    }
    if name == ReservedNames.module { return pattern.diagnostic(.hidesModule) }
    if ReservedNames.reserved.contains(name) {
      return pattern.diagnostic(.reserved(property: name))
    }
    if ReservedNames.hidden.contains(name) {
      return pattern.diagnostic(.hidesMember(property: name))
    }
    if ReservedNames.refusedByApple.contains(name) {
      return pattern.diagnostic(.refusedByApple(property: name))
    }
    return nil
  }

  /// The diagnostics for options that the property's type cannot have.
  private func optionDiagnostics(_ name: String, _ binding: PatternBindingSyntax) -> [Diagnostic] {
    guard let mark = attribute(named: "Attribute"), case .argumentList(let options) = mark.arguments
    else { return [] }
    return options.compactMap { option in
      switch option.expression.as(MemberAccessExprSyntax.self)?.declName.baseName.text {
      case "unique" where binding.isArray:
        return option.diagnostic(
          .uniqueArray(property: name), fixIts: [mark.removing(option, from: options)])
      case "externalStorage":
        guard let type = binding.obviousValueType, ValueTypes.small.contains(type) else {
          return nil
        }
        return option.diagnostic(
          .externalValue(property: name, type: type),
          fixIts: [mark.removing(option, from: options)])
      default: return nil
      }
    }
  }
}

// MARK: - Several properties in one declaration

extension VariableDeclSyntax {
  /// The fix-it that gives each property a declaration of its own; nil for a single property.
  var splitting: FixIt? {
    guard bindings.count > 1 else { return nil }
    let head = [attributes.trimmedDescription, modifiers.trimmedDescription, bindingSpecifier.text]
      .filter { !$0.isEmpty }.joined(separator: " ")
    // Every line begins where the first does.
    let indentation = leadingTrivia.description.split(separator: "\n").last ?? ""
    let text = ownTypes.map { binding, type in
      let annotation = type.map(\.trimmedDescription) ?? ""
      let initializer = binding.initializer.map { " " + $0.trimmedDescription } ?? ""
      return "\(head) \(binding.pattern.trimmedDescription)\(annotation)\(initializer)"
    }.joined(separator: "\n" + indentation)
    return FixIt(
      message: ModelRemedy.split,
      changes: [.replaceText(range: trimmedRange, with: text, in: Syntax(root))])
  }

  /// Each binding with its type: in `var a, b: Int` both have the type of the second.
  private var ownTypes: [(PatternBindingSyntax, TypeAnnotationSyntax?)] {
    var following: TypeAnnotationSyntax?
    // From the end: a binding without a type has that of the next one.
    let reversed = bindings.reversed().map { binding in
      following = binding.typeAnnotation ?? (binding.initializer == nil ? following : nil)
      return (binding, following)
    }
    return reversed.reversed()
  }
}

// MARK: - Names

/// Names of properties that mean something to the engine, to the compiler, or to SwiftData.
enum ReservedNames {
  /// Every model gets members of these names, which the engine relies on.
  static let reserved: Set = ["persistentModelID", "persistentBackingData", "schemaMetadata"]

  /// What names of generated members start with.
  static let prefix = "_$"

  /// The module that generated code names; a member of that name would hide it. A property cannot have it.
  static let module = "SteadRecords"

  /// A stored property of the name works, but the model's own is then out of reach.
  static let hidden: Set = ["isDeleted", "hasChanges", "modelContext", "hashValue"]

  /// Core Data's objects have members of these names; a model with such a property opens no store.
  static let refusedByApple: Set = ["description", "hash"]
}

// MARK: - Types of values

/// Types of the standard library and of Foundation that are certainly no models. `Character` is not among them: games
/// have models of that name.
enum ValueTypes {
  /// The types whose values fit in a column at any reasonable length.
  static let small: Set = [
    "Bool", "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64",
    "Float", "Double", "CGFloat", "Decimal", "Date", "UUID", "TimeInterval",
  ]

  /// All of them.
  static let all = small.union(["String", "Substring", "Data", "URL"])
}

extension PatternBindingSyntax {
  /// The declared type without optionality.
  var valueType: TypeSyntax? {
    guard let type = typeAnnotation?.type else { return nil }
    return type.as(OptionalTypeSyntax.self)?.wrappedType
      ?? type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self)?.wrappedType ?? type
  }

  /// The name of the type, or of an array's element, when it is certainly no model.
  var obviousValueType: String? {
    guard let valueType else { return initializer?.value.literalType ?? calledType }
    let element = valueType.as(ArrayTypeSyntax.self)?.element ?? valueType
    guard ValueTypes.all.contains(element.plainName) else { return nil }
    return valueType.trimmedDescription
  }

  /// `Date` of `Date()`.
  private var calledType: String? {
    initializer?.value.calledName.flatMap { ValueTypes.all.contains($0) ? $0 : nil }
  }

  /// Whether the property's type is an array, as far as syntax shows.
  var isArray: Bool {
    valueType?.is(ArrayTypeSyntax.self) ?? initializer?.value.is(ArrayExprSyntax.self) ?? false
  }

  /// Whether the property is nil before anything is assigned.
  func startsAsNil(constant: Bool) -> Bool {
    guard !constant, let type = typeAnnotation?.type else { return false }
    return type.is(OptionalTypeSyntax.self) || type.is(ImplicitlyUnwrappedOptionalTypeSyntax.self)
  }
}

extension ExprSyntax {
  /// The type of a literal: `String` of `"a"`; nil for anything else.
  var literalType: String? {
    switch kind {
    case .stringLiteralExpr: "String"
    case .integerLiteralExpr: "Int"
    case .floatLiteralExpr: "Double"
    case .booleanLiteralExpr: "Bool"
    default: nil
    }
  }

  /// The name that is called: `Date` of `Date()`; nil for anything else.
  var calledName: String? {
    self.as(FunctionCallExprSyntax.self)?.calledExpression.as(DeclReferenceExprSyntax.self)?
      .baseName.text
  }
}
