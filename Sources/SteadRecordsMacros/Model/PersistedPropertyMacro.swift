import SwiftSyntax
import SwiftSyntaxMacros

/// `@_PersistedProperty`, which `@Model` attaches: gives a property its slot and its accessors.
enum PersistedPropertyMacro {
  // What the macro writes is laid out already.
  static let formatMode = FormatMode.disabled

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
    guard let variable = declaration.as(VariableDeclSyntax.self),
      let property = PersistedProperty(variable)
    else { return [] }
    return [DeclSyntax(text: property.storageMembers.joined(separator: "\n\n"))]
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
      .map(AccessorDeclSyntax.init(text:))
  }
}
