import SwiftSyntax

extension PredicateWriter {
  /// Writes an expression.
  mutating func value(_ expression: ExprSyntax) throws -> Value {
    guard dependsOnVariable(expression) else { return outside(expression) }
    if let chain = try optionalChain(expression) { return chain }
    switch expression.as(ExprSyntaxEnum.self) {
    case .tupleExpr(let tuple) where tuple.elements.count == 1:
      guard let element = tuple.elements.first else { break }
      return try value(element.expression)
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
    case .functionCallExpr(let call): return try self.functionCall(call)
    case .subscriptCallExpr(let subscripting): return try self.subscripting(subscripting)
    case .isExpr(let test):
      return call("typeCheck", argument(try value(test.expression)), Self.metatype(test.type))
    case .asExpr(let cast): return try self.cast(cast)
    default: break
    }
    throw PredicateProblem.syntax("this expression").error(at: expression)
  }

  /// An expression without variables of the predicate is evaluated when the predicate is made.
  private func outside(_ expression: ExprSyntax) -> Value {
    if let tuple = expression.as(TupleExprSyntax.self), tuple.elements.count == 1,
      let element = tuple.elements.first, element.label == nil,
      element.expression.is(NilLiteralExprSyntax.self)
    {
      return .outside(element.expression)
    }
    return .outside(expression)
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
      throw PredicateProblem.syntax("this expression").error(at: member)
    }
    return property(try value(base), member.declName)
  }

  private mutating func property(_ base: Value, _ name: DeclReferenceExprSyntax) -> Value {
    let path = "\\.\(name.trimmed)"
    if name.baseName.text == "rawValue" { return call("rawValue", argument(base), path) }
    return call("keyPath", argument(base), path)
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

  private static let comparisons: [String: String] = [
    "==": "equal", "!=": "notEqual", "<": "less", "<=": "lessOrEqual", ">": "greater",
    ">=": "greaterOrEqual", "+": "sum", "-": "difference", "*": "product", "/": "quotient",
    "%": "remainder", "&&": "conjunction", "||": "disjunction", "...": "closedRange",
    "..<": "range",
  ]

  private mutating func infix(_ expression: InfixOperatorExprSyntax) throws -> Value {
    guard let name = expression.operator.as(BinaryOperatorExprSyntax.self)?.operator else {
      throw PredicateProblem.syntax("an assignment").error(at: expression.operator)
    }
    if ["==", "!="].contains(name.text), let test = try nilTest(expression, name.text) {
      return test
    }
    let (left, right) = (
      try value(expression.leftOperand), try value(expression.rightOperand)
    )
    switch name.text {
    case "??": return coalesce(left, right)
    case "~=": return call("contains", argument(left), argument(right))
    case "===": return call("equal", pair(left, right))
    case "!==": return call("notEqual", pair(left, right))
    default:
      guard let function = Self.comparisons[name.text] else {
        throw PredicateProblem.operation(name.text).error(at: expression.operator)
      }
      return call(function, pair(left, right))
    }
  }

  /// `x == nil` is asked of the optional itself, so that its values need not be comparable.
  private mutating func nilTest(
    _ expression: InfixOperatorExprSyntax, _ name: String
  ) throws -> Value? {
    let (left, right) = (expression.leftOperand, expression.rightOperand)
    let tested: ExprSyntax
    if right.is(NilLiteralExprSyntax.self) {
      tested = left
    } else if left.is(NilLiteralExprSyntax.self) {
      tested = right
    } else {
      return nil
    }
    let test = call("isNil", argument(try value(tested)))
    return name == "==" ? test : call("negation", argument(test))
  }

  /// Two operands, of which an outside value stays unwrapped to take its type from the other.
  func pair(_ left: Value, _ right: Value) -> String {
    switch (left, right) {
    case (.node(let left), .node(let right)): "\(left), \(right)"
    case (.node(let left), .outside(let right)): "\(left), value: \(right.trimmed)"
    case (.outside(let left), .node(let right)): "value: \(left.trimmed), \(right)"
    case (.outside, .outside): "\(argument(left)), \(argument(right))"
    }
  }

  mutating func coalesce(_ left: Value, _ right: Value) -> Value {
    call("coalesce", pair(left, right))
  }

  mutating func conditional(_ test: Value, _ yes: Value, _ no: Value) -> Value {
    if case .outside(let yes) = yes, case .outside(let no) = no {
      return call("conditional", argument(test), "values: \(yes.trimmed), \(no.trimmed)")
    }
    return call("conditional", argument(test), pair(yes, no))
  }

  // MARK: Optional chains

  /// Writes `a?.b.c` as a flat map over `a`; nil when the expression is no such chain.
  private mutating func optionalChain(_ expression: ExprSyntax) throws -> Value? {
    guard let link = Self.firstLink(of: expression) else { return nil }
    let optional = try value(link.expression)
    let variable = newVariable()
    let place = DeclReferenceExprSyntax(baseName: .identifier(variable))
    let rest = ChainRewriter(link: link, place: ExprSyntax(place)).rewrite(Syntax(expression))
    guard let rest = rest.as(ExprSyntax.self) else { return nil }
    let closure = try closure(over: variable) { writer in
      writer.names[variable] = .node(variable)
      return try writer.value(rest)
    }
    return call("flatMap", argument(optional), closure)
  }

  /// The first question mark of a chain of members, calls and subscripts.
  private static func firstLink(of expression: ExprSyntax) -> OptionalChainingExprSyntax? {
    var first: OptionalChainingExprSyntax?
    var current: ExprSyntax? = expression
    while let expression = current {
      if let link = expression.as(OptionalChainingExprSyntax.self) {
        first = link
        current = link.expression
      } else if let member = expression.as(MemberAccessExprSyntax.self) {
        current = member.base
      } else if let call = expression.as(FunctionCallExprSyntax.self) {
        current = call.calledExpression
      } else if let call = expression.as(SubscriptCallExprSyntax.self) {
        current = call.calledExpression
      } else if let unwrap = expression.as(ForceUnwrapExprSyntax.self) {
        current = unwrap.expression
      } else {
        current = nil
      }
    }
    return first
  }
}

/// Puts a variable in the place of the optional that a chain starts with.
private final class ChainRewriter: SyntaxRewriter {
  private let link: OptionalChainingExprSyntax
  private let place: ExprSyntax

  init(link: OptionalChainingExprSyntax, place: ExprSyntax) {
    self.link = link
    self.place = place
    super.init()
  }

  override func visit(_ node: OptionalChainingExprSyntax) -> ExprSyntax {
    node.id == link.id ? place : super.visit(node)
  }
}
