import SwiftSyntax
import SwiftSyntaxMacros

/// `@ModelActor`: gives an actor a context of its own and runs it on the context's executor.
enum ModelActorMacro {}

extension ModelActorMacro: MemberMacro {
  static func expansion(
    of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
    conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    guard let actor = declaration.as(ActorDeclSyntax.self) else { return [] }
    return ModelActorDeclaration(actor).members
  }
}

extension ModelActorMacro: ExtensionMacro {
  static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    guard declaration.is(ActorDeclSyntax.self), !protocols.isEmpty else { return [] }
    return [try ExtensionDeclSyntax("extension \(type.trimmed): SteadRecords.ModelActor {}")]
  }
}
