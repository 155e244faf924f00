import SwiftCompilerPlugin
import SwiftSyntax
import SwiftSyntaxMacros

#if !Everything && !Records && !Transfer && !Server
  #error(
    "SteadRecords and SteadSwiftData need the trait Records, which brings swift-syntax for their macros. In Package.swift write .package(url: …, traits: [\"Records\"]) for this package."
  )
#endif

/// The compiler plugin, which the compiler starts and asks for expansions. `#externalMacro` names the types of the
/// list.
@main
struct SteadRecordsPlugin: CompilerPlugin {
  let providingMacros: [any Macro.Type] = [
    ModelMacro.self,
    PersistedPropertyMacro.self,
    AttributeMacro.self,
    RelationshipMacro.self,
    TransientMacro.self,
    UniqueMacro.self,
    IndexMacro.self,
    ModelActorMacro.self,
    PredicateMacro.self,
  ]
}

// MARK: - Markers

// Markers that `@Model` reads; they expand to nothing themselves.

/// `@Attribute`: options of an attribute. `@Model` reads it.
enum AttributeMacro: MarkerMacro {}

/// `@Relationship`: options of a relationship.
enum RelationshipMacro: MarkerMacro {}

/// `@Transient`: a property without a column.
enum TransientMacro: MarkerMacro {}

/// `#Unique`: properties whose combined values must be unique.
enum UniqueMacro: MarkerDeclarationMacro {}

/// `#Index`: properties to index together.
enum IndexMacro: MarkerDeclarationMacro {}

/// An attribute that expands to nothing.
///
/// The compiler needs an implementation for each attribute, even if another macro reads it.
protocol MarkerMacro: PeerMacro {}

extension MarkerMacro {
  static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] { [] }
}

/// A declaration that expands to nothing.
protocol MarkerDeclarationMacro: DeclarationMacro {}

extension MarkerDeclarationMacro {
  static func expansion(
    of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] { [] }
}
