import SwiftSyntax

extension PredicateWriter {
  /// Writes the statements of a body, whose value is the last one's.
  mutating func statements(_ items: [CodeBlockItemSyntax], in parent: Syntax) throws -> Value {
    guard let first = items.first else { throw PredicateProblem.emptyBody.error(at: parent) }
    let rest = Array(items.dropFirst())
    switch first.item {
    case .expr(let expression):
      if let condition = expression.as(IfExprSyntax.self) {
        return try self.condition(condition, then: rest)
      }
      return try value(expression)
    case .stmt(let statement):
      if let result = statement.as(ReturnStmtSyntax.self) {
        guard let expression = result.expression else {
          throw PredicateProblem.missingReturn.error(at: result)
        }
        return try value(expression)
      }
      if let expression = statement.as(ExpressionStmtSyntax.self)?.expression {
        if let condition = expression.as(IfExprSyntax.self) {
          return try self.condition(condition, then: rest)
        }
        return try value(expression)
      }
      if let test = statement.as(GuardStmtSyntax.self) {
        guard !rest.isEmpty else { throw PredicateProblem.missingReturn.error(at: test) }
        return try branch(
          Array(test.conditions),
          { try $0.statements(rest, in: parent) },
          { try $0.statements(Array(test.body.statements), in: Syntax(test.body)) })
      }
      throw PredicateProblem.statement.error(at: statement)
    case .decl(let declaration):
      guard let variable = declaration.as(VariableDeclSyntax.self) else {
        throw PredicateProblem.statement.error(at: declaration)
      }
      try constant(variable)
      guard !rest.isEmpty else { throw PredicateProblem.missingReturn.error(at: declaration) }
      return try statements(rest, in: parent)
    }
  }

  private mutating func constant(_ declaration: VariableDeclSyntax) throws {
    guard declaration.bindingSpecifier.tokenKind == .keyword(.let) else {
      throw PredicateProblem.mutableVariable.error(at: declaration.bindingSpecifier)
    }
    for binding in declaration.bindings {
      guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.text else {
        throw PredicateProblem.pattern.error(at: binding.pattern)
      }
      guard let initializer = binding.initializer?.value else {
        throw PredicateProblem.variableWithoutValue.error(at: binding)
      }
      names[name] = .node(argument(try value(initializer)))
    }
  }

  /// `if`, as an expression or as a statement with more behind it.
  mutating func condition(
    _ expression: IfExprSyntax, then rest: [CodeBlockItemSyntax] = []
  ) throws -> Value {
    try branch(
      Array(expression.conditions),
      { try $0.statements(Array(expression.body.statements), in: Syntax(expression.body)) },
      { writer in
        switch expression.elseBody {
        case .ifExpr(let other): return try writer.condition(other, then: rest)
        case .codeBlock(let block):
          return try writer.statements(Array(block.statements), in: Syntax(block))
        case nil:
          guard !rest.isEmpty else {
            throw PredicateProblem.conditionWithoutElse.error(at: expression)
          }
          return try writer.statements(rest, in: Syntax(expression))
        }
      })
  }

  typealias Branch = (inout PredicateWriter) throws -> Value

  /// The value of one of two branches, by conditions of which the first is looked at first.
  private mutating func branch(
    _ conditions: [ConditionElementSyntax], _ positive: Branch, _ negative: Branch
  ) throws -> Value {
    guard let first = conditions.first else { return try positive(&self) }
    let rest = Array(conditions.dropFirst())
    switch first.condition {
    case .expression(let test):
      let test = try value(test)
      let outer = names
      let yes = try branch(rest, positive, negative)
      names = outer
      return conditional(test, yes, try negative(&self))
    case .optionalBinding(let binding):
      return try self.binding(binding, rest, positive, negative)
    default: throw PredicateProblem.pattern.error(at: first)
    }
  }

  /// `if let`: the optional's value where there is one, else the other branch.
  private mutating func binding(
    _ binding: OptionalBindingConditionSyntax, _ rest: [ConditionElementSyntax],
    _ positive: Branch, _ negative: Branch
  ) throws -> Value {
    guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.text else {
      throw PredicateProblem.pattern.error(at: binding.pattern)
    }
    let source =
      binding.initializer?.value
      ?? ExprSyntax(DeclReferenceExprSyntax(baseName: .identifier(name)))
    let optional = try value(source)
    let variable = newVariable()
    let closure = try closure(over: variable) { writer in
      writer.names[name] = .node(variable)
      return try writer.branch(rest, positive, negative)
    }
    let chain = call("flatMap", argument(optional), closure)
    return coalesce(chain, try negative(&self))
  }
}
