import SwiftSyntax

extension PredicateWriter {
  /// Writes the statements of a body; its value is that of the last one. What follows a `guard` or an `if` without
  /// `else` is its other branch, so that each path ends with a value.
  ///
  /// Invariant: every path ends with exactly one value, because an expression of SQL has no other form of control
  /// flow.
  ///
  /// `guard let due = $0.due else { return false }; return due < now` becomes
  ///
  /// ```swift
  /// let _t0 = SteadRecords._PredicateNodes.keyPath(_v0, \.due)
  /// let _t1 = SteadRecords._PredicateNodes.forcedUnwrap(_t0)
  /// let _t2 = SteadRecords._PredicateNodes.comparison(_t1, value: now, .lessThan)
  /// let _t3 = SteadRecords._PredicateNodes.isNil(_t0)
  /// let _t4 = SteadRecords._PredicateNodes.conditional(_t3, value: false, _t2)
  /// return _t4
  /// ```
  mutating func statements(_ items: [CodeBlockItemSyntax], in parent: Syntax) throws -> Value {
    guard let first = items.first else { throw PredicateProblem.emptyBody.error(at: parent) }
    let rest = Array(items.dropFirst())
    switch first.item {
    case .expr(let expression): return try result(expression, before: rest)
    case .stmt(let statement): return try self.statement(statement, before: rest, in: parent)
    case .decl(let declaration):
      guard let variable = declaration.as(VariableDeclSyntax.self) else {
        throw PredicateProblem.statement("a declaration other than 'let'").error(at: declaration)
      }
      try constant(variable)
      // A constant at the end has no value that the predicate could return.
      guard !rest.isEmpty else { throw PredicateProblem.missingReturn.error(at: declaration) }
      // What follows sees the constant's name.
      return try statements(rest, in: parent)
    }
  }

  /// Writes a statement: `return`, `guard`, or an expression.
  private mutating func statement(
    _ statement: StmtSyntax, before rest: [CodeBlockItemSyntax], in parent: Syntax
  ) throws -> Value {
    switch statement.as(StmtSyntaxEnum.self) {
    case .returnStmt(let result):
      guard let expression = result.expression else {
        throw PredicateProblem.missingReturn.error(at: result)
      }
      return try value(expression)
    case .expressionStmt(let statement) where !statement.expression.is(SwitchExprSyntax.self):
      return try result(statement.expression, before: rest)
    case .guardStmt(let test):
      guard !rest.isEmpty else { throw PredicateProblem.missingReturn.error(at: test) }
      return try branch(
        Array(test.conditions),
        // What follows a `guard` is the branch in which its conditions hold, and sees what they
        // bind.
        { try $0.statements(rest, in: parent) },
        { try $0.statements(Array(test.body.statements), in: Syntax(test.body)) })
    default: throw PredicateProblem(refusing: statement).error(at: statement)
    }
  }

  /// Writes an expression as the body's value. Only an `if` may have statements after it.
  private mutating func result(
    _ expression: ExprSyntax, before rest: [CodeBlockItemSyntax]
  ) throws -> Value {
    if let condition = expression.as(IfExprSyntax.self) {
      return try self.condition(condition, then: rest)
    }
    guard rest.isEmpty else {
      // An assignment or a call shows more of what was meant than its value does.
      _ = try value(expression)
      throw PredicateProblem.unusedValue.error(at: expression)
    }
    return try value(expression)
  }

  /// Gives the names of a `let` their values.
  private mutating func constant(_ declaration: VariableDeclSyntax) throws {
    guard declaration.bindingSpecifier.tokenKind == .keyword(.let) else {
      throw PredicateProblem.mutableVariable.error(
        at: declaration.bindingSpecifier,
        fixIts: [.replacing(declaration.bindingSpecifier, with: "let")])
    }
    for binding in declaration.bindings {
      guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.text else {
        throw PredicateProblem.pattern.error(at: binding.pattern)
      }
      guard let initializer = binding.initializer?.value else {
        throw PredicateProblem.variableWithoutValue.error(at: binding)
      }
      names[name] = try constant(
        initializer, type: binding.typeAnnotation?.type.trimmedDescription)
    }
  }

  /// Writes an `if`: an expression, or a statement with others after it.
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

  /// Writes one branch of a condition.
  typealias Branch = (inout PredicateWriter) throws -> Value

  /// The value of one of two branches. The negative one does not see what the conditions bind.
  private mutating func branch(
    _ conditions: [ConditionElementSyntax], _ positive: Branch, _ negative: Branch
  ) throws -> Value {
    // The names before the conditions bind theirs.
    let scope = names
    return try test(conditions, positive) { writer in
      let inner = writer.names
      defer { writer.names = inner }
      writer.names = scope
      return try negative(&writer)
    }
  }

  /// Writes the conditions one inside the other: the first decides whether the rest are asked. The negative branch is
  /// written once for each condition, so nested conditions multiply; equal nodes in one closure are shared.
  private mutating func test(
    _ conditions: [ConditionElementSyntax], _ positive: Branch, _ negative: Branch
  ) throws -> Value {
    let outer = names
    defer { names = outer }
    guard let first = conditions.first else { return try positive(&self) }
    let rest = Array(conditions.dropFirst())
    switch first.condition {
    case .expression(let condition):
      let condition = try value(condition)
      let yes = try test(rest, positive, negative)
      return conditional(condition, yes, try negative(&self))
    case .optionalBinding(let binding):
      return try self.binding(binding, rest, positive, negative)
    default: throw PredicateProblem.pattern.error(at: first)
    }
  }

  /// Writes `if let`: the positive branch with the unwrapped optional, if it is not nil.
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
    // Not a flat map: a branch may return nil, which is different from the optional's nil.
    let optional = argument(try value(source))
    // Before the name is bound: the negative branch must not see it.
    let no = try negative(&self)
    names[name] = call("forcedUnwrap", optional)
    let yes = try test(rest, positive, negative)
    return conditional(call("isNil", optional), no, yes)
  }
}
