import SwiftSyntax
import SwiftSyntaxMacros

/// `@Model`: gives a class the members that make it a `PersistentModel`.
enum ModelMacro {
  // What the macro writes is laid out already.
  static let formatMode = FormatMode.disabled
}

extension ModelMacro: MemberMacro {
  static func expansion(
    of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
    conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    declaration.modelDiagnostics(attribute: node, in: context).forEach(context.diagnose)
    guard let model = declaration.as(ClassDeclSyntax.self), model.isModelable else { return [] }
    let declaration = ModelDeclaration(
      model, isRoot: model.isRoot(protocols), configuration: context.buildConfiguration)
    return [DeclSyntax(text: declaration.members.joined(separator: "\n\n"))]
  }
}

extension ModelMacro: MemberAttributeMacro {
  static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingAttributesFor member: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [AttributeSyntax] {
    guard let model = declaration.as(ClassDeclSyntax.self), model.isModelable,
      let variable = member.as(VariableDeclSyntax.self)
    else { return [] }
    return model.attributes(for: variable, configuration: context.buildConfiguration)
  }
}

extension ModelMacro: ExtensionMacro {
  static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    guard let model = declaration.as(ClassDeclSyntax.self), model.isModelable else { return [] }
    return model.conformances(to: protocols, of: type)
  }
}
