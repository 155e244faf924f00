import SwiftDiagnostics
import SwiftIfConfig
import SwiftSyntax
import SwiftSyntaxMacros

extension DeclGroupSyntax {
  /// The problems of a declaration with `@Model`.
  func modelDiagnostics(
    attribute: AttributeSyntax, in context: some MacroExpansionContext
  ) -> [Diagnostic] {
    guard let model = self.as(ClassDeclSyntax.self) else {
      return [notAClass(attribute: attribute)].compactMap { $0 }
    }
    if let parameters = model.genericParameterClause {
      return [parameters.diagnostic(.genericClass(model: model.name.text))]
    }
    let members = model.memberBlock.members.active(in: context.buildConfiguration)
    let properties = members.compactMap { $0.as(VariableDeclSyntax.self) }
    let macros = members.compactMap { $0.as(MacroExpansionDeclSyntax.self) }
    return model.initializerDiagnostics(members: members, attribute: attribute)
      + properties.flatMap(\.propertyDiagnostics)
      + properties.inverseDiagnostics(in: model)
      + macros.flatMap { $0.constraintDiagnostics(in: model, properties: properties) }
  }

  private func notAClass(attribute: AttributeSyntax) -> Diagnostic? {
    guard let (kind, keyword, name) = nominal else { return nil }
    let message = ModelMessage.notAClass(
      macro: attribute.plainName, kind: kind, name: name.text)
    // Cases cannot become properties by changing a word.
    let isConvertible = keyword.tokenKind != .keyword(.enum)
    return keyword.diagnostic(
      message, fixIts: isConvertible ? [.replacing(keyword, with: "final class")] : [])
  }

  /// The kind, the keyword and the name of a type that isn't a class.
  var nominal: (kind: String, keyword: TokenSyntax, name: TokenSyntax)? {
    if let type = self.as(StructDeclSyntax.self) {
      return ("struct", type.structKeyword, type.name)
    }
    if let type = self.as(EnumDeclSyntax.self) { return ("enum", type.enumKeyword, type.name) }
    if let type = self.as(ActorDeclSyntax.self) { return ("actor", type.actorKeyword, type.name) }
    return nil
  }
}

extension ClassDeclSyntax {
  /// `@Model` adds an initializer, so the compiler no longer adds one for a class that has none.
  fileprivate func initializerDiagnostics(
    members: [DeclSyntax], attribute: AttributeSyntax
  ) -> [Diagnostic] {
    let hasInitializer = members.contains { member in
      guard let initializer = member.as(InitializerDeclSyntax.self) else { return false }
      return !initializer.modifiers.contains { $0.name.text == "convenience" }
    }
    guard !hasInitializer else { return [] }
    let position =
      memberBlock.members.lastStoredProperty?.endPositionBeforeTrailingTrivia
      ?? memberBlock.leftBrace.endPositionBeforeTrailingTrivia
    let remedies = [memberwiseInitializer].compactMap { $0 }.map { text in
      FixIt.inserting(text, at: position, of: self, message: .insertMemberwiseInitializer)
    }
    return [attribute.diagnostic(.missingInitializer(model: name.text), fixIts: remedies)]
  }

  /// The source of an initializer with a parameter for each property; nil in a subclass, since its superclass's
  /// initializers are not known here.
  private var memberwiseInitializer: String? {
    guard inheritanceClause == nil else { return nil }
    let fields = memberBlock.members.compactMap { member in
      member.decl.as(VariableDeclSyntax.self)?.memberwiseField
    }
    guard fields.allSatisfy({ $0.type != nil || $0.value != nil }) else { return nil }
    let outer = leadingTrivia.indentation
    let access = modifiers.first { ["public", "open", "package"].contains($0.name.text) }
      .map { $0.name.text == "package" ? "package " : "public " }
    let typed = fields.filter { $0.type != nil }
    let parameters = typed.map { field in
      "\(field.name): \(field.type ?? "")" + (field.value.map { " = \($0)" } ?? "")
    }
    let lines = typed.map { "\n\(outer)    self.\($0.name) = \($0.name)" }.joined()
    return "\n\n\(outer)  \(access ?? "")init(\(parameters.joined(separator: ", "))) {\(lines)"
      + "\n\(outer)  }"
  }
}

extension VariableDeclSyntax {
  /// What a memberwise initializer takes for the property.
  fileprivate var memberwiseField: (name: String, type: String?, value: String?)? {
    guard isStoredInstanceProperty, attribute(named: "Transient") == nil,
      bindings.count == 1, let binding = bindings.first,
      let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.text
    else { return nil }
    let isConstant = bindingSpecifier.tokenKind == .keyword(.let)
    if isConstant, binding.initializer != nil { return nil }
    let value = binding.initializer?.value
    let type = binding.typeAnnotation?.type.trimmedDescription ?? value?.obviousType
    let isOptional = binding.typeAnnotation?.type.is(OptionalTypeSyntax.self) ?? false
    return (name, type, value?.trimmedDescription ?? (isOptional ? "nil" : nil))
  }
}

extension ExprSyntax {
  /// The type of a literal, or of a call that spells its type.
  fileprivate var obviousType: String? {
    switch kind {
    case .stringLiteralExpr: return "String"
    case .integerLiteralExpr: return "Int"
    case .floatLiteralExpr: return "Double"
    case .booleanLiteralExpr: return "Bool"
    default: break
    }
    let called = self.as(FunctionCallExprSyntax.self)?.calledExpression
    guard let name = called?.as(DeclReferenceExprSyntax.self)?.baseName.text,
      name.first?.isUppercase == true
    else { return nil }
    return name
  }
}

extension MemberBlockItemListSyntax {
  fileprivate var lastStoredProperty: MemberBlockItemSyntax? {
    last { $0.decl.as(VariableDeclSyntax.self)?.isStoredInstanceProperty ?? false }
  }
}

extension Trivia {
  /// The spaces before the first token of a line.
  fileprivate var indentation: String {
    String(description.reversed().prefix { $0 == " " || $0 == "\t" }.reversed())
  }
}

// MARK: - Inverses

extension [VariableDeclSyntax] {
  /// Relationships of a class to itself that name each other.
  ///
  /// Of two classes a macro sees one only; there the compiler reports a circular reference.
  func inverseDiagnostics(in model: ClassDeclSyntax) -> [Diagnostic] {
    let inverses = compactMap { property -> (name: String, inverse: String, argument: Argument)? in
      guard let name = property.bindings.first?.pattern.trimmedDescription,
        let argument = property.inverseArgument,
        let inverse = argument.expression.as(KeyPathExprSyntax.self)?.property(of: model.name.text)
      else { return nil }
      return (name, inverse, argument)
    }
    return inverses.enumerated().compactMap { position, second in
      guard let first = inverses[..<position].first(where: { $0.name == second.inverse }),
        first.inverse == second.name, let list = second.argument.list,
        let mark = list.parent?.as(AttributeSyntax.self)
      else { return nil }
      return second.argument.diagnostic(
        .inverseOnBothSides(first: first.name, second: second.name),
        fixIts: [mark.removing(second.argument, from: list)])
    }
  }

  typealias Argument = LabeledExprSyntax
}

extension VariableDeclSyntax {
  fileprivate var inverseArgument: LabeledExprSyntax? {
    guard case .argumentList(let list) = attribute(named: "Relationship")?.arguments else {
      return nil
    }
    return list.first { $0.label?.text == "inverse" }
  }
}

extension LabeledExprSyntax {
  fileprivate var list: LabeledExprListSyntax? { parent?.as(LabeledExprListSyntax.self) }
}

extension KeyPathExprSyntax {
  /// `parent` of `\Node.parent`, when the root is the named type.
  fileprivate func property(of type: String) -> String? {
    guard root?.trimmedDescription == type, components.count == 1 else { return nil }
    return components.first?.component.as(KeyPathPropertyComponentSyntax.self)?
      .declName.baseName.text
  }
}

extension AttributeSyntax {
  /// Removes an argument; with the last one, the whole attribute.
  func removing(_ argument: LabeledExprSyntax, from list: LabeledExprListSyntax) -> FixIt {
    if list.count > 1 || plainName == "Relationship" { return .removing(argument, from: list) }
    return .removing(self)
  }
}

// MARK: - Constraints

extension MacroExpansionDeclSyntax {
  /// `#Unique` and `#Index` name stored properties of the class that contains them.
  func constraintDiagnostics(
    in model: ClassDeclSyntax, properties: [VariableDeclSyntax]
  ) -> [Diagnostic] {
    guard ModelDeclaration.Constraint(self) != nil else { return [] }
    if let type = foreignType(in: model) {
      return [
        type.diagnostic(
          .foreignConstraint(
            macro: macroName.text, type: type.trimmedDescription, model: model.name.text),
          fixIts: [.replacing(type, with: model.name.text)])
      ]
    }
    return misnamed(in: model, properties: properties).map { name, path in
      path.diagnostic(.constraintOverOther(macro: macroName.text, property: name))
    }
  }

  /// The key paths that certainly lead to no stored property.
  ///
  /// A name that the class does not declare may be a superclass's, if it has one.
  func misnamed(
    in model: ClassDeclSyntax, properties: [VariableDeclSyntax]
  ) -> [(name: String, path: KeyPathExprSyntax)] {
    guard foreignType(in: model) == nil else { return [] }
    let paths = arguments.flatMap { $0.expression.keyPaths }
    return paths.compactMap { path in
      guard let name = path.firstProperty else { return nil }
      let declared = properties.first { $0.declares(name) }
      let isWrong = declared.map { !$0.isPersisted } ?? (model.inheritanceClause == nil)
      return isWrong ? (name, path) : nil
    }
  }

  private func foreignType(in model: ClassDeclSyntax) -> GenericArgumentSyntax.Argument? {
    guard let type = genericArgumentClause?.arguments.first?.argument,
      TypeSyntax(type)?.plainName != model.name.text
    else { return nil }
    return type
  }
}

extension VariableDeclSyntax {
  fileprivate func declares(_ name: String) -> Bool {
    bindings.contains {
      $0.pattern.as(IdentifierPatternSyntax.self)?.identifier.text.filter { $0 != "`" } == name
    }
  }
}

extension ExprSyntax {
  /// The key paths of `[\.a, \.b]` and of `.rtree([\.a])`.
  fileprivate var keyPaths: [KeyPathExprSyntax] {
    if let array = self.as(ArrayExprSyntax.self) {
      return array.elements.compactMap { $0.expression.as(KeyPathExprSyntax.self) }
    }
    return self.as(FunctionCallExprSyntax.self)?.arguments.flatMap { $0.expression.keyPaths } ?? []
  }
}

extension KeyPathExprSyntax {
  /// `parent` of `\.parent.name`.
  fileprivate var firstProperty: String? {
    components.first?.component.as(KeyPathPropertyComponentSyntax.self)?
      .declName.baseName.text.filter { $0 != "`" }
  }
}
