import SwiftSyntax

extension PredicateWriter {
  mutating func functionCall(_ expression: FunctionCallExprSyntax) throws -> Value {
    guard let member = expression.calledExpression.as(MemberAccessExprSyntax.self),
      let base = member.base
    else { throw PredicateProblem.call.error(at: expression.calledExpression) }
    let name = member.declName.baseName.text
    let receiver = try value(base)
    if let closure = Self.closure(of: expression) {
      return try closureCall(expression, name, receiver, closure)
    }
    let arguments = Array(expression.arguments)
    switch (name, arguments.count) {
    case ("evaluate", 1...):
      let values = try arguments.map { argument(try value($0.expression)) }
      guard case .outside(let predicate) = receiver else {
        throw PredicateProblem.method(name).error(at: member.declName)
      }
      return call(
        "evaluate", (["value: \(predicate.trimmed)"] + values).joined(separator: ", "))
    case ("contains", 1), ("starts", 1):
      return call(name, pair(receiver, try value(arguments[0].expression)))
    case ("flatMap", _), ("allSatisfy", _), ("filter", _):
      throw PredicateProblem.closureNeeded(name).error(at: expression)
    case (_, 1) where PredicateMethods.unary.contains(name) && arguments[0].label == nil:
      return call(name, pair(receiver, try value(arguments[0].expression)))
    case (_, 0) where PredicateMethods.plain.contains(name):
      return call(name, argument(receiver))
    default: throw PredicateProblem.method(name).error(at: member.declName)
    }
  }

  private static func closure(of expression: FunctionCallExprSyntax) -> ClosureExprSyntax? {
    if let closure = expression.trailingClosure, expression.arguments.isEmpty { return closure }
    guard expression.arguments.count == 1, expression.trailingClosure == nil else { return nil }
    return expression.arguments.first?.expression.as(ClosureExprSyntax.self)
  }

  private mutating func closureCall(
    _ expression: FunctionCallExprSyntax, _ name: String, _ receiver: Value,
    _ closure: ClosureExprSyntax
  ) throws -> Value {
    guard ["contains", "allSatisfy", "filter", "flatMap"].contains(name) else {
      throw PredicateProblem.method(name).error(at: expression.calledExpression)
    }
    let (parameters, body) = try self.closure(closure, parameterCount: 1)
    let function = name == "contains" ? "containsWhere" : name
    return call(
      function, argument(receiver), "{ \(parameters.joined(separator: ", ")) in\n\(body)\n}")
  }

  mutating func subscripting(_ expression: SubscriptCallExprSyntax) throws -> Value {
    let base = try value(expression.calledExpression)
    let arguments = Array(expression.arguments)
    guard let first = arguments.first, first.label == nil else {
      throw PredicateProblem.syntax("this subscript").error(at: expression)
    }
    let index = try value(first.expression)
    switch arguments.count {
    case 1: return call("element", argument(base), argument(index))
    case 2 where arguments[1].label?.text == "default":
      let other = try value(arguments[1].expression)
      return call("element", argument(base), argument(index), "default: \(argument(other))")
    default: throw PredicateProblem.syntax("this subscript").error(at: expression)
    }
  }
}
