import SwiftParser
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros
import SwiftSyntaxMacrosGenericTestSupport
import Testing

@testable import MacrosUnderTest

/// The macros as the compiler would call them on a root class.
private let rootSpecs: [String: MacroSpec] = specs(modelConformances: [
  "PersistentModel", "Observable", "Sendable",
])

/// The same on a class whose superclass conforms already.
private let subclassSpecs: [String: MacroSpec] = specs(modelConformances: [])

private func specs(modelConformances: [String]) -> [String: MacroSpec] {
  [
    "Model": MacroSpec(
      type: ModelMacro.self, conformances: modelConformances.map { "\(raw: $0)" }),
    "SteadRecords._PersistedProperty": MacroSpec(type: PersistedPropertyMacro.self),
    "_PersistedProperty": MacroSpec(type: PersistedPropertyMacro.self),
    "Attribute": MacroSpec(type: AttributeMacro.self),
    "Relationship": MacroSpec(type: RelationshipMacro.self),
    "Transient": MacroSpec(type: TransientMacro.self),
    "Unique": MacroSpec(type: UniqueMacro.self),
    "Index": MacroSpec(type: IndexMacro.self),
    "Predicate": MacroSpec(type: PredicateMacro.self),
    "ModelPredicate": MacroSpec(type: PredicateMacro.self),
    "ModelActor": MacroSpec(type: ModelActorMacro.self, conformances: ["ModelActor"]),
  ]
}

/// Expects that macros expand to a text.
func expectExpansion(
  of source: String, is expanded: String, isSubclass: Bool = false,
  fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line,
  column: UInt = #column
) {
  assertMacroExpansion(
    source, expandedSource: expanded, macroSpecs: isSubclass ? subclassSpecs : rootSpecs,
    indentationWidth: .spaces(2), failureHandler: record, fileID: fileID, filePath: filePath,
    line: line, column: column)
}

/// Expects that what macros expand to has some pieces of text, with whatever indentation. What is around
/// them is the question of another test.
func expectExpansion(
  of source: String, has pieces: String..., isSubclass: Bool = false,
  sourceLocation: SourceLocation = #_sourceLocation
) {
  let file = Parser.parse(source: source)
  let context = BasicMacroExpansionContext(
    sourceFiles: [file: .init(moduleName: "App", fullFilePath: "App.swift")])
  let expanded = file.expand(
    macroSpecs: isSubclass ? subclassSpecs : rootSpecs,
    contextGenerator: {
      BasicMacroExpansionContext(
        sharingWith: context, lexicalContext: $0.allMacroLexicalContexts())
    }, indentationWidth: .spaces(2))
  let found = lines(of: expanded.description)
  for piece in pieces {
    #expect(
      found.firstRange(of: lines(of: piece)) != nil, "\(expanded)",
      sourceLocation: sourceLocation)
  }
}

private func lines(of text: String) -> [Substring] {
  text.split(separator: "\n").map { $0.drop { $0 == " " } }.filter { !$0.isEmpty }
}

/// Expects what the macros say of a declaration, and what the source is once fix-its were applied.
///
/// - Parameter remedies: The fix-its to apply; all, when nil.
func expectDiagnostics(
  _ diagnostics: [DiagnosticSpec], for source: String, remedies: [String]? = nil,
  fixed: String? = nil, fileID: StaticString = #fileID,
  filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
) {
  // What the source expands to is not the question here.
  let failures = { (failure: TestFailureSpec) in
    if !failure.message.hasPrefix("Macro expansion did not produce the expected") {
      record(failure)
    }
  }
  assertMacroExpansion(
    source, expandedSource: "", diagnostics: diagnostics, macroSpecs: rootSpecs,
    applyFixIts: remedies, fixedSource: fixed, indentationWidth: .spaces(2),
    failureHandler: failures, fileID: fileID, filePath: filePath, line: line, column: column)
}

private func record(_ failure: TestFailureSpec) {
  Issue.record(
    "\(failure.message)",
    sourceLocation: SourceLocation(
      fileID: failure.location.fileID, filePath: failure.location.filePath,
      line: failure.location.line, column: failure.location.column))
}
