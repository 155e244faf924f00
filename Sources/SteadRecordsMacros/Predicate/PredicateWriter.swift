import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// `#Predicate` and `#ModelPredicate`: a closure becomes calls of `_PredicateNodes`, which make nodes of
/// `PredicateExpressions`.
///
/// The expansion compiles only if the predicate's types fit: the compiler checks it, and not the macro, which sees no
/// types.
public struct PredicateMacro: ExpressionMacro {
  /// The expression that makes the predicate. `#externalMacro` names this type; the compiler calls it in a process of
  /// its own.
  ///
  /// - Throws: A `DiagnosticsError` at the part that a predicate cannot have, with what to write instead.
  public static func expansion(
    of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
  ) throws -> ExprSyntax {
    let argument =
      node.trailingClosure ?? node.arguments.first?.expression.as(ClosureExprSyntax.self)
    guard let closure = argument else { throw PredicateProblem.needsClosure.error(at: node) }
    var writer = PredicateWriter()
    return "\(raw: try writer.predicate(closure))"
  }
}

// MARK: - Writing nodes

/// Writes the expansion of one predicate.
///
/// Every node that knows its own type goes into a `let`: the compiler then checks one small expression after the
/// other, in linear time, while a single large one takes exponential time. A captured value gets no node of its own.
/// It is written next to the node that it is compared with, so that literals, `nil` and `.cases` get their types from
/// there.
///
/// For `{ $0.title == name && !$0.isDone }` the expansion is
///
/// ```swift
/// SteadRecords._Predicate({ (_v0) in
///   let _t0 = SteadRecords._PredicateNodes.keyPath(_v0, \.title)
///   let _t1 = SteadRecords._PredicateNodes.equal(_t0, value: name)
///   let _t2 = SteadRecords._PredicateNodes.keyPath(_v0, \.isDone)
///   let _t3 = SteadRecords._PredicateNodes.negation(_t2)
///   let _t4 = SteadRecords._PredicateNodes.conjunction(_t1, _t3)
///   return _t4
/// })
/// ```
struct PredicateWriter {
  /// The result of writing an expression.
  enum Value {
    /// The name of a node, or of a variable of the predicate.
    case node(String)
    /// A node without its own type, such as a choice of two literals; written in place.
    case untyped(String)
    /// Source that does not depend on the predicate's variables. It is evaluated once, when the predicate is made.
    case captured(String)
  }

  /// The prefix of every function that makes a node.
  static let nodes = "SteadRecords._PredicateNodes"

  private var nodeCount = 0
  private var variableCount = 0
  /// The statements of the closure being written.
  private var lines: [String] = []
  /// Nodes already written in the closure being written or around it, by their source.
  private var known: [String: String] = [:]
  /// The meanings of the names in scope; those of `captured` are constants without nodes.
  var names: [String: Value] = [:]
  /// The optionals that chains start with, each with the variable for its value.
  var links: [SyntaxIdentifier: String] = [:]
  /// The captured expressions that the predicate compares with nil. Unwrapping one of them must wait until the
  /// predicate runs.
  var guarded: Set<String> = []

  /// The expansion of a predicate's closure.
  mutating func predicate(_ closure: ClosureExprSyntax) throws -> String {
    // Before anything is written: the comparison may come after the unwrapping in the source.
    guarded = NilComparisons.operands(in: closure)
    return "SteadRecords._Predicate(\(try self.closure(closure, parameterCount: nil)))"
  }

  // MARK: - Nodes

  /// The constant of a node, which is shared with an equal one in the same closure or around it.
  ///
  /// Sharing keeps the expansion linear where a branch is written several times.
  mutating func node(_ text: String) -> Value {
    // `$0.a == 1 || $0.a == 2` reads the property's key path once.
    if let name = known[text] { return .node(name) }
    let name = "_t\(nodeCount)"
    nodeCount += 1
    // The nodes are values, and making one evaluates nothing of the model.
    lines.append("let \(name) = \(text)")
    known[text] = name
    return .node(name)
  }

  /// A call of one of the functions that make nodes.
  mutating func call(_ function: String, _ arguments: String...) -> Value {
    node(Self.text(function, arguments))
  }

  /// A call with two operands, and with the name of the operation if the function has several.
  mutating func call(_ function: String, _ operands: String, named name: String?) -> Value {
    if let name { call(function, operands, ".\(name)") } else { call(function, operands) }
  }

  /// The source of such a call.
  static func text(_ function: String, _ arguments: [String]) -> String {
    "\(nodes).\(function)(\(arguments.joined(separator: ", ")))"
  }

  /// A value as an argument of its own: the node, or the captured value in a node.
  func argument(_ value: Value) -> String {
    switch value {
    case .node(let name): name
    case .untyped(let text): text
    case .captured(let source): Self.text("value", [source])
    }
  }

  /// Two operands. A captured one stays without a node if the other has one, and gets its type from that.
  func pair(_ left: Value, _ right: Value) -> String {
    switch (left, right) {
    // With no node beside them each has to have a type of its own.
    case (.captured, .captured): "\(argument(left)), \(argument(right))"
    case (.captured(let left), _): "value: \(left), \(argument(right))"
    case (_, .captured(let right)): "\(argument(left)), value: \(right)"
    default: "\(argument(left)), \(argument(right))"
    }
  }

  /// A name for a variable of the expansion.
  mutating func newVariable() -> String {
    defer { variableCount += 1 }
    return "_v\(variableCount)"
  }

  /// Keeps captured source under a name that no other branch uses.
  mutating func constant(_ source: String, type: String?) -> Value {
    let name = "_c\(nodeCount)"
    nodeCount += 1
    lines.append("let \(name)\(type.map { ": \($0)" } ?? "") = \(source)")
    return .captured(name)
  }

  // MARK: - Closures

  /// Writes a closure over variables; without a count, over as many as the source has.
  mutating func closure(_ closure: ClosureExprSyntax, parameterCount: Int?) throws -> String {
    let written = closure.parameterNames
    if let parameterCount, let written, written.count != parameterCount {
      throw PredicateProblem.parameters(parameterCount).error(at: closure)
    }
    // Only a predicate's own closure may have any number of parameters.
    let count = parameterCount ?? written?.count ?? closure.highestShorthand + 1
    let parameters = (0..<max(count, 1)).map { _ in newVariable() }
    let body = try scoped { writer in
      try writer.capture(closure.signature?.capture?.items)
      for (index, parameter) in parameters.enumerated() {
        let name = written.map { index < $0.count ? $0[index] : "_" } ?? "$\(index)"
        writer.names[name] = .node(parameter)
      }
      return try writer.statements(Array(closure.statements), in: Syntax(closure))
    }
    return "{ (\(parameters.joined(separator: ", "))) in\n\(body)\n}"
  }

  /// Makes the names of a capture list constants of the closure. That is the same, since the expansion calls the
  /// closure at once.
  private mutating func capture(_ captures: ClosureCaptureListSyntax?) throws {
    var values: [String: Value] = [:]
    for capture in captures ?? [] {
      // `[name]` captures a variable under its own name, which the source of the expansion can use
      // as it is.
      guard let value = capture.initializer?.value else { continue }
      values[capture.name.text] = try constant(value, type: nil)
    }
    // At the end: no capture sees the names of the others.
    names.merge(values) { _, new in new }
  }

  /// The meaning of a name that is given to an expression.
  mutating func constant(_ expression: ExprSyntax, type: String?) throws -> Value {
    // A captured value needs no node: where it is compared, it gets the type of the other operand.
    switch try value(expression) {
    case .captured(let source): constant(source, type: type)
    case let node: .node(argument(node))
    }
  }

  /// Writes an expression in a closure over one variable.
  mutating func closure(
    over variable: String, _ body: (inout PredicateWriter) throws -> Value
  ) throws -> String {
    "{ \(variable) in\n\(try scoped(body))\n}"
  }

  /// Runs a body that writes an inner closure. What it declares is not visible afterwards.
  ///
  /// Invariant: the writer's lines, nodes and names are afterwards what they were before, also if the body throws. A
  /// node of an inner closure must not be used outside of it, where its variable doesn't exist.
  private mutating func scoped(_ body: (inout PredicateWriter) throws -> Value) throws -> String {
    // Inner closures see the outer nodes; nodes and names of theirs end with them.
    let (outerLines, outerKnown, outerNames) = (lines, known, names)
    // The outer `known` stays: nodes of the closures around it may be used inside.
    lines = []
    defer { (lines, known, names) = (outerLines, outerKnown, outerNames) }
    let result = try body(&self)
    return (lines + ["return \(argument(result))"]).joined(separator: "\n")
  }
}

extension ClosureExprSyntax {
  /// The names of written parameters; nil when the closure uses `$0`.
  var parameterNames: [String]? {
    switch signature?.parameterClause {
    case .simpleInput(let list): list.map(\.name.text)
    case .parameterClause(let clause):
      clause.parameters.map { ($0.secondName ?? $0.firstName).text }
    case nil: nil
    }
  }

  /// The number of the last of `$0`, `$1` and so on; 0 for none. Those of closures in it are other parameters.
  fileprivate var highestShorthand: Int {
    FreeNames(of: statements).uses.compactMap { use in
      use.name.hasPrefix("$") ? Int(use.name.dropFirst()) : nil
    }.max() ?? 0
  }
}

// MARK: - Scope

extension PredicateWriter {
  /// Whether an expression mentions a variable of the predicate.
  func dependsOnVariable(_ expression: some SyntaxProtocol) -> Bool {
    let free = FreeNames(of: expression)
    if free.chains.contains(where: { links[$0] != nil }) { return true }
    return free.uses.contains { use in
      switch names[use.name] {
      case .captured, nil: false
      case .node, .untyped: true
      }
    }
  }

  /// The source of a captured expression, in which the predicate's constants have the names of the expansion.
  func source(_ expression: ExprSyntax) -> String {
    var constants: [String: String] = [:]
    for case (let name, .captured(let constant)) in names { constants[name] = constant }
    // The usual case: nothing to rename.
    guard !constants.isEmpty else { return expression.trimmedDescription }
    let expression = expression.trimmed
    var text = Array(expression.description.utf8)
    // From the end, so that the places before stay.
    let uses = FreeNames(of: expression).uses.sorted {
      $0.token.position.utf8Offset > $1.token.position.utf8Offset
    }
    for use in uses {
      guard let constant = constants[use.name] else { continue }
      let start =
        use.token.positionAfterSkippingLeadingTrivia.utf8Offset - expression.position.utf8Offset
      let place = start..<start + use.token.trimmedLength.utf8Length
      // `[name]` and `if let name` declare the name for what follows, so it has to stay.
      let written = use.isShorthand ? "\(use.name) = \(constant)" : constant
      text.replaceSubrange(place, with: written.utf8)
    }
    return String(decoding: text, as: UTF8.self)
  }
}

/// Finds the expressions that a predicate compares with nil.
final class NilComparisons: SyntaxVisitor {
  private var operands: Set<String> = []

  /// The source of these expressions.
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
    // Swift accepts nil on either side.
    if rightOperand.withoutParentheses.is(NilLiteralExprSyntax.self) { return leftOperand }
    if leftOperand.withoutParentheses.is(NilLiteralExprSyntax.self) { return rightOperand }
    return nil
  }
}

extension ExprSyntax {
  /// The expression inside any number of parentheses.
  var withoutParentheses: ExprSyntax {
    guard let tuple = self.as(TupleExprSyntax.self), tuple.elements.count == 1,
      let element = tuple.elements.first, element.label == nil
    else { return self }
    return element.expression.withoutParentheses
  }
}
