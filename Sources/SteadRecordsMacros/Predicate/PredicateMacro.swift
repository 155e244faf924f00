import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// `#Predicate` and `#ModelPredicate`: a closure becomes nodes of `PredicateExpressions`.
public struct PredicateMacro: ExpressionMacro {
  public static func expansion(
    of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
  ) throws -> ExprSyntax {
    let argument =
      node.trailingClosure ?? node.arguments.first?.expression.as(ClosureExprSyntax.self)
    guard let closure = argument else { throw PredicateProblem.needsClosure.error(at: node) }
    var writer = PredicateWriter()
    return "\(raw: try writer.predicate(closure))"
  }
}
