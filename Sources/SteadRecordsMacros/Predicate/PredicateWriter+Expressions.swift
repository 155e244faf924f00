import SwiftSyntax

extension PredicateWriter {
  /// Writes an expression.
  mutating func value(_ expression: ExprSyntax) throws -> Value {
    let expression = expression.withoutParentheses
    guard dependsOnVariable(expression) || isGuardedUnwrap(expression) else {
      return .outside(source(expression))
    }
    if let chain = try optionalChain(expression) { return chain }
    switch expression.as(ExprSyntaxEnum.self) {
    case .declReferenceExpr(let reference):
      if let value = names[reference.baseName.text] { return value }
    case .memberAccessExpr(let member): return try self.member(member)
    case .infixOperatorExpr(let infix): return try self.infix(infix)
    case .prefixOperatorExpr(let prefix): return try self.prefix(prefix)
    case .ternaryExpr(let ternary):
      let test = try value(ternary.condition)
      let (yes, no) = (try value(ternary.thenExpression), try value(ternary.elseExpression))
      return conditional(test, yes, no)
    case .ifExpr(let condition): return try self.condition(condition)
    case .forceUnwrapExpr(let unwrap):
      return call("forcedUnwrap", argument(try value(unwrap.expression)))
    case .optionalChainingExpr(let link):
      if let variable = links[link.id] { return .node(variable) }
    case .functionCallExpr(let call): return try self.functionCall(call)
    case .subscriptCallExpr(let subscripting): return try self.subscripting(subscripting)
    case .isExpr(let test):
      return call("typeCheck", argument(try value(test.expression)), Self.metatype(test.type))
    case .asExpr(let cast): return try self.cast(cast)
    default: break
    }
    throw PredicateProblem(refusing: expression).error(at: expression)
  }

  /// Whether unwrapping a captured value must wait until the predicate runs, since the predicate first checks whether
  /// it is nil: `name == nil || $0.name == name!`.
  private func isGuardedUnwrap(_ expression: ExprSyntax) -> Bool {
    guard !guarded.isEmpty else { return false }
    switch expression.as(ExprSyntaxEnum.self) {
    case .forceUnwrapExpr(let unwrap):
      return guarded.contains(unwrap.expression.trimmedDescription)
    case .memberAccessExpr(let member): return member.base.map(isGuardedUnwrap) ?? false
    default: return false
    }
  }

  private static func metatype(_ type: TypeSyntax) -> String { "(\(type.trimmed)).self" }

  private mutating func cast(_ cast: AsExprSyntax) throws -> Value {
    let input = argument(try value(cast.expression))
    let type = Self.metatype(cast.type)
    switch cast.questionOrExclamationMark?.tokenKind {
    case .postfixQuestionMark: return call("conditionalCast", input, type)
    default: return call("forceCast", input, type)
    }
  }

  private mutating func member(_ member: MemberAccessExprSyntax) throws -> Value {
    guard let base = member.base else {
      throw PredicateProblem(refusing: ExprSyntax(member)).error(at: member)
    }
    let value = argument(try value(base))
    let path = "\\.\(member.declName.trimmed)"
    return member.declName.baseName.text == "rawValue"
      ? call("rawValue", value, path) : call("keyPath", value, path)
  }

  // MARK: Operators

  private mutating func prefix(_ expression: PrefixOperatorExprSyntax) throws -> Value {
    let operand = try value(expression.expression)
    switch expression.operator.text {
    case "!": return call("negation", argument(operand))
    case "-": return call("unaryMinus", argument(operand))
    case "+": return operand
    default:
      throw PredicateProblem.operation(expression.operator.text).error(at: expression.operator)
    }
  }

  /// The function that writes each operator, and the name of the operator where several share it.
  private static let operations: [String: (function: String, name: String?)] = [
    "==": ("equal", nil), "!=": ("notEqual", nil), "===": ("equal", nil), "!==": ("notEqual", nil),
    "<": ("comparison", "lessThan"), "<=": ("comparison", "lessThanOrEqual"),
    ">": ("comparison", "greaterThan"), ">=": ("comparison", "greaterThanOrEqual"),
    "+": ("arithmetic", "add"), "-": ("arithmetic", "subtract"), "*": ("arithmetic", "multiply"),
    "/": ("quotient", nil), "%": ("remainder", nil), "&&": ("conjunction", nil),
    "||": ("disjunction", nil), "...": ("closedRange", nil), "..<": ("range", nil),
    "??": ("coalesce", nil), "~=": ("contains", nil),
  ]

  private mutating func infix(_ expression: InfixOperatorExprSyntax) throws -> Value {
    guard let name = expression.operator.as(BinaryOperatorExprSyntax.self)?.operator else {
      throw PredicateProblem.assignment.error(at: expression.operator)
    }
    if let tested = expression.testedForNil {
      // Asked of the optional itself, so that its values need not be comparable.
      let test = call("isNil", argument(try value(tested)))
      return name.text == "==" ? test : call("negation", argument(test))
    }
    guard let operation = Self.operations[name.text] else {
      throw PredicateProblem.operation(name.text).error(at: name)
    }
    if name.text == "~=",
      let test = try rangeTest(expression.leftOperand, contains: expression.rightOperand)
    {
      return test
    }
    let (left, right) = (
      try value(expression.leftOperand), try value(expression.rightOperand)
    )
    return call(operation.function, pair(left, right), named: operation.name)
  }

  mutating func conditional(_ test: Value, _ yes: Value, _ no: Value) -> Value {
    if case .outside(let yes) = yes, case .outside(let no) = no {
      return .untyped(Self.text("conditional", [argument(test), "values: \(yes)", no]))
    }
    return call("conditional", argument(test), pair(yes, no))
  }

  // MARK: Optional chains

  /// Writes `a?.b.c` as a flat map over `a`; nil if the expression isn't such a chain.
  private mutating func optionalChain(_ expression: ExprSyntax) throws -> Value? {
    guard let link = firstLink(of: expression) else { return nil }
    let optional = try value(link.expression)
    let variable = newVariable()
    let closure = try closure(over: variable) { writer in
      writer.links[link.id] = variable
      defer { writer.links[link.id] = nil }
      return try writer.value(expression)
    }
    return call("flatMap", argument(optional), closure)
  }

  /// The first question mark of a chain of members, calls and subscripts that has no variable yet.
  private func firstLink(of expression: ExprSyntax) -> OptionalChainingExprSyntax? {
    var first: OptionalChainingExprSyntax?
    var current: ExprSyntax? = expression
    while let expression = current {
      switch expression.as(ExprSyntaxEnum.self) {
      case .optionalChainingExpr(let link):
        guard links[link.id] == nil else { return first }
        first = link
        current = link.expression
      case .memberAccessExpr(let member): current = member.base
      case .functionCallExpr(let call): current = call.calledExpression
      case .subscriptCallExpr(let call): current = call.calledExpression
      case .forceUnwrapExpr(let unwrap): current = unwrap.expression
      default: current = nil
      }
    }
    return first
  }
}
