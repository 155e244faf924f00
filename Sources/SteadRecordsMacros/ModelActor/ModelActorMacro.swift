import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// `@ModelActor`: gives an actor its own context and runs it on the context's executor.
enum ModelActorMacro {}

extension ModelActorMacro: MemberMacro {
  static func expansion(
    of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
    conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    guard let actor = declaration.as(ActorDeclSyntax.self) else {
      declaration.notAnActor.map(context.diagnose)
      return []
    }
    return ModelActorDeclaration(actor, configuration: context.buildConfiguration).members
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

extension DeclGroupSyntax {
  /// The problem of a type that isn't an actor.
  fileprivate var notAnActor: Diagnostic? {
    let (kind, keyword, name): (String, TokenSyntax, TokenSyntax)
    if let type = self.as(ClassDeclSyntax.self) {
      (kind, keyword, name) = ("class", type.classKeyword, type.name)
    } else if let nominal {
      (kind, keyword, name) = nominal
    } else {
      return nil
    }
    return keyword.says(
      .notAnActor(kind: kind, name: name.text),
      fixIts: kind == "enum" ? [] : [.replacing(keyword, with: "actor")])
  }
}
