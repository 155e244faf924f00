import SwiftSyntax

/// The types of a file's variables and parameters by name, as far as the file shows them.
///
/// Scopes are not resolved: a name that has two types in a file has none. That is wrong rarely enough, and a
/// type checker would need all modules that the file imports.
struct VariableTypes {
  private var types: [String: Set<String>] = [:]

  init(_ walk: SyntaxWalk) {
    for variable in walk.variables {
      for binding in variable.bindings {
        guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.text else {
          continue
        }
        if let type = Self.type(of: binding) { types[name, default: []].insert(type) }
      }
    }
  }

  /// The type of the file's variables with a name; nil if they have several types.
  subscript(_ name: String) -> String? {
    guard let found = types[name], found.count == 1 else { return nil }
    return found.first
  }

  /// A binding's type as it's written, or as its value shows.
  static func type(of binding: PatternBindingSyntax) -> String? {
    if let type = binding.typeAnnotation?.type { return type.trimmedDescription }
    return binding.initializer.flatMap { type(of: $0.value) }
  }

  /// The type that a value's syntax shows.
  static func type(of value: ExprSyntax) -> String? {
    switch value.kind {
    case .stringLiteralExpr: return "String"
    case .integerLiteralExpr: return "Int"
    case .floatLiteralExpr: return "Double"
    case .booleanLiteralExpr: return "Bool"
    case .tryExpr: return value.as(TryExprSyntax.self).flatMap { type(of: $0.expression) }
    case .memberAccessExpr:
      let text = value.code
      return text.hasPrefix("UserDefaults.") ? "UserDefaults" : nil
    case .functionCallExpr:
      guard let call = value.as(FunctionCallExprSyntax.self) else { return nil }
      let text = call.calledExpression.code
      if text.hasPrefix("[") { return text }
      let first = text.split(separator: ".").first.map(String.init) ?? ""
      guard first.first?.isUppercase == true else { return nil }
      return text.contains(".") ? nil : text
    case .sequenceExpr:
      return value.code.hasPrefix("UserDefaults(suiteName:") ? "UserDefaults" : nil
    case .forceUnwrapExpr:
      return value.as(ForceUnwrapExprSyntax.self).flatMap { type(of: $0.expression) }
    default: return nil
    }
  }

  /// The type of the variable or parameter with a name, as the function around a node sees it.
  func type(of name: String, at node: some SyntaxProtocol) -> String? {
    if let parameter = Self.parameter(name, around: node) { return parameter }
    return self[name]
  }

  /// The type of a parameter of the innermost function around a node that has one of this name.
  private static func parameter(_ name: String, around node: some SyntaxProtocol) -> String? {
    for ancestor in node.ancestors {
      let clause =
        ancestor.as(FunctionDeclSyntax.self)?.signature.parameterClause
        ?? ancestor.as(InitializerDeclSyntax.self)?.signature.parameterClause
      guard let clause else { continue }
      for parameter in clause.parameters
      where (parameter.secondName ?? parameter.firstName).text == name {
        return parameter.type.trimmedDescription
      }
    }
    return nil
  }
}

extension ExprSyntax {
  /// Whether it's a context of models: by its type if the file shows it, otherwise by its name.
  func isContext(_ variables: VariableTypes) -> Bool {
    let name = code.filter { $0 != "?" && $0 != "!" }.lastComponent
    if let type = variables.type(of: name, at: self) {
      return ["ModelContext", "NSManagedObjectContext"].contains(type.elementType)
    }
    return NameWords(name).words.last == "context" || name == "moc"
  }
}

// MARK: - Changed names

/// The names that a file may change the values of.
///
/// A name counts if it's on the left of `=`, in a key path or a binding, after `&`, or if something follows it that
/// may change a part of it, such as `.append` or a subscript. Only plain reads don't count. `let name = 1` counts,
/// too.
///
/// It errs towards changed: rule P01 lowers a finding to a note only if no file may set the property.
struct ChangedNames {
  private(set) var names: Set<String> = []

  init(_ tree: SourceFileSyntax) {
    var isBound = false
    // The names in each open parenthesis: `(a, b) = (1, 2)` sets both.
    var open: [[String]] = []
    for token in tree.tokens(viewMode: .sourceAccurate) {
      switch token.tokenKind {
      case .identifier(let text):
        isBound = isBound || text.hasPrefix("$")
        let name = text.hasPrefix("$") ? String(text.dropFirst()) : text
        if isBound || Self.isChanged(token) { names.insert(name) }
        if !open.isEmpty { open[open.count - 1].append(name) }
      case .backslash, .prefixAmpersand: isBound = true
      case .period, .postfixQuestionMark, .exclamationMark, .keyword(.self), .keyword(.Self): break
      case .leftParen:
        isBound = false
        open.append([])
      case .rightParen:
        isBound = false
        let inside = open.popLast() ?? []
        if token.nextToken(viewMode: .sourceAccurate)?.tokenKind == .equal {
          names.formUnion(inside)
        }
      default: isBound = false
      }
    }
  }

  /// Whether what follows a name may change its value or a part of it.
  private static func isChanged(_ token: TokenSyntax) -> Bool {
    switch token.nextToken(viewMode: .sourceAccurate)?.tokenKind {
    case .equal, .period, .leftSquare, .postfixQuestionMark, .exclamationMark: true
    case .binaryOperator(let text): text.hasSuffix("=") && !comparisons.contains(text)
    default: false
    }
  }

  private static let comparisons: Set<String> = ["==", "!=", "===", "!==", "<=", ">=", "~="]
}
