import SwiftSyntax
import SwiftSyntaxMacros

/// `@_PersistedProperty`, which `@Model` attaches: gives a property its slot and its accessors.
enum PersistedPropertyMacro {
  /// `at:` and `of:`: the property's index and its class, as generated code spells them.
  private static func arguments(of node: AttributeSyntax) -> (index: String, model: String)? {
    guard case .argumentList(let list) = node.arguments else { return nil }
    let texts = list.compactMap {
      $0.expression.as(StringLiteralExprSyntax.self)?.representedLiteralValue
    }
    return texts.count == 2 ? (texts[0], texts[1]) : nil
  }
}

extension PersistedPropertyMacro: PeerMacro {
  static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    declaration.as(VariableDeclSyntax.self).flatMap(PersistedProperty.init)?.storageMembers ?? []
  }
}

extension PersistedPropertyMacro: AccessorMacro {
  static func expansion(
    of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [AccessorDeclSyntax] {
    guard let variable = declaration.as(VariableDeclSyntax.self),
      let property = PersistedProperty(variable), let place = arguments(of: node)
    else { return [] }
    return property.accessors(index: place.index, model: place.model)
  }
}
