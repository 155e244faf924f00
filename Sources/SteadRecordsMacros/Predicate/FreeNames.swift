import SwiftSyntax

/// Finds the names in an expression that are declared outside of it.
///
/// A closure, a condition or a declaration in it may declare a name again, and that is another variable from there on.
/// Costs one pass over the expression.
final class FreeNames: SyntaxVisitor {
  /// One place where a name is used.
  struct Use {
    let token: TokenSyntax
    /// Whether the token also declares the name again, as in `[name]` and `if let name`.
    let isShorthand: Bool

    /// The name, or `$0` and its like.
    var name: String { token.text }
  }

  /// The uses, those of an outer name alone.
  private(set) var uses: [Use] = []
  /// The question marks of optional chains.
  private(set) var chains: Set<SyntaxIdentifier> = []
  /// The names that are declared in the expression, by scope, the innermost last.
  private var scopes: [Set<String>] = [[]]

  /// Stands for `$0`, `$1` and so on, which a closure without written parameters declares all at once.
  private static let shorthandParameters = "$"

  /// The free names of a part of a predicate.
  init(of node: some SyntaxProtocol) {
    super.init(viewMode: .sourceAccurate)
    walk(node)
  }

  // MARK: - Uses

  private func use(_ token: TokenSyntax, isShorthand: Bool = false) {
    let name = token.text.hasPrefix("$") ? Self.shorthandParameters : token.text
    guard !scopes.contains(where: { $0.contains(name) }) else { return }
    uses.append(Use(token: token, isShorthand: isShorthand))
  }

  override func visit(_ node: DeclReferenceExprSyntax) -> SyntaxVisitorContinueKind {
    if node.isVariable { use(node.baseName) }
    return .visitChildren
  }

  override func visit(_ node: OptionalChainingExprSyntax) -> SyntaxVisitorContinueKind {
    chains.insert(node.id)
    return .visitChildren
  }

  // MARK: - Scopes

  private func declare(_ name: String) { scopes[scopes.count - 1].insert(name) }

  /// Declares the names that a pattern binds.
  private func declare(in pattern: some SyntaxProtocol) {
    let found = PatternNames(viewMode: .sourceAccurate)
    found.walk(pattern)
    for name in found.names { declare(name) }
  }

  /// Runs a body in a scope of its own, and returns what it has declared.
  @discardableResult
  private func scoped(_ body: () -> Void) -> Set<String> {
    scopes.append([])
    body()
    return scopes.removeLast()
  }

  /// A local function may be used before it is declared.
  override func visit(_ node: CodeBlockItemListSyntax) -> SyntaxVisitorContinueKind {
    for item in node {
      if let function = item.item.as(FunctionDeclSyntax.self) { declare(function.name.text) }
    }
    return .visitChildren
  }

  override func visit(_ node: CodeBlockSyntax) -> SyntaxVisitorContinueKind {
    scoped { walk(node.statements) }
    return .skipChildren
  }

  override func visit(_ node: ClosureExprSyntax) -> SyntaxVisitorContinueKind {
    let captures = node.signature?.capture?.items ?? []
    // Captures are evaluated outside of the closure.
    for capture in captures {
      if let value = capture.initializer?.value {
        walk(value)
      } else {
        use(capture.name, isShorthand: true)
      }
    }
    scoped {
      for capture in captures { declare(capture.name.text) }
      // A closure without written parameters hides only `$0` and its like.
      for name in node.parameterNames ?? [Self.shorthandParameters] { declare(name) }
      walk(node.statements)
    }
    return .skipChildren
  }

  override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
    // Evaluated where the function is called, without its parameters.
    for parameter in node.signature.parameterClause.parameters {
      if let value = parameter.defaultValue?.value { walk(value) }
    }
    scoped {
      for parameter in node.signature.parameterClause.parameters {
        declare((parameter.secondName ?? parameter.firstName).text)
      }
      if let body = node.body { walk(body) }
    }
    return .skipChildren
  }

  override func visit(_ node: VariableDeclSyntax) -> SyntaxVisitorContinueKind {
    for binding in node.bindings {
      // Before the name is declared: its value may use an outer one of the same name.
      if let value = binding.initializer?.value { walk(value) }
      // In a scope: what a getter without braces of its own declares is not seen behind it.
      if let accessors = binding.accessorBlock { scoped { walk(accessors) } }
      declare(in: binding.pattern)
    }
    return .skipChildren
  }

  // MARK: - Conditions

  /// Each condition sees what those before it bind.
  private func conditions(_ list: ConditionElementListSyntax) {
    for element in list {
      switch element.condition {
      case .optionalBinding(let binding):
        if let value = binding.initializer?.value {
          walk(value)
        } else if let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier {
          use(name, isShorthand: true)
        }
        declare(in: binding.pattern)
      case .matchingPattern(let matching):
        walk(matching.initializer.value)
        walk(matching.pattern)
        declare(in: matching.pattern)
      case .expression(let expression): walk(expression)
      case .availability: break
      }
    }
  }

  override func visit(_ node: IfExprSyntax) -> SyntaxVisitorContinueKind {
    scoped {
      conditions(node.conditions)
      walk(node.body)
    }
    switch node.elseBody {
    case .ifExpr(let other): walk(other)
    case .codeBlock(let block): walk(block)
    case nil: break
    }
    return .skipChildren
  }

  override func visit(_ node: GuardStmtSyntax) -> SyntaxVisitorContinueKind {
    let bound = scoped { conditions(node.conditions) }
    // The body doesn't see what the conditions bind, and the statements that follow do.
    walk(node.body)
    for name in bound { declare(name) }
    return .skipChildren
  }

  override func visit(_ node: WhileStmtSyntax) -> SyntaxVisitorContinueKind {
    scoped {
      conditions(node.conditions)
      walk(node.body)
    }
    return .skipChildren
  }

  override func visit(_ node: ForStmtSyntax) -> SyntaxVisitorContinueKind {
    walk(node.sequence)
    scoped {
      declare(in: node.pattern)
      if let condition = node.whereClause { walk(condition) }
      walk(node.body)
    }
    return .skipChildren
  }

  override func visit(_ node: SwitchCaseSyntax) -> SyntaxVisitorContinueKind {
    scoped {
      if case .case(let label) = node.label {
        // The label's `where` sees what its patterns bind.
        declare(in: label)
        walk(label)
      }
      walk(node.statements)
    }
    return .skipChildren
  }

  override func visit(_ node: CatchClauseSyntax) -> SyntaxVisitorContinueKind {
    scoped {
      declare("error")
      declare(in: node.catchItems)
      walk(node.catchItems)
      walk(node.body)
    }
    return .skipChildren
  }
}

/// The names that a pattern binds.
private final class PatternNames: SyntaxVisitor {
  private(set) var names: [String] = []

  override func visit(_ node: IdentifierPatternSyntax) -> SyntaxVisitorContinueKind {
    names.append(node.identifier.text)
    return .skipChildren
  }
}

extension DeclReferenceExprSyntax {
  /// Whether the name stands alone, rather than for a member.
  fileprivate var isVariable: Bool {
    if let member = parent?.as(MemberAccessExprSyntax.self) { return member.declName.id != id }
    return parent?.is(KeyPathPropertyComponentSyntax.self) != true
  }
}
