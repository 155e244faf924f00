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
      return [parameters.says(.genericClass(model: model.name.text))]
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
    return keyword.says(
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
    return [attribute.says(.missingInitializer(model: name.text), fixIts: remedies)]
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
