import SwiftSyntax

/// The nodes of a file that rules ask for, collected in one pass.
///
/// The pass has its own stack, so that a deep tree takes memory and doesn't crash the process.
struct SyntaxWalk {
  private(set) var calls: [FunctionCallExprSyntax] = []
  private(set) var variables: [VariableDeclSyntax] = []
  private(set) var types: [Syntax] = []
  private(set) var macros: [MacroExpansionExprSyntax] = []
  private(set) var tries: [TryExprSyntax] = []
  private(set) var dos: [DoStmtSyntax] = []
  private(set) var subscripts: [SubscriptCallExprSyntax] = []
  private(set) var members: [MemberAccessExprSyntax] = []
  private(set) var keychainNames: [DeclReferenceExprSyntax] = []
  private(set) var imports: Set<String> = []
  private(set) var assignments: [SequenceExprSyntax] = []
  /// Whether a node is too deep for recursive functions.
  private(set) var isTooDeep = false

  /// How deep a node may be. The descriptions of nodes, which rules read, are recursive.
  static let depthLimit = 3_000

  init(_ tree: SourceFileSyntax) {
    var stack: [(Syntax, Int)] = [(Syntax(tree), 0)]
    while let (node, depth) = stack.popLast() {
      guard depth < Self.depthLimit else {
        isTooDeep = true
        return
      }
      collect(node)
      var children: [Syntax] = []
      for child in node.children(viewMode: .sourceAccurate) where !child.is(TokenSyntax.self) {
        children.append(child)
      }
      for child in children.reversed() { stack.append((child, depth + 1)) }
    }
  }

  private mutating func collect(_ node: Syntax) {
    switch node.kind {
    case .functionCallExpr: node.as(FunctionCallExprSyntax.self).map { calls.append($0) }
    case .subscriptCallExpr: node.as(SubscriptCallExprSyntax.self).map { subscripts.append($0) }
    case .variableDecl: node.as(VariableDeclSyntax.self).map { variables.append($0) }
    case .classDecl, .structDecl, .enumDecl, .actorDecl, .extensionDecl: types.append(node)
    case .macroExpansionExpr: node.as(MacroExpansionExprSyntax.self).map { macros.append($0) }
    case .tryExpr: node.as(TryExprSyntax.self).map { tries.append($0) }
    case .doStmt: node.as(DoStmtSyntax.self).map { dos.append($0) }
    case .memberAccessExpr: node.as(MemberAccessExprSyntax.self).map { members.append($0) }
    case .importDecl:
      if let path = node.as(ImportDeclSyntax.self)?.path { imports.insert(path.trimmedDescription) }
    case .sequenceExpr: node.as(SequenceExprSyntax.self).map { assignments.append($0) }
    case .declReferenceExpr:
      if let name = node.as(DeclReferenceExprSyntax.self), name.baseName.text.hasPrefix("kSec") {
        keychainNames.append(name)
      }
    default: break
    }
  }
}
