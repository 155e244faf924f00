import SwiftSyntax

extension PredicateWriter {
  /// Whether an expression mentions a variable of the predicate.
  func dependsOnVariable(_ expression: some SyntaxProtocol) -> Bool {
    let variables = names.filter { if case .outside = $0.value { false } else { true } }
    let mentions = Mentions(of: Set(variables.keys), or: Set(links.keys))
    mentions.walk(expression)
    return mentions.isFound
  }

  /// The source of a captured expression, with the predicate's constants under the names that the expansion gives them.
  func source(_ expression: ExprSyntax) -> String {
    var constants: [String: String] = [:]
    for case (let name, .outside(let constant)) in names { constants[name] = constant }
    guard !constants.isEmpty else { return expression.trimmedDescription }
    return Renaming(constants).rewrite(expression.trimmed).description
  }
}

extension DeclReferenceExprSyntax {
  /// Whether the name stands alone, rather than for a member.
  fileprivate var isVariable: Bool {
    if let member = parent?.as(MemberAccessExprSyntax.self) { return member.declName.id != id }
    return parent?.is(KeyPathPropertyComponentSyntax.self) != true
  }
}

/// Looks for the predicate's names in an expression; closures in it may declare the same names.
private final class Mentions: SyntaxVisitor {
  private let names: Set<String>
  private let links: Set<SyntaxIdentifier>
  private(set) var isFound = false

  init(of names: Set<String>, or links: Set<SyntaxIdentifier>) {
    self.names = names
    self.links = links
    super.init(viewMode: .sourceAccurate)
  }

  override func visit(_ node: DeclReferenceExprSyntax) -> SyntaxVisitorContinueKind {
    if node.isVariable, names.contains(node.baseName.text) { isFound = true }
    return .visitChildren
  }

  override func visit(_ node: OptionalChainingExprSyntax) -> SyntaxVisitorContinueKind {
    if links.contains(node.id) { isFound = true }
    return .visitChildren
  }

  override func visit(_ node: ClosureExprSyntax) -> SyntaxVisitorContinueKind {
    let own =
      node.parameterNames.map { parameters in { (name: String) in parameters.contains(name) } }
      ?? { $0.hasPrefix("$") }
    let inner = Mentions(of: names.filter { !own($0) }, or: links)
    inner.walk(node.statements)
    isFound = isFound || inner.isFound
    return .skipChildren
  }
}

/// Renames the predicate's constants to their names in the expansion.
private final class Renaming: SyntaxRewriter {
  private let constants: [String: String]

  init(_ constants: [String: String]) {
    self.constants = constants
    super.init()
  }

  override func visit(_ node: DeclReferenceExprSyntax) -> ExprSyntax {
    guard node.isVariable, let name = constants[node.baseName.text] else { return ExprSyntax(node) }
    return ExprSyntax(
      node.with(\.baseName.tokenKind, .identifier(name)))
  }
}

/// Finds what a predicate compares with nil.
final class NilComparisons: SyntaxVisitor {
  private var operands: Set<String> = []

  static func operands(in node: some SyntaxProtocol) -> Set<String> {
    let finder = NilComparisons(viewMode: .sourceAccurate)
    finder.walk(node)
    return finder.operands
  }

  override func visit(_ node: InfixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
    if let tested = node.testedForNil { operands.insert(tested.trimmedDescription) }
    return .visitChildren
  }
}

extension InfixOperatorExprSyntax {
  /// The operand that `==` or `!=` compares with nil.
  var testedForNil: ExprSyntax? {
    let text = `operator`.as(BinaryOperatorExprSyntax.self)?.operator.text
    guard text == "==" || text == "!=" else { return nil }
    if rightOperand.withoutParentheses.is(NilLiteralExprSyntax.self) { return leftOperand }
    if leftOperand.withoutParentheses.is(NilLiteralExprSyntax.self) { return rightOperand }
    return nil
  }
}

extension ExprSyntax {
  var withoutParentheses: ExprSyntax {
    guard let tuple = self.as(TupleExprSyntax.self), tuple.elements.count == 1,
      let element = tuple.elements.first, element.label == nil
    else { return self }
    return element.expression.withoutParentheses
  }
}
