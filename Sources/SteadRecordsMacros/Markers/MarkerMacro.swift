import SwiftSyntax
import SwiftSyntaxMacros

// Markers that `@Model` reads; they expand to nothing themselves.

/// `@Attribute`: options of an attribute.
enum AttributeMacro: MarkerMacro {}

/// `@Relationship`: options of a relationship.
enum RelationshipMacro: MarkerMacro {}

/// `@Transient`: a property without a column.
enum TransientMacro: MarkerMacro {}

/// `#Unique`: properties whose combined values must be unique.
enum UniqueMacro: MarkerDeclarationMacro {}

/// `#Index`: properties to index together.
enum IndexMacro: MarkerDeclarationMacro {}

protocol MarkerMacro: PeerMacro {}

extension MarkerMacro {
  static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] { [] }
}

protocol MarkerDeclarationMacro: DeclarationMacro {}

extension MarkerDeclarationMacro {
  static func expansion(
    of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] { [] }
}
