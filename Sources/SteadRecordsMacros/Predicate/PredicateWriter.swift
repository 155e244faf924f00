import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// `#Predicate` and `#ModelPredicate`: a closure becomes nodes of `PredicateExpressions`.
public struct PredicateMacro: ExpressionMacro {
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

/// Writes the nodes of one predicate.
///
/// Every node that knows its own type goes into a `let`: the compiler then checks one small expression after the other,
/// in linear time, while a single large one takes exponential time. A captured value doesn't get its own node, but
/// stays next to the node that it is compared with, so that literals, `nil` and `.cases` get their types from there.
struct PredicateWriter {
  /// What an expression came to.
  enum Value {
    /// The name of a node, or of a variable of the predicate.
    case node(String)
    /// A node without its own type, such as a choice of two literals; written in place.
    case untyped(String)
    /// Source from outside the predicate, evaluated when the predicate is made.
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
  /// The meanings of the predicate's names; those of `outside` are constants without nodes.
  var names: [String: Value] = [:]
  /// The optionals that chains start with, each with the variable for its value.
  var links: [SyntaxIdentifier: String] = [:]
  /// The expressions from outside that the predicate compares with nil.
  var guarded: Set<String> = []

  mutating func predicate(_ closure: ClosureExprSyntax) throws -> String {
    guarded = NilComparisons.operands(in: closure)
    return "SteadRecords._Predicate(\(try self.closure(closure, parameterCount: nil)))"
  }

  // MARK: - Nodes

  /// Assigns a node to a constant, unless the same one already exists.
  mutating func node(_ text: String) -> Value {
    if let name = known[text] { return .node(name) }
    let name = "_t\(nodeCount)"
    nodeCount += 1
    lines.append("let \(name) = \(text)")
    known[text] = name
    return .node(name)
  }

  mutating func call(_ function: String, _ arguments: String...) -> Value {
    node(Self.text(function, arguments))
  }

  /// A call with two operands, and with the name of the operation if the function has several.
  mutating func call(_ function: String, _ operands: String, named name: String?) -> Value {
    if let name { call(function, operands, ".\(name)") } else { call(function, operands) }
  }

  static func text(_ function: String, _ arguments: [String]) -> String {
    "\(nodes).\(function)(\(arguments.joined(separator: ", ")))"
  }

  /// A value as a separate argument: the node, or the captured value wrapped in one.
  func argument(_ value: Value) -> String {
    switch value {
    case .node(let name): name
    case .untyped(let text): text
    case .captured(let source): Self.text("value", [source])
    }
  }

  /// Two operands, of which an outside value stays unwrapped to take its type from the other.
  func pair(_ left: Value, _ right: Value) -> String {
    switch (left, right) {
    case (.captured, .captured): "\(argument(left)), \(argument(right))"
    case (.captured(let left), _): "value: \(left), \(argument(right))"
    case (_, .captured(let right)): "\(argument(left)), value: \(right)"
    default: "\(argument(left)), \(argument(right))"
    }
  }

  mutating func newVariable() -> String {
    defer { variableCount += 1 }
    return "_v\(variableCount)"
  }

  /// Keeps a constant without a node under a name that no other branch uses.
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

  /// Makes a capture list's names constants of the closure: the closure is called immediately.
  private mutating func capture(_ captures: ClosureCaptureListSyntax?) throws {
    for capture in captures ?? [] {
      guard let value = capture.initializer?.value else { continue }
      names[capture.name.text] = constant(source(value), type: nil)
    }
  }

  /// Writes an expression in a closure over one variable.
  mutating func closure(
    over variable: String, _ body: (inout PredicateWriter) throws -> Value
  ) throws -> String {
    "{ \(variable) in\n\(try scoped(body))\n}"
  }

  /// Runs a body that writes the statements of an inner closure.
  private mutating func scoped(_ body: (inout PredicateWriter) throws -> Value) throws -> String {
    let (outerLines, outerKnown, outerNames) = (lines, known, names)
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

  fileprivate var highestShorthand: Int {
    tokens(viewMode: .sourceAccurate).compactMap { token in
      guard case .dollarIdentifier(let text) = token.tokenKind else { return nil }
      return Int(text.dropFirst())
    }.max() ?? 0
  }
}

// MARK: - Scope

extension PredicateWriter {
  /// Whether an expression mentions a variable of the predicate.
  func dependsOnVariable(_ expression: some SyntaxProtocol) -> Bool {
    let variables = names.filter { if case .captured = $0.value { false } else { true } }
    let mentions = Mentions(of: Set(variables.keys), or: Set(links.keys))
    mentions.walk(expression)
    return mentions.isFound
  }

  /// The source of a captured expression, with the predicate's constants under the names that the expansion gives them.
  func source(_ expression: ExprSyntax) -> String {
    var constants: [String: String] = [:]
    for case (let name, .captured(let constant)) in names { constants[name] = constant }
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
