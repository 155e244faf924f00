import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// `#Predicate` and `#ModelPredicate`: a closure becomes nodes of `PredicateExpressions`.
public struct PredicateMacro: ExpressionMacro {
  public static func expansion(
    of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
  ) throws -> ExprSyntax {
    guard
      let closure = node.trailingClosure
        ?? node.arguments.first?.expression.as(ClosureExprSyntax.self)
    else {
      throw DiagnosticsError(diagnostics: [
        PredicateProblem.needsClosure.diagnostic(at: node)
      ])
    }
    var writer = PredicateWriter()
    let text = try writer.predicate(closure)
    return "\(raw: text)"
  }
}
