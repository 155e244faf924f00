import SwiftSyntax
import SwiftSyntaxMacros

/// `@Model`: gives a class the members that make it a `PersistentModel`.
enum ModelMacro {}

extension ModelMacro: MemberMacro {
  static func expansion(
    of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
    conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    declaration.modelDiagnostics(attribute: node, in: context).forEach(context.diagnose)
    guard let model = declaration.as(ClassDeclSyntax.self), model.isModelable else { return [] }
    return ModelDeclaration(
      model, isRoot: model.isRoot(protocols), configuration: context.buildConfiguration
    ).members
  }
}

extension ModelMacro: MemberAttributeMacro {
  static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingAttributesFor member: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [AttributeSyntax] {
    guard let model = declaration.as(ClassDeclSyntax.self), model.isModelable,
      let variable = member.as(VariableDeclSyntax.self),
      let property = PersistedProperty(variable)
    else { return [] }
    // Whether the class is a root shows in the member role alone; no attribute depends on it.
    return ModelDeclaration(model, isRoot: true, configuration: context.buildConfiguration)
      .attributes(for: property)
  }
}

extension ModelMacro: ExtensionMacro {
  static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    guard let model = declaration.as(ClassDeclSyntax.self), model.isModelable else { return [] }
    return try model.conformances(to: protocols, of: type)
  }
}
