import SwiftSyntax

/// Writes the nodes of one predicate.
///
/// Every node that knows its own type goes into a `let`: the compiler then checks one small
/// expression after the other, in linear time, where a single large one takes it exponential time.
/// A value from outside the predicate is not a node of its own but stays beside the node that it is
/// compared with, so that literals, `nil` and `.cases` get their types from there.
struct PredicateWriter {
  /// What an expression came to.
  enum Value {
    /// The name of a node, or of a variable of the predicate.
    case node(String)
    /// Source from outside the predicate, evaluated when the predicate is made.
    case outside(ExprSyntax)
  }

  /// The text before every function that makes a node.
  static let nodes = "SteadRecords._PredicateNodes"

  private var nodeCount = 0
  private var variableCount = 0
  /// The statements of the closure being written.
  private var lines: [String] = []
  /// Nodes already written in the closure being written or around it, by their text.
  private var known: [String: String] = [:]
  /// What names of the predicate stand for.
  var names: [String: Value] = [:]

  mutating func predicate(_ closure: ClosureExprSyntax) throws -> String {
    let (parameters, body) = try self.closure(closure, parameterCount: nil)
    return """
      SteadRecords._Predicate({ (\(parameters.joined(separator: ", "))) in
      \(body)
      })
      """
  }

  // MARK: Nodes

  /// Puts a node into a constant, unless the same one is there already.
  mutating func node(_ text: String) -> Value {
    if let name = known[text] { return .node(name) }
    let name = "_t\(nodeCount)"
    nodeCount += 1
    lines.append("let \(name) = \(text)")
    known[text] = name
    return .node(name)
  }

  mutating func call(_ function: String, _ arguments: String...) -> Value {
    node("\(Self.nodes).\(function)(\(arguments.joined(separator: ", ")))")
  }

  /// A value as an argument of its own: the node, or the outside value wrapped as one.
  func argument(_ value: Value) -> String {
    switch value {
    case .node(let name): name
    case .outside(let source): "\(Self.nodes).value(\(source.trimmed))"
    }
  }

  mutating func newVariable() -> String {
    defer { variableCount += 1 }
    return "_v\(variableCount)"
  }

  // MARK: Closures

  /// Writes a closure's body; `given` are names that its parameters must have.
  mutating func closure(
    _ closure: ClosureExprSyntax, parameterCount: Int?
  ) throws -> (parameters: [String], body: String) {
    let written = Self.parameters(of: closure)
    let count = parameterCount ?? written?.count ?? Self.highestShorthand(in: closure) + 1
    let parameters = (0..<max(count, 1)).map { _ in newVariable() }
    let body = try scoped { writer in
      for (index, parameter) in parameters.enumerated() {
        let name = written.map { index < $0.count ? $0[index] : "_" } ?? "$\(index)"
        writer.names[name] = .node(parameter)
      }
      return try writer.statements(Array(closure.statements), in: Syntax(closure))
    }
    return (parameters, body)
  }

  /// Writes an expression in a closure over one variable.
  mutating func closure(
    over variable: String, _ body: (inout PredicateWriter) throws -> Value
  ) throws -> String {
    let text = try scoped(body)
    return "{ \(variable) in\n\(text)\n}"
  }

  /// Runs a body that writes the statements of an inner closure.
  private mutating func scoped(_ body: (inout PredicateWriter) throws -> Value) throws -> String {
    let (outerLines, outerKnown, outerNames) = (lines, known, names)
    lines = []
    defer { (lines, known, names) = (outerLines, outerKnown, outerNames) }
    let result = try body(&self)
    return (lines + ["return \(argument(result))"]).joined(separator: "\n")
  }

  private static func parameters(of closure: ClosureExprSyntax) -> [String]? {
    switch closure.signature?.parameterClause {
    case .simpleInput(let list): list.map(\.name.text)
    case .parameterClause(let clause):
      clause.parameters.map { ($0.secondName ?? $0.firstName).text }
    case nil: nil
    }
  }

  private static func highestShorthand(in closure: ClosureExprSyntax) -> Int {
    closure.tokens(viewMode: .sourceAccurate).compactMap { token in
      guard case .dollarIdentifier(let text) = token.tokenKind else { return nil }
      return Int(text.dropFirst())
    }.max() ?? 0
  }

  /// Whether an expression mentions a variable of the predicate.
  func dependsOnVariable(_ expression: some SyntaxProtocol) -> Bool {
    for token in expression.tokens(viewMode: .sourceAccurate) {
      switch token.tokenKind {
      case .dollarIdentifier(let name), .identifier(let name):
        guard case .node = names[name] else { continue }
        // A member of that name is something else.
        if let member = token.parent?.parent?.as(MemberAccessExprSyntax.self),
          member.declName.baseName.id == token.id
        {
          continue
        }
        if token.parent?.is(LabeledExprSyntax.self) == true { continue }
        return true
      default: continue
      }
    }
    return false
  }
}
