import SwiftSyntax

/// The types of a file's variables and parameters by name, as far as the file shows them.
///
/// Scopes are not resolved: a name that has two types in a file has none. That is wrong rarely
/// enough, and a type checker would need all modules that the file imports.
///
/// Types are strings as the source writes them, so `[Note]` and `Array<Note>` differ. `elementType`
/// takes optionals and lists off.
struct VariableTypes {
  /// The types of all variables with a name, in whichever scope they are.
  private var types: [String: Set<String>] = [:]

  /// Reads the types of all variables of a file. Costs a pass over them.
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
  ///
  /// It covers literals, calls of initializers, and the usual ways to get a `UserDefaults`. Nil for
  /// anything else, which needs a type checker.
  static func type(of value: ExprSyntax) -> String? {
    switch value.kind {
    case .stringLiteralExpr: return "String"
    case .integerLiteralExpr: return "Int"
    case .floatLiteralExpr: return "Double"
    case .booleanLiteralExpr: return "Bool"
    case .tryExpr: return value.as(TryExprSyntax.self).flatMap { type(of: $0.expression) }
    case .memberAccessExpr:
      let text = value.code
      // `UserDefaults.standard`, and a program's own `UserDefaults.shared`.
      return text.hasPrefix("UserDefaults.") ? "UserDefaults" : nil
    case .functionCallExpr:
      guard let call = value.as(FunctionCallExprSyntax.self) else { return nil }
      let text = call.calledExpression.code
      // `[Item]()` and `[String: Int]()`.
      if text.hasPrefix("[") { return text }
      let first = text.split(separator: ".").first.map(String.init) ?? ""
      guard first.first?.isUppercase == true else { return nil }
      // `Store.make()` may return anything. A function with a capital is an initializer, by Swift's
      // naming.
      return text.contains(".") ? nil : text
    case .sequenceExpr:
      // `UserDefaults(suiteName: group) ?? .standard`
      return value.code.hasPrefix("UserDefaults(suiteName:") ? "UserDefaults" : nil
    case .forceUnwrapExpr:
      return value.as(ForceUnwrapExprSyntax.self).flatMap { type(of: $0.expression) }
    default: return nil
    }
  }

  /// The type of the variable or parameter with a name, as the function around a node sees it.
  ///
  /// A parameter hides every variable of the name, also where a closure between them declares it
  /// again.
  func type(of name: String, at node: some SyntaxProtocol) -> String? {
    if let parameter = Self.parameter(name, around: node) { return parameter }
    return self[name]
  }

  /// The type of a parameter of the innermost function around a node that has one of this name.
  ///
  /// Parameters of closures aren't looked at, since their types are rarely written.
  private static func parameter(_ name: String, around node: some SyntaxProtocol) -> String? {
    for ancestor in node.ancestors {
      let clause =
        ancestor.as(FunctionDeclSyntax.self)?.signature.parameterClause
        ?? ancestor.as(InitializerDeclSyntax.self)?.signature.parameterClause
      guard let clause else { continue }
      for parameter in clause.parameters
      // The second name is the one inside the function; the first is the argument's label.
      where (parameter.secondName ?? parameter.firstName).text == name {
        return parameter.type.trimmedDescription
      }
    }
    return nil
  }
}

extension ExprSyntax {
  /// Whether it's a context of models: by its type if the file shows it, otherwise by its name.
  ///
  /// A known type decides against the name: `context: EditorContext` is no context of models.
  func isContext(_ variables: VariableTypes) -> Bool {
    let name = code.filter { $0 != "?" && $0 != "!" }.lastComponent
    if let type = variables.type(of: name, at: self) {
      return ["ModelContext", "NSManagedObjectContext"].contains(type.elementType)
    }
    // `moc` is the usual abbreviation of a managed object context.
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
  /// The names, without the types that they belong to: a name that is changed anywhere counts
  /// everywhere.
  private(set) var names: Set<String> = []

  /// Reads the names of a file. Costs one pass over its tokens.
  init(_ tree: SourceFileSyntax) {
    // Whether the tokens belong to a key path, a binding or an argument after `&`. All names of
    // such a path count, since changing a part changes the whole.
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
  ///
  /// A full stop counts even in `name.isEmpty`: whether a method mutates isn't known here.
  private static func isChanged(_ token: TokenSyntax) -> Bool {
    switch token.nextToken(viewMode: .sourceAccurate)?.tokenKind {
    case .equal, .period, .leftSquare, .postfixQuestionMark, .exclamationMark: true
    // `+=` and a program's own operators of this kind.
    case .binaryOperator(let text): text.hasSuffix("=") && !comparisons.contains(text)
    default: false
    }
  }

  /// Operators that end in an equals sign and change nothing.
  private static let comparisons: Set<String> = ["==", "!=", "===", "!==", "<=", ">=", "~="]
}
