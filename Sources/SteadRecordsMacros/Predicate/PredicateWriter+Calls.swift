import SwiftSyntax

extension PredicateWriter {
  mutating func functionCall(_ expression: FunctionCallExprSyntax) throws -> Value {
    guard let member = expression.calledExpression.as(MemberAccessExprSyntax.self),
      let base = member.base
    else { throw PredicateProblem.call.error(at: expression.calledExpression) }
    let name = member.declName.baseName
    if let closure = Self.closure(of: expression) {
      return try closureCall(expression, name, base, closure)
    }
    let arguments = Array(expression.arguments)
    let label = arguments.first?.label?.text
    if name.text == "contains", arguments.count == 1, label == nil,
      let test = try rangeTest(base, contains: arguments[0].expression)
    {
      return test
    }
    let receiver = try value(base)
    switch (name.text, arguments.count) {
    case ("evaluate", 1...):
      guard case .outside(let predicate) = receiver else {
        throw PredicateProblem.method(name.text).error(at: name)
      }
      let values = try arguments.map { argument(try value($0.expression)) }
      return call("evaluate", (["value: \(predicate)"] + values).joined(separator: ", "))
    case ("contains", 1) where label == nil, ("starts", 1) where label == "with":
      return call(name.text, pair(receiver, try value(arguments[0].expression)))
    case (_, 1) where PredicateMethods.closures.contains(name.text):
      throw PredicateProblem.closureNeeded(name.text).error(at: arguments[0].expression)
    case (_, 1) where PredicateMethods.unary[name.text] != nil && label == nil:
      let function = PredicateMethods.unary[name.text] ?? name.text
      return call(function, pair(receiver, try value(arguments[0].expression)), named: name.text)
    case ("lowercased", 0), ("uppercased", 0):
      return call("letterCase", argument(receiver), "isUpper: \(name.text == "uppercased")")
    case (_, 0) where PredicateMethods.plain.contains(name.text):
      return call(name.text, argument(receiver))
    default: throw PredicateProblem.method(name.text).error(at: name)
    }
  }

  /// Writes `(a...b).contains(x)` as two comparisons, which need no range: a range with its bounds in the wrong order
  /// traps. Nil if the range is another, or is captured.
  mutating func rangeTest(
    _ range: ExprSyntax, contains element: ExprSyntax
  ) throws -> Value? {
    guard dependsOnVariable(range),
      let range = range.withoutParentheses.as(InfixOperatorExprSyntax.self),
      let name = range.operator.as(BinaryOperatorExprSyntax.self)?.operator.text,
      name == "..." || name == "..<"
    else { return nil }
    let element = try value(element)
    let lower = comparison(try value(range.leftOperand), "lessThanOrEqual", "<=", element)
    let upper = try value(range.rightOperand)
    return call(
      "conjunction",
      pair(
        lower,
        name == "..."
          ? comparison(element, "lessThanOrEqual", "<=", upper)
          : comparison(element, "lessThan", "<", upper)
      ))
  }

  private mutating func comparison(
    _ left: Value, _ name: String, _ operation: String, _ right: Value
  ) -> Value {
    if case .outside(let left) = left, case .outside(let right) = right {
      return .outside("(\(left) \(operation) \(right))")
    }
    return call("comparison", pair(left, right), named: name)
  }

  private static func closure(of expression: FunctionCallExprSyntax) -> ClosureExprSyntax? {
    if let closure = expression.trailingClosure, expression.arguments.isEmpty { return closure }
    guard expression.arguments.count == 1, expression.trailingClosure == nil else { return nil }
    return expression.arguments.first?.expression.as(ClosureExprSyntax.self)
  }

  private mutating func closureCall(
    _ expression: FunctionCallExprSyntax, _ name: TokenSyntax, _ base: ExprSyntax,
    _ closure: ClosureExprSyntax
  ) throws -> Value {
    guard PredicateMethods.closures.contains(name.text) else {
      throw PredicateProblem.method(name.text).error(at: name)
    }
    let receiver = argument(try value(base))
    let test = try self.closure(closure, parameterCount: 1)
    switch name.text {
    case "contains": return call("containsWhere", receiver, test)
    case "first": return property("first", of: call("filter", receiver, test))
    case "count": return property("count", of: call("filter", receiver, test))
    default: return call(name.text, receiver, test)
    }
  }

  private mutating func property(_ name: String, of value: Value) -> Value {
    call("keyPath", argument(value), "\\.\(name)")
  }

  mutating func subscripting(_ expression: SubscriptCallExprSyntax) throws -> Value {
    let base = argument(try value(expression.calledExpression))
    let arguments = Array(expression.arguments)
    let values = try arguments.map { try value($0.expression) }
    switch arguments.map({ $0.label?.text }) {
    case [nil]: return call("element", base, argument(values[0]))
    case [nil, "default"]:
      return call("element", base, argument(values[0]), "default: \(argument(values[1]))")
    case ["keyPath"]:
      guard case .outside(let path) = values[0] else { break }
      return call("keyPath", base, path)
    default: break
    }
    throw PredicateProblem.syntax("this subscript").error(at: expression)
  }
}
