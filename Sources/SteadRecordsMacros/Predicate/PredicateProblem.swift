import SwiftDiagnostics
import SwiftSyntax

/// What a predicate cannot hold, in words that say what to write instead.
enum PredicateProblem: DiagnosticMessage {
  case needsClosure
  case emptyBody
  case statement
  case conditionWithoutElse
  case missingReturn
  case variableWithoutValue
  case mutableVariable
  case pattern
  case operation(String)
  case method(String)
  case closureNeeded(String)
  case call
  case syntax(String)

  var severity: DiagnosticSeverity { .error }

  var diagnosticID: MessageID {
    MessageID(domain: "SteadRecordsMacros", id: "Predicate.\(Self.name(self))")
  }

  private static func name(_ problem: PredicateProblem) -> String {
    String(describing: problem).prefix { $0 != "(" }.description
  }

  var message: String {
    switch self {
    case .needsClosure: "a predicate is written as a closure: #Predicate<Model> { $0.name == name }"
    case .emptyBody: "a predicate must give a Boolean value"
    case .statement:
      "a predicate can only hold let, if, guard and return; compute the value before the predicate "
        + "and capture it"
    case .conditionWithoutElse: "every branch of a predicate must give a value; add an else"
    case .missingReturn: "every path through a predicate must end with a value"
    case .variableWithoutValue: "a constant in a predicate needs a value: let name = expression"
    case .mutableVariable: "a predicate cannot change variables; use let"
    case .pattern: "a predicate cannot match this pattern; compare the value instead"
    case .operation(let name):
      "the operator '\(name)' has no meaning in a predicate; compute the value before the predicate "
        + "and capture it"
    case .method(let name):
      "'\(name)' cannot be called on a model's value in a predicate; use a stored property, or one of "
        + PredicateMethods.list
    case .closureNeeded(let name): "'\(name)' in a predicate needs a closure written in place"
    case .call:
      "a function cannot be called with a model's value in a predicate; put its test into the "
        + "predicate itself, or into another predicate and call evaluate"
    case .syntax(let name):
      "\(name) has no meaning in a predicate; compute the value before the predicate and capture it"
    }
  }

  func diagnostic(at node: some SyntaxProtocol) -> Diagnostic {
    Diagnostic(node: Syntax(node), message: self)
  }

  func error(at node: some SyntaxProtocol) -> DiagnosticsError {
    DiagnosticsError(diagnostics: [diagnostic(at: node)])
  }
}

/// The methods that a predicate knows.
enum PredicateMethods {
  /// Methods with one argument, each with a function of its own name.
  static let unary: Set<String> = [
    "hasPrefix", "hasSuffix", "localizedStandardContains", "localizedCaseInsensitiveContains",
    "caseInsensitiveCompare", "localizedCompare", "localizedStandardCompare",
    "localizedCaseInsensitiveCompare",
  ]
  /// Methods without arguments.
  static let plain: Set<String> = ["lowercased", "uppercased", "min", "max"]

  static let list =
    "contains, contains(where:), allSatisfy, filter, starts(with:), hasPrefix, hasSuffix, lowercased, "
    + "uppercased, min, max, localizedStandardContains, caseInsensitiveCompare, localizedCompare, "
    + "flatMap and evaluate"
}
