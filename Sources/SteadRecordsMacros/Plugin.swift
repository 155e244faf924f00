import SwiftCompilerPlugin
import SwiftSyntaxMacros

@main
struct SteadRecordsPlugin: CompilerPlugin {
  let providingMacros: [any Macro.Type] = []
}
