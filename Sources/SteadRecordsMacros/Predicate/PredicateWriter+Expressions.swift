import SwiftSyntax

extension PredicateWriter {
  /// Writes an expression.
  ///
  /// Invariant: what doesn't depend on the predicate's variables becomes captured source as a whole, so that any
  /// Swift may be in it, and it is evaluated once.
  ///
  /// - Throws: A diagnostic at the part that a predicate cannot have.
  mutating func value(_ expression: ExprSyntax) throws -> Value {
    let expression = expression.withoutParentheses
    guard dependsOnVariable(expression) || isGuardedUnwrap(expression) else {
      return .captured(source(expression))
    }
    // A chain is written from its first question mark on, so it is asked for before the parts that it consists of.
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

  /// The source of a type as a value.
  private static func metatype(_ type: TypeSyntax) -> String { "(\(type.trimmed)).self" }

  /// Writes `as?` or `as!`.
  private mutating func cast(_ cast: AsExprSyntax) throws -> Value {
    let input = argument(try value(cast.expression))
    let type = Self.metatype(cast.type)
    switch cast.questionOrExclamationMark?.tokenKind {
    case .postfixQuestionMark: return call("conditionalCast", input, type)
    default: return call("forceCast", input, type)
    }
  }

  /// Writes a property.
  private mutating func member(_ member: MemberAccessExprSyntax) throws -> Value {
    guard let base = member.base else {
      throw PredicateProblem(refusing: ExprSyntax(member)).error(at: member)
    }
    let value = argument(try value(base))
    let path = "\\.\(member.declName.trimmed)"
    // A function of its own, since a key path to `rawValue` made in the app's module equals none of
    // this library's.
    return member.declName.baseName.text == "rawValue"
      ? call("rawValue", value, path) : call("keyPath", value, path)
  }

  // MARK: - Operators

  /// Writes a prefix operator.
  private mutating func prefix(_ expression: PrefixOperatorExprSyntax) throws -> Value {
    let operand = try value(expression.expression)
    switch expression.operator.text {
    case "!": return call("negation", argument(operand))
    case "-": return call("unaryMinus", argument(operand))
    // Unary plus returns its operand, so it needs no node.
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

  /// Writes a binary operator.
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
    // `range ~= value` has the range on its left, as `contains` has it as the receiver.
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

  /// Writes a choice of two values. Of two captured ones no node knows its type, so it stays in place.
  mutating func conditional(_ test: Value, _ yes: Value, _ no: Value) -> Value {
    if case .captured(let yes) = yes, case .captured(let no) = no {
      return .untyped(Self.text("conditional", [argument(test), "values: \(yes)", no]))
    }
    return call("conditional", argument(test), pair(yes, no))
  }

  // MARK: - Optional chains

  /// Writes `a?.b.c` as a flat map over `a`; nil if the expression isn't such a chain.
  ///
  /// `$0.parent?.name` becomes
  ///
  /// ```swift
  /// let _t0 = SteadRecords._PredicateNodes.keyPath(_v0, \.parent)
  /// let _t2 = SteadRecords._PredicateNodes.flatMap(_t0, { _v1 in
  /// let _t1 = SteadRecords._PredicateNodes.keyPath(_v1, \.name)
  /// return _t1
  /// })
  /// ```
  private mutating func optionalChain(_ expression: ExprSyntax) throws -> Value? {
    guard let link = firstLink(of: expression) else { return nil }
    let optional = try value(link.expression)
    let variable = newVariable()
    // Within the closure the question mark stands for the variable, so that the rest of the chain is written as if it
    // had none.
    let closure = try closure(over: variable) { writer in
      writer.links[link.id] = variable
      defer { writer.links[link.id] = nil }
      return try writer.value(expression)
    }
    return call("flatMap", argument(optional), closure)
  }

  /// The first question mark of a chain of members, calls and subscripts that has no variable yet.
  ///
  /// A chain is right-nested in what it means and left-nested in syntax, so the first link is the innermost node.
  private func firstLink(of expression: ExprSyntax) -> OptionalChainingExprSyntax? {
    var first: OptionalChainingExprSyntax?
    var current: ExprSyntax? = expression
    while let expression = current {
      switch expression.as(ExprSyntaxEnum.self) {
      case .optionalChainingExpr(let link):
        // The chain up to here is written already: its variable is bound.
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

// MARK: - Calls

extension PredicateWriter {
  /// Writes a call of a method that predicates know.
  ///
  /// - Throws: A diagnostic that names what to write instead.
  mutating func functionCall(_ expression: FunctionCallExprSyntax) throws -> Value {
    guard let member = expression.calledExpression.as(MemberAccessExprSyntax.self),
      let base = member.base
    else { throw PredicateProblem.call.error(at: expression.calledExpression) }
    let name = member.declName.baseName
    // Closures are written in a scope of their own, other arguments before the call.
    if let closure = Self.closure(of: expression) {
      return try closureCall(expression, name, base, closure)
    }
    let arguments = Array(expression.arguments)
    let label = arguments.first?.label?.text
    // Before the receiver is written: a range in place needs no node.
    if name.text == "contains", arguments.count == 1, label == nil,
      let test = try rangeTest(base, contains: arguments[0].expression)
    {
      return test
    }
    let receiver = try value(base)
    switch (name.text, arguments.count) {
    case ("evaluate", 1...):
      // The inner predicate's structure becomes SQL when the query is prepared, so it must be known
      // then.
      guard case .captured(let predicate) = receiver else {
        throw PredicateProblem.method(name.text).error(at: name)
      }
      let values = try arguments.map { argument(try value($0.expression)) }
      return call("evaluate", (["value: \(predicate)"] + values).joined(separator: ", "))
    case ("contains", 1) where label == nil, ("starts", 1) where label == "with":
      return call(name.text, pair(receiver, try value(arguments[0].expression)))
    // A function passed by name cannot be translated.
    case (_, 1) where PredicateMethods.closures.contains(name.text):
      throw PredicateProblem.closureNeeded(name.text).error(at: arguments[0].expression)
    case (_, 1) where PredicateMethods.unary[name.text] != nil && label == nil:
      let function = PredicateMethods.unary[name.text] ?? name.text
      return call(function, pair(receiver, try value(arguments[0].expression)), named: name.text)
    case ("lowercased", 0), ("uppercased", 0):
      return call("letterCase", argument(receiver), "isUpper: \(name.text == "uppercased")")
    case (_, 0) where PredicateMethods.nullary.contains(name.text):
      return call(name.text, argument(receiver))
    default: throw PredicateProblem.method(name.text).error(at: name)
    }
  }

  /// Writes `(a...b).contains(x)` as two comparisons, which need no range: a range with its bounds in the wrong order
  /// traps. Nil if the range is another, or is captured.
  ///
  /// `($0.first..<$0.last).contains(5)` becomes
  ///
  /// ```swift
  /// let _t0 = SteadRecords._PredicateNodes.keyPath(_v0, \.first)
  /// let _t1 = SteadRecords._PredicateNodes.comparison(_t0, value: 5, .lessThanOrEqual)
  /// let _t2 = SteadRecords._PredicateNodes.keyPath(_v0, \.last)
  /// let _t3 = SteadRecords._PredicateNodes.comparison(value: 5, _t2, .lessThan)
  /// let _t4 = SteadRecords._PredicateNodes.conjunction(_t1, _t3)
  /// ```
  mutating func rangeTest(
    _ range: ExprSyntax, contains element: ExprSyntax
  ) throws -> Value? {
    guard dependsOnVariable(range),
      let range = range.withoutParentheses.as(InfixOperatorExprSyntax.self),
      let name = range.operator.as(BinaryOperatorExprSyntax.self)?.operator.text,
      name == "..." || name == "..<"
    else { return nil }
    // Written once and named twice: equal nodes are shared.
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

  /// Writes a comparison, which of two captured values is captured itself.
  private mutating func comparison(
    _ left: Value, _ name: String, _ operation: String, _ right: Value
  ) -> Value {
    if case .captured(let left) = left, case .captured(let right) = right {
      return .captured("(\(left) \(operation) \(right))")
    }
    return call("comparison", pair(left, right), named: name)
  }

  /// The closure that is a call's only argument.
  private static func closure(of expression: FunctionCallExprSyntax) -> ClosureExprSyntax? {
    // A closure beside other arguments belongs to a method that predicates don't have.
    if let closure = expression.trailingClosure, expression.arguments.isEmpty { return closure }
    guard expression.arguments.count == 1, expression.trailingClosure == nil else { return nil }
    return expression.arguments.first?.expression.as(ClosureExprSyntax.self)
  }

  /// Writes a call with a closure. `first(where:)` and `count(where:)` become properties of a filter, for which SQL
  /// needs no forms of its own.
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

  /// Writes a property of a value by its name.
  private mutating func property(_ name: String, of value: Value) -> Value {
    call("keyPath", argument(value), "\\.\(name)")
  }

  /// Writes a subscript: by index, by key, by key with a default value, or by key path.
  mutating func subscripting(_ expression: SubscriptCallExprSyntax) throws -> Value {
    let base = argument(try value(expression.calledExpression))
    let arguments = Array(expression.arguments)
    let values = try arguments.map { try value($0.expression) }
    switch arguments.map({ $0.label?.text }) {
    case [nil]: return call("element", base, argument(values[0]))
    case [nil, "default"]:
      return call("element", base, argument(values[0]), "default: \(argument(values[1]))")
    case ["keyPath"]:
      guard case .captured(let path) = values[0] else { break }
      return call("keyPath", base, path)
    default: break
    }
    throw PredicateProblem.syntax("this subscript").error(at: expression)
  }
}
