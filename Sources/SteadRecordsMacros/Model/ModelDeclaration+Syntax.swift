import SwiftIfConfig
import SwiftSyntax

extension ModelDeclaration {
  /// Reads a class declaration.
  ///
  /// - Parameters:
  ///   - isRoot: Whether the class itself becomes a model; otherwise its superclass is one.
  ///   - configuration: Evaluates the class's `#if`s; without it their members are left out.
  init(
    _ declaration: ClassDeclSyntax, isRoot: Bool, configuration: (any BuildConfiguration)?
  ) {
    name = declaration.name.text
    let modifiers = declaration.modifiers.map(\.name.text)
    // As written: an internal class without subclasses cannot be told from one with.
    isFinal = modifiers.contains("final")
    access =
      if modifiers.contains("public") || modifiers.contains("open") {
        "public "
      } else if modifiers.contains("package") {
        "package "
      } else {
        ""
      }
    inheritsSomething = declaration.inheritanceClause != nil
    // The language demands that a superclass be first in the clause.
    supermodel =
      isRoot ? nil : declaration.inheritanceClause?.inheritedTypes.first?.type.trimmedDescription
    let members = declaration.memberBlock.members.active(in: configuration)
    let variables = members.compactMap { $0.as(VariableDeclSyntax.self) }
    properties = variables.compactMap(PersistedProperty.init)
    unstored = variables.unstored
    hasDeinitializer = members.contains { $0.is(DeinitializerDeclSyntax.self) }
    // What a diagnostic refuses would only be refused again in the expansion.
    constraints = members.compactMap { member in
      guard let macro = member.as(MacroExpansionDeclSyntax.self),
        macro.misnamed(in: declaration, properties: variables).isEmpty
      else { return nil }
      return Constraint(macro)
    }
  }
}

// MARK: - Conditional compilation

extension MemberBlockItemListSyntax {
  /// The declarations that remain once each `#if` is decided.
  func active(in configuration: (any BuildConfiguration)?) -> [DeclSyntax] {
    flatMap { member -> [DeclSyntax] in
      guard let condition = member.decl.as(IfConfigDeclSyntax.self) else { return [member.decl] }
      guard let configuration, let clause = condition.activeClause(in: configuration).clause,
        case .decls(let members) = clause.elements
      else { return [] }
      return members.active(in: configuration)
    }
  }
}

extension ModelDeclaration.Constraint {
  /// Parses `#Unique<T>(…)` or `#Index<T>(…)`; nil for any other macro.
  init?(_ macro: MacroExpansionDeclSyntax) {
    guard let kind = Kind(rawValue: macro.macroName.text) else { return nil }
    self.kind = kind
    arguments = macro.arguments.trimmedDescription
  }
}

// MARK: - Properties

extension PersistedProperty {
  /// Parses a property; nil if it has no column.
  init?(_ declaration: VariableDeclSyntax) {
    // `isPersisted` has seen to it that there is one binding.
    guard declaration.isPersisted, let binding = declaration.bindings.first,
      let pattern = binding.pattern.as(IdentifierPatternSyntax.self)
    else { return nil }
    name = pattern.identifier.text
    type = binding.typeAnnotation?.type.trimmedDescription
    initialValue = binding.initializer?.value.trimmedDescription
    isConstant = declaration.bindingSpecifier.tokenKind == .keyword(.let)
    let attribute = declaration.attribute(named: "Attribute")
    let relationship = declaration.attribute(named: "Relationship")
    isRelationship = relationship != nil
    // As written: the compiler checks the arguments where they are used.
    metadata = (relationship ?? attribute).map { attribute in
      let arguments = attribute.arguments?.trimmedDescription ?? ""
      return "\(relationship != nil ? "Relationship" : "Attribute")(\(arguments))"
    }
    storage = attribute.map(Storage.init) ?? .plain
    observers = binding.accessorBlock.map(Observer.all) ?? []
    evaluates = binding.initializer.map { !$0.value.isLiteral } ?? false
    isValue = relationship == nil && binding.obviousValueType != nil
  }
}

extension PersistedProperty.Storage {
  /// The storage that the options of `@Attribute` ask for.
  init(_ attribute: AttributeSyntax) {
    switch attribute.optionNames {
    case let names where names.contains("transformable"): self = .transformable
    case let names where names.contains("externalStorage"): self = .external
    case let names where names.contains("codable"): self = .opaque
    default: self = .plain
    }
  }
}

extension PersistedProperty.Observer {
  /// The observers of a property.
  static func all(_ block: AccessorBlockSyntax) -> [Self] {
    guard case .accessors(let accessors) = block.accessors else { return [] }
    return accessors.compactMap { accessor in
      guard let kind = Kind(rawValue: accessor.accessorSpecifier.text), let body = accessor.body
      else { return nil }
      // The names that the language gives the parameter.
      let usual = kind == .willSet ? "newValue" : "oldValue"
      let given = accessor.parameters?.name.text
      // As in the language, the old value is fetched only for an observer that mentions it.
      let mentioned = body.tokens(viewMode: .sourceAccurate).contains { $0.text == usual }
      return Self(
        kind: kind, parameter: given ?? (mentioned ? usual : nil),
        body: body.statements.trimmedDescription)
    }
  }
}

// MARK: - Which properties are stored

extension VariableDeclSyntax {
  /// Whether the property gets a column.
  var isPersisted: Bool {
    guard isStoredInstanceProperty, bindings.count == 1 else { return false }
    return attribute(named: "Transient") == nil
      && !modifiers.contains { ["lazy", "weak", "unowned"].contains($0.name.text) }
  }

  /// Whether each object stores the property.
  var isStoredInstanceProperty: Bool {
    guard !modifiers.contains(where: { ["static", "class"].contains($0.name.text) }) else {
      return false
    }
    return bindings.allSatisfy(\.isStored)
  }

  /// The attribute with that name, however it is qualified.
  func attribute(named name: String) -> AttributeSyntax? {
    for case .attribute(let attribute) in attributes where attribute.plainName == name {
      return attribute
    }
    return nil
  }
}

extension PatternBindingSyntax {
  /// Whether the binding is stored: observers leave it so, any other accessor makes it computed.
  var isStored: Bool {
    guard let accessorBlock else { return true }
    guard case .accessors(let accessors) = accessorBlock.accessors else { return false }
    return accessors.allSatisfy { ["willSet", "didSet"].contains($0.accessorSpecifier.text) }
  }
}

// MARK: - Attributes and classes

extension AttributeSyntax {
  /// `Model` of `@Model` and of `@SwiftData.Model`.
  var plainName: String {
    attributeName.as(MemberTypeSyntax.self)?.name.text
      ?? attributeName.as(IdentifierTypeSyntax.self)?.name.text ?? ""
  }

  /// The names of the options given without a label: `unique` of `.unique`.
  var optionNames: [String] {
    guard case .argumentList(let arguments) = arguments else { return [] }
    return arguments.filter { $0.label == nil }.compactMap { argument in
      let called = argument.expression.as(FunctionCallExprSyntax.self)?.calledExpression
      return (called ?? argument.expression).as(MemberAccessExprSyntax.self)?
        .declName.baseName.text
    }
  }
}

extension ClassDeclSyntax {
  /// Whether the class has a shape that can become a model.
  var isModelable: Bool { genericParameterClause == nil }

  /// Whether the class itself becomes a model; otherwise its superclass is one.
  ///
  /// The compiler does not ask for conformances that the superclass, or the class's own inheritance clause, declares
  /// already.
  ///
  /// A class that lists `PersistentModel` itself is a root, too, although the compiler then asks
  /// for nothing.
  func isRoot(_ missingConformances: [TypeSyntax]) -> Bool {
    let inherited = inheritanceClause?.inheritedTypes.map { $0.type.trimmedDescription } ?? []
    return missingConformances.contains { $0.plainName == "PersistentModel" }
      || inherited.isEmpty
      || inherited.contains { $0.split(separator: ".").last == "PersistentModel" }
  }
}

extension TypeSyntax {
  /// `Sendable` of `Swift.Sendable`.
  var plainName: String {
    trimmedDescription.split(separator: ".").last.map(String.init) ?? ""
  }
}

// MARK: - Properties without a column

extension [VariableDeclSyntax] {
  /// The stored properties without a column; nil when one of them has a form that cannot be filled in.
  var unstored: [ModelDeclaration.UnstoredProperty]? {
    var result: [ModelDeclaration.UnstoredProperty] = []
    for variable in self where variable.isStoredInstanceProperty && !variable.isPersisted {
      // One property that the macro cannot initialize is enough: an object would have uninitialized
      // memory.
      guard let property = variable.unstored else { return nil }
      result.append(property)
    }
    return result
  }
}

extension VariableDeclSyntax {
  /// Attributes that do not change how a property is stored.
  private static let harmlessAttributes: Set = ["Transient", "ObservationIgnored", "available"]

  /// A plain variable: no constant, observer, wrapper, `lazy` or `weak`, all of which store otherwise.
  fileprivate var unstored: ModelDeclaration.UnstoredProperty? {
    guard bindings.count == 1, let binding = bindings.first, binding.accessorBlock == nil,
      let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.text,
      bindingSpecifier.tokenKind == .keyword(.var), attributes.allSatisfy(Self.isHarmless),
      !modifiers.contains(where: { ["lazy", "weak", "unowned"].contains($0.name.text) })
    else { return nil }
    // Without a value only an optional has one, nil.
    guard let value = binding.initializer?.value.trimmedDescription else {
      return binding.startsAsNil(constant: false) ? .init(name: name, initialValue: "nil") : nil
    }
    return .init(name: name, initialValue: value)
  }

  /// Whether an attribute does not change how the property is stored.
  private static func isHarmless(_ element: AttributeListSyntax.Element) -> Bool {
    guard case .attribute(let attribute) = element else { return false }
    return harmlessAttributes.contains(attribute.plainName)
  }
}

extension ExprSyntax {
  /// Whether the value is a literal, which costs nothing to make.
  var isLiteral: Bool {
    switch kind {
    case .integerLiteralExpr, .floatLiteralExpr, .booleanLiteralExpr, .nilLiteralExpr: return true
    // An interpolation, which runs code, has several segments.
    case .stringLiteralExpr: return self.cast(StringLiteralExprSyntax.self).segments.count <= 1
    case .arrayExpr: return self.cast(ArrayExprSyntax.self).elements.isEmpty
    case .dictionaryExpr:
      if case .colon = self.cast(DictionaryExprSyntax.self).content { return true }
      return false
    case .prefixOperatorExpr: return self.cast(PrefixOperatorExprSyntax.self).expression.isLiteral
    default: return false
    }
  }
}
