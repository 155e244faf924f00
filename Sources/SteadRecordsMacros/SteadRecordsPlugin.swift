import SwiftCompilerPlugin
import SwiftSyntaxMacros

#if !Everything && !Records && !Transfer
  #error(
    "SteadRecords and SteadSwiftData need the trait Records, which brings swift-syntax for their macros. In Package.swift write .package(url: …, traits: [\"Records\"]) for this package."
  )
#endif

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
