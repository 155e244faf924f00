import SwiftDiagnostics
import SwiftSyntax

/// What a predicate cannot contain. A message names what to write instead.
enum PredicateProblem: DiagnosticMessage, Equatable {
  /// The macro has no closure as its argument.
  case needsClosure
  /// A closure without statements.
  case emptyBody
  /// A statement that has no expression of predicates, by its name.
  case statement(String)
  /// A loop: SQL has none, and a predicate's methods take its place.
  case loop
  /// An expression before the last one, whose value nothing uses.
  case unusedValue
  /// An `if` whose other branch has no value.
  case conditionWithoutElse
  /// A path that ends without a value.
  case missingReturn
  /// A `let` without a value.
  case variableWithoutValue
  /// A `var`: a predicate is one expression, in which nothing changes.
  case mutableVariable
  /// A pattern in a condition or a `let` other than a name.
  case pattern
  /// An assignment, probably meant as a comparison.
  case assignment
  /// `try`, `await` or `throw`, by the keyword.
  case effect(String)
  /// An operator that predicates don't have.
  case operation(String)
  /// A method that predicates don't have.
  case method(String)
  /// A method that got a function's name where it needs a closure.
  case closureNeeded(String)
  /// A closure with another number of parameters than this.
  case parameters(Int)
  /// A call of a function with a model's value: the store couldn't run it.
  case call
  /// Other syntax with a model's value, by its name.
  case syntax(String)

  var severity: DiagnosticSeverity { .error }

  /// The case's name, so that tests and tools need not compare sentences.
  var diagnosticID: MessageID {
    let label = Mirror(reflecting: self).children.first?.label ?? "\(self)"
    return MessageID(domain: "SteadRecords", id: "Predicate.\(label)")
  }

  var message: String {
    switch self {
    case .needsClosure: "a predicate is written as a closure, such as { $0.name == name }"
    case .emptyBody: "a predicate must give a Boolean value"
    case .statement(let name):
      "a predicate cannot contain \(name); it is made of let, if, guard and one value"
    case .loop:
      "a predicate cannot contain a loop; use contains(where:), allSatisfy or filter"
    case .unusedValue:
      "the value of this expression is unused; join conditions with '&&' or '||'"
    case .conditionWithoutElse: "every branch of a predicate must give a value; add an 'else'"
    case .missingReturn: "every path through a predicate must end with a value"
    case .variableWithoutValue: "a constant in a predicate needs a value"
    case .mutableVariable: "a predicate cannot change variables; use 'let'"
    case .pattern: "a predicate cannot match this pattern; compare with '==' instead"
    case .assignment: "a predicate cannot assign; compare with '=='"
    case .effect(let keyword):
      "a predicate cannot use '\(keyword)'; compute the value before the predicate and capture it"
    case .operation(let name):
      "operator '\(name)' is not supported in a predicate; compute the value before the predicate "
        + "and capture it"
    case .method(let name):
      "'\(name)' cannot be called on a model's value in a predicate; "
        + (PredicateMethods.alternatives[name]
          ?? "use a stored property, or \(PredicateMethods.list)")
    case .closureNeeded(let name): "'\(name)' in a predicate needs a closure written in place"
    case .parameters(let count):
      "this closure must have \(count) parameter\(count == 1 ? "" : "s")"
    case .call:
      "a function cannot be called with a model's value in a predicate; write its condition here, "
        + "or put it into another predicate and call 'evaluate'"
    case .syntax(let name):
      "\(name) cannot use a model's value in a predicate; "
        + "compute it before the predicate and capture it"
    }
  }

  /// The problem as an error, which is reported at a node.
  func error(at node: some SyntaxProtocol, fixIts: [FixIt] = []) -> DiagnosticsError {
    DiagnosticsError(diagnostics: [
      Diagnostic(node: Syntax(node), message: self, fixIts: fixIts)
    ])
  }
}

extension PredicateProblem {
  /// The problem of an expression that predicates do not support.
  init(refusing expression: ExprSyntax) {
    self =
      switch expression.as(ExprSyntaxEnum.self) {
      case .tryExpr: .effect("try")
      case .awaitExpr: .effect("await")
      case .switchExpr: .statement("'switch'")
      case .closureExpr: .syntax("a closure here")
      case .stringLiteralExpr: .syntax("a string interpolation")
      case .arrayExpr: .syntax("an array literal")
      case .dictionaryExpr: .syntax("a dictionary literal")
      case .tupleExpr: .syntax("a tuple")
      case .keyPathExpr: .syntax("a key path")
      case .inOutExpr: .syntax("an inout argument")
      case .macroExpansionExpr: .syntax("a macro")
      case .sequenceExpr: .syntax("an operator without a known precedence")
      default: .syntax("this expression")
      }
  }

  /// The problem of a statement that predicates do not support.
  init(refusing statement: StmtSyntax) {
    self =
      switch statement.as(StmtSyntaxEnum.self) {
      case .forStmt, .whileStmt, .repeatStmt: .loop
      case .doStmt: .statement("'do'")
      case .deferStmt: .statement("'defer'")
      case .throwStmt: .effect("throw")
      case .expressionStmt(let statement) where statement.expression.is(SwitchExprSyntax.self):
        .statement("'switch'")
      default: .statement("this statement")
      }
  }
}
