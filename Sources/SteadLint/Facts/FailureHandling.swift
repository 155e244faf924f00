import SwiftSyntax

/// Tells whether the code that runs where a decoding fails ends in a state from which a later save may overwrite the
/// stored bytes.
///
/// Such code is the body of a `catch`, or the branch of a `guard` or an `if` for nil. It prevents a later save if it
/// throws, ends the program, removes the bytes on purpose, hands the error to the caller, or keeps the error where
/// the app can show it. Names and words decide, since there is no type checker; in doubt it prevents one, because a
/// missed finding is better than a wrong one.
struct FailureHandling {
  let context: FileContext

  /// The words in the names of errors that are kept.
  private static let errorWords: Set<String> = ["error", "errors"]
  /// The words that prevent a later save, wherever they are in a block.
  ///
  /// `throwing` is the label of `resume(throwing:)` and `finish(throwing:)`. `removeObject` and `removeItem` are
  /// here because code that removes the bytes in a `catch` discards them on purpose. `return` isn't: it ends this
  /// function, and the next save of another one still overwrites.
  private static let stops: Set<String> = [
    "throw", "throwing", "fatalError", "preconditionFailure", "failure", "exit", "abort",
    "removeObject", "removeItem",
  ]

  /// Whether a block does nothing that could prevent a later save.
  func allowsLaterSave(_ body: CodeBlockSyntax) -> Bool {
    !body.mentions(anyOf: Self.stops) && !callsRemoval(body) && !keepsError(body)
  }

  /// Whether a block calls a function of the file that removes what is stored, and that has a name such as `reset`.
  ///
  /// The name alone isn't enough: a `resetTimer()` that sets a property to nil leaves the bytes for
  /// the next save to overwrite. So one function of this file with that name has to remove a key or
  /// a file.
  private func callsRemoval(_ body: CodeBlockSyntax) -> Bool {
    let verbs: Set = ["clear", "delete", "discard", "drop", "purge", "remove", "reset", "wipe"]
    let names = calls(in: body).map(\.name).filter {
      NameWords($0).words.first.map(verbs.contains) == true
    }
    guard !names.isEmpty else { return false }
    return context.walk.calls.contains { call in
      ["removeObject", "removeItem"].contains(call.name)
        && call.scope.declaredName.map(names.contains) == true
    }
  }

  // MARK: - Errors that are kept

  /// Whether a block keeps the error, or hands it on: by an assignment, in a list, or by calling a parameter.
  ///
  /// A comparison such as `error == nil` keeps nothing, and neither does a local constant.
  private func keepsError(_ body: CodeBlockSyntax) -> Bool {
    let names = errorNames(in: body)
    let parameters = body.scope.parameterNames
    return context.walk.assignments.contains { contains(body, $0) && keepsError($0, names) }
      || calls(in: body).contains { call in
        guard call.arguments.contains(where: { isError($0.expression, names) }) else {
          return false
        }
        // `completion?(nil, error)`
        let callee = call.calledExpression.code.filter { $0 != "?" && $0 != "!" }
        return parameters.contains(callee)
          // `errors.append(error)`, and not `log.append(error)`.
          || ["append", "insert"].contains(call.name)
            && call.receiver.map { NameWords($0.code).contains(anyOf: Self.errorWords) } == true
      }
  }

  /// Whether a sequence assigns the error to something, or something to a variable for errors.
  ///
  /// `state = .failed(error)` and `loadError = .unreadable` do; `error = nil` forgets one, and `_ = error` keeps none.
  private func keepsError(_ sequence: SequenceExprSyntax, _ names: Set<String>) -> Bool {
    let parts = Array(sequence.elements)
    guard let sign = parts.firstIndex(where: { $0.is(AssignmentExprSyntax.self) }) else {
      return false
    }
    let target = parts[..<sign].map(\.code).joined()
    let values = parts[(sign + 1)...]
    if target == "_" { return false }
    if values.contains(where: { isError($0, names) }) { return true }
    let nothing: Set = ["nil", ".none", "false", "0", "\"\"", "[]"]
    return NameWords(target.lastComponent).contains(anyOf: Self.errorWords)
      && !nothing.contains(values.map(\.code).joined())
  }

  /// Whether an expression uses an error: a name with the word, or one that is bound to an error.
  private func isError(_ expression: ExprSyntax, _ names: Set<String>) -> Bool {
    expression.tokens(viewMode: .sourceAccurate).contains { token in
      guard case .identifier(let text) = token.tokenKind else { return false }
      return names.contains(text) || NameWords(text).contains(anyOf: Self.errorWords)
    }
  }

  /// The names of errors in a block that don't have the word: `catch let problem`, and `let text = "\(error)"`.
  private func errorNames(in body: CodeBlockSyntax) -> Set<String> {
    var names: Set<String> = []
    for item in body.parent?.as(CatchClauseSyntax.self)?.catchItems ?? [] {
      var isBound = false
      for token in item.pattern?.tokens(viewMode: .sourceAccurate).map(\.self) ?? [] {
        if isBound, case .identifier(let text) = token.tokenKind { names.insert(text) }
        isBound = ["let", "var"].contains(token.text)
      }
    }
    // In the order of the source, so that a name that is made from an earlier one counts as well.
    for variable in context.walk.variables where contains(body, variable) {
      for binding in variable.bindings {
        if let value = binding.initializer?.value, isError(value, names) {
          names.insert(binding.pattern.trimmedDescription)
        }
      }
    }
    return names
  }

  /// The calls in a block, those in its closures included.
  private func calls(in body: CodeBlockSyntax) -> [FunctionCallExprSyntax] {
    context.walk.calls.filter { contains(body, $0) }
  }

  private func contains(_ body: CodeBlockSyntax, _ node: some SyntaxProtocol) -> Bool {
    body.start <= node.start && node.end <= body.end
  }
}

// MARK: - Catch clauses

/// Which of a decoder's errors a `catch` clause gets.
enum CaughtErrors: Comparable {
  /// None: its type is one that no decoder throws, such as `URLError`.
  case never
  /// Those of a type of the project, which only the decoded type's own `init(from:)` could throw.
  case own
  /// Some: a case of `DecodingError`, or those that a `where` lets pass.
  case part
  /// All: it has no pattern, or `let error`, or a type that all have.
  case all

  /// Types of Swift and Foundation that no decoder throws.
  private static let others: Set<String> = [
    "URLError", "CocoaError", "POSIXError", "EncodingError", "CancellationError",
  ]

  /// Reads a clause. The widest of its patterns counts.
  init(_ clause: CatchClauseSyntax) {
    self = clause.catchItems.map(Self.init).max() ?? .all
  }

  private init(_ item: CatchItemSyntax) {
    let caught = item.pattern.map(Self.init) ?? .all
    // The condition isn't evaluated, so it may let all of them pass or none.
    self = item.whereClause == nil ? caught : min(caught, .part)
  }

  private init(_ pattern: PatternSyntax) {
    let words = pattern.tokens(viewMode: .sourceAccurate).map(\.text)
    // `let error as DecodingError`, `is URLError`
    if let index = words.lastIndex(where: { ["as", "is"].contains($0) }) {
      let type = words[(index + 1)...].filter { $0 != "any" }.joined().lastComponent
      // Every error is one of the first two, by a conversion.
      if ["Error", "NSError", "DecodingError"].contains(type) {
        self = .all
      } else {
        self = Self.others.contains(type) ? .never : .own
      }
      return
    }
    // `let error`, `_`; a name alone is compared with the error.
    if words == ["_"] || words.count == 2 && ["let", "var"].contains(words[0]) {
      self = .all
      return
    }
    // `DecodingError.keyNotFound(let key, _)`. The type of `.keyNotFound` is that of a typed throw.
    let names = words.filter { !["let", "var", "Swift", "Foundation"].contains($0) }
    switch names.first {
    case "DecodingError", ".", nil: self = .part
    case let type?: self = Self.others.contains(type) ? .never : .own
    }
  }
}

extension DoStmtSyntax {
  /// The clauses that a decoder's error may get into, in their order; none after one that gets all.
  var decodingClauses: [(caught: CaughtErrors, body: CodeBlockSyntax)] {
    var clauses: [(caught: CaughtErrors, body: CodeBlockSyntax)] = []
    for clause in catchClauses {
      let caught = CaughtErrors(clause)
      if caught != .never { clauses.append((caught, clause.body)) }
      if caught == .all { break }
    }
    return clauses
  }
}

extension SyntaxProtocol {
  /// The names that the parameters of a function or an initializer have in its body; empty for anything else.
  var parameterNames: Set<String> {
    let node = Syntax(self)
    let clause =
      node.as(FunctionDeclSyntax.self)?.signature.parameterClause
      ?? node.as(InitializerDeclSyntax.self)?.signature.parameterClause
    return Set((clause?.parameters ?? []).map { ($0.secondName ?? $0.firstName).text })
  }
}
