import SwiftDiagnostics
import SwiftIfConfig
import SwiftSyntax
import SwiftSyntaxMacros

extension DeclGroupSyntax {
  /// What is wrong with a declaration that has `@Model`. If its kind is wrong, only that is reported.
  ///
  /// Only what is certain from the syntax of this one class is reported. A macro sees no other file and no types, and
  /// a wrong error could not be silenced.
  func modelDiagnostics(
    attribute: AttributeSyntax, in context: some MacroExpansionContext
  ) -> [Diagnostic] {
    guard let model = self.as(ClassDeclSyntax.self) else {
      return [notAClass(attribute: attribute)].compactMap { $0 }
    }
    if let parameters = model.genericParameterClause {
      return [parameters.diagnostic(.genericClass(model: model.name.text))]
    }
    // Members in an `#if` that is off are not compiled, and are not reported.
    let members = model.memberBlock.members.active(in: context.buildConfiguration)
    let properties = members.compactMap { $0.as(VariableDeclSyntax.self) }
    let macros = members.compactMap { $0.as(MacroExpansionDeclSyntax.self) }
    return model.initializerDiagnostics(members: members, attribute: attribute)
      + properties.flatMap(\.propertyDiagnostics)
      + properties.inverseDiagnostics(in: model)
      + macros.flatMap { $0.constraintDiagnostics(in: model, properties: properties) }
  }

  /// The diagnostic for a type that is no class, with a fix-it unless it is an enum.
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
  /// The diagnostic for a class without an initializer. `@Model` adds one, so that the compiler no longer makes the
  /// default one.
  ///
  /// A convenience initializer doesn't count: it needs another one to call.
  fileprivate func initializerDiagnostics(
    members: [DeclSyntax], attribute: AttributeSyntax
  ) -> [Diagnostic] {
    let hasInitializer = members.contains { member in
      guard let initializer = member.as(InitializerDeclSyntax.self) else { return false }
      // Any designated one will do, also one that throws or is private.
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

  /// The source of an initializer with a parameter for each property. Nil in a subclass, whose superclass's
  /// initializers are not known here, and if a property has neither a type nor a value.
  private var memberwiseInitializer: String? {
    guard inheritanceClause == nil else { return nil }
    let fields = memberBlock.members.compactMap { member in
      member.decl.as(VariableDeclSyntax.self)?.memberwiseField
    }
    // A property with neither is no Swift, and the compiler has reported it.
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
  /// The parameter that a memberwise initializer has for the property; nil for none.
  fileprivate var memberwiseField: (name: String, type: String?, value: String?)? {
    guard isStoredInstanceProperty, attribute(named: "Transient") == nil,
      bindings.count == 1, let binding = bindings.first,
      let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.text
    else { return nil }
    let isConstant = bindingSpecifier.tokenKind == .keyword(.let)
    // Its value is final: an initializer must not set it again.
    if isConstant, binding.initializer != nil { return nil }
    let value = binding.initializer?.value
    let type = binding.typeAnnotation?.type.trimmedDescription ?? value?.obviousType
    let isOptional = binding.typeAnnotation?.type.is(OptionalTypeSyntax.self) ?? false
    return (name, type, value?.trimmedDescription ?? (isOptional ? "nil" : nil))
  }
}

extension ExprSyntax {
  /// The type of a literal, or of a call that spells the type.
  fileprivate var obviousType: String? {
    literalType ?? calledName.flatMap { $0.first?.isUppercase == true ? $0 : nil }
  }
}

extension MemberBlockItemListSyntax {
  /// The stored property after which an initializer is inserted.
  fileprivate var lastStoredProperty: MemberBlockItemSyntax? {
    last { $0.decl.as(VariableDeclSyntax.self)?.isStoredInstanceProperty ?? false }
  }
}

extension Trivia {
  /// The white space before the first token of a line.
  fileprivate var indentation: String {
    String(description.reversed().prefix { $0 == " " || $0 == "\t" }.reversed())
  }
}

// MARK: - Inverses

extension [VariableDeclSyntax] {
  /// The diagnostics for relationships of a class to itself that name each other as inverse.
  ///
  /// Between two classes the compiler reports a circular reference: a macro sees one class alone.
  func inverseDiagnostics(in model: ClassDeclSyntax) -> [Diagnostic] {
    let inverses = compactMap { property -> (name: String, inverse: String, argument: Argument)? in
      guard let name = property.bindings.first?.pattern.trimmedDescription,
        let argument = property.inverseArgument,
        let inverse = argument.expression.as(KeyPathExprSyntax.self)?.property(of: model.name.text)
      else { return nil }
      return (name, inverse, argument)
    }
    return inverses.enumerated().compactMap { position, second in
      // Reported at the second of the two, once for each pair.
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
  /// The argument `inverse:` of `@Relationship`.
  fileprivate var inverseArgument: LabeledExprSyntax? {
    guard case .argumentList(let list) = attribute(named: "Relationship")?.arguments else {
      return nil
    }
    return list.first { $0.label?.text == "inverse" }
  }
}

extension LabeledExprSyntax {
  /// The list that the argument is in.
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
  /// The diagnostics for a `#Unique` or `#Index` that names another class, or something other than a stored property.
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

  /// The key paths that certainly lead to no stored property. A name that the class does not declare may be a
  /// superclass's, if it has one.
  func misnamed(
    in model: ClassDeclSyntax, properties: [VariableDeclSyntax]
  ) -> [(name: String, path: KeyPathExprSyntax)] {
    // Key paths of another class were reported as a whole.
    guard foreignType(in: model) == nil else { return [] }
    let paths = arguments.flatMap { $0.expression.keyPaths }
    return paths.compactMap { path in
      guard let name = path.firstProperty else { return nil }
      let declared = properties.first { $0.declares(name) }
      // Without a superclass a name that is not declared here exists nowhere.
      let isWrong = declared.map { !$0.isPersisted } ?? (model.inheritanceClause == nil)
      return isWrong ? (name, path) : nil
    }
  }

  /// The generic argument, if it is not the class that contains the declaration.
  private func foreignType(in model: ClassDeclSyntax) -> GenericArgumentSyntax.Argument? {
    guard let type = genericArgumentClause?.arguments.first?.argument,
      TypeSyntax(type)?.plainName != model.name.text
    else { return nil }
    return type
  }
}

extension VariableDeclSyntax {
  /// Whether the declaration has a property of that name.
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
