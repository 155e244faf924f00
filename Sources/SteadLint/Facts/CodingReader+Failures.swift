import SwiftSyntax

// What becomes of a failed coding, and of the bytes that don't decode.

extension CodingReader {
  private var handling: FailureHandling { FailureHandling(context: context) }

  /// What happens if a call fails: the innermost `try?` or `do` around it decides.
  ///
  /// A failed attempt counts as thrown, too, if another attempt follows whose failure is thrown.
  /// Nobody can tell what becomes of an error that leaves a closure, so it counts as thrown, which
  /// no rule reports.
  ///
  /// - Parameter looksFurther: Whether to look for another attempt; false for that one itself, so
  ///   that two attempts don't refer to each other forever.
  func failure(
    of call: FunctionCallExprSyntax, in scope: Syntax, looksFurther: Bool = true
  ) -> CodingUse.Failure {
    for node in call.ancestors {
      if node.id == scope.id || node.is(ClosureExprSyntax.self) { return .thrown }
      // `try?` ends the search. An error that it discards reaches no `do` around it, and neither does
      // one at which `try!` ends the program.
      if let attempt = node.as(TryExprSyntax.self), let mark = attempt.questionOrExclamationMark {
        guard mark.text == "?" else { return .thrown }
        let isThrown = stops(attempt) || looksFurther && isFollowed(attempt, of: call, in: scope)
        return isThrown ? .thrown : .discarded
      }
      // A call in a `catch` clause isn't covered by that `do`.
      if let statement = node.as(DoStmtSyntax.self),
        call.ancestors.contains(where: { $0.id == statement.body.id }),
        let outcome = failure(caughtBy: statement.decodingClauses)
      {
        return outcome
      }
    }
    return .thrown
  }

  /// What `catch` clauses make of a failure; nil if it gets past them, to the next `do` or out of the function.
  ///
  /// One clause that stops is enough for silence: which one gets the error of a coder depends on its pattern. But one for
  /// an error of the project's own gets none of a decoder's, if there is another that does.
  private func failure(
    caughtBy clauses: [(caught: CaughtErrors, body: CodeBlockSyntax)]
  ) -> CodingUse.Failure? {
    let decoding = clauses.filter { $0.caught >= .part }
    let concerned = decoding.isEmpty ? clauses : decoding
    if concerned.contains(where: { !handling.allowsLaterSave($0.body) }) { return .thrown }
    return decoding.isEmpty ? nil : .caught
  }

  /// Whether the `guard` around an attempt throws or removes the data, so that no later save overwrites it.
  ///
  /// Only a `guard` in the same statement counts, since its `else` runs exactly when the attempt is
  /// nil.
  private func stops(_ attempt: TryExprSyntax) -> Bool {
    for node in attempt.ancestors {
      if let statement = node.as(GuardStmtSyntax.self) {
        return !handling.allowsLaterSave(statement.body)
      }
      if node.is(CodeBlockItemSyntax.self) || node.is(ClosureExprSyntax.self) { return false }
    }
    return false
  }

  /// Whether the function returns if a call in a `guard` fails, and saves nothing first.
  ///
  /// P04 passes over such a function if it saves further down: it changes what is stored, and
  /// stores nothing where it couldn't read.
  func leaves(_ call: FunctionCallExprSyntax) -> Bool {
    for node in call.ancestors {
      if let body = node.as(GuardStmtSyntax.self)?.body {
        // A value that is returned may be saved by the caller.
        let last = body.statements.last?.item.as(ReturnStmtSyntax.self)
        // An `else` that encodes writes a new value itself, which is the overwrite that P04 looks
        // for.
        return last != nil && last?.expression == nil && !body.mentions("encode")
      }
      if node.is(CodeBlockItemSyntax.self) || node.is(ClosureExprSyntax.self) { return false }
    }
    return false
  }

  /// Whether an attempt in the condition of an `if` isn't the last: its `else` stops, or the bytes are
  /// decoded again, in another form, and that throws.
  private func isFollowed(
    _ attempt: TryExprSyntax, of call: FunctionCallExprSyntax, in scope: Syntax
  ) -> Bool {
    // Only an `if` has another branch for nil here; ``stops(_:)`` has looked for a `guard`.
    guard let statement = condition(around: attempt) else { return isChecked(attempt) }
    // `if (try? …) == nil { throw … }`
    if isNilCheck(attempt), !handling.allowsLaterSave(statement.body) { return true }
    if let last = lastElse(of: statement), !handling.allowsLaterSave(last) { return true }
    // Its own later attempts aren't looked at, so this ends after one level.
    return retries(of: call, after: statement, in: scope).contains {
      failure(of: $0, in: scope, looksFurther: false) == .thrown
    }
  }

  /// Whether an attempt is compared with nil by `==`, so that the block behind it runs where it failed.
  private func isNilCheck(_ attempt: TryExprSyntax) -> Bool {
    for node in attempt.ancestors {
      if let sequence = node.as(SequenceExprSyntax.self) {
        return sequence.code.hasSuffix("==nil") || sequence.code.hasPrefix("nil==")
      }
      if node.is(CodeBlockItemSyntax.self) || node.is(ClosureExprSyntax.self) { return false }
    }
    return false
  }

  /// Whether an attempt is bound to a local name, and the first statement that uses the name stops where it is nil.
  ///
  /// `let items = try? …`, and then `guard let items else { throw … }` or `if items == nil { throw … }`. A value that
  /// is used before was nil there, too.
  private func isChecked(_ attempt: TryExprSyntax) -> Bool {
    guard let value = attempt.parent?.as(InitializerClauseSyntax.self),
      let binding = value.parent?.as(PatternBindingSyntax.self),
      let item = attempt.ancestors.lazy.compactMap({ $0.as(CodeBlockItemSyntax.self) }).first,
      let list = item.parent?.as(CodeBlockItemListSyntax.self)
    else { return false }
    let name = binding.pattern.trimmedDescription
    let later = list.drop { $0.id != item.id }.dropFirst()
    guard let next = later.first(where: { $0.mentions(name) }) else { return false }
    return branchForNil(of: name, in: next).map { !handling.allowsLaterSave($0) } ?? false
  }

  /// The block of a `guard` or an `if` that runs where a name is nil; nil if the statement isn't about that.
  private func branchForNil(of name: String, in item: CodeBlockItemSyntax) -> CodeBlockSyntax? {
    func isBound(_ conditions: ConditionElementListSyntax) -> Bool {
      conditions.contains { condition in
        let code = condition.condition.code
        let isBinding = code.hasPrefix("let") || code.hasPrefix("var")
        return code == name + "!=nil" || isBinding && code.dropFirst(3) == name
          || isBinding && code.hasSuffix("=" + name)
      }
    }
    if let statement = item.item.as(GuardStmtSyntax.self) {
      return isBound(statement.conditions) ? statement.body : nil
    }
    let expression = item.item.as(ExpressionStmtSyntax.self)?.expression
    guard let statement = expression?.as(IfExprSyntax.self) ?? item.item.as(IfExprSyntax.self)
    else { return nil }
    if isBound(statement.conditions) { return lastElse(of: statement) }
    return statement.conditions.count == 1 && statement.conditions.first?.code == name + "==nil"
      ? statement.body : nil
  }

  /// Whether the bytes are decoded again, in another form, where a call in the condition of an `if`
  /// fails.
  ///
  /// P04 reports the last attempt alone, as a warning if one before it would be a warning.
  func isRetried(_ call: FunctionCallExprSyntax, in scope: Syntax) -> Bool {
    for node in call.ancestors {
      if let attempt = node.as(TryExprSyntax.self), let statement = condition(around: attempt) {
        return !retries(of: call, after: statement, in: scope).isEmpty
      }
      if node.is(CodeBlockItemSyntax.self) || node.is(ClosureExprSyntax.self) { return false }
    }
    return false
  }

  /// The calls that decode the same bytes after the body of an `if`: in its `else`, or after it.
  ///
  /// The bytes are the same if the argument `from:` has the same source in both calls.
  private func retries(
    of call: FunctionCallExprSyntax, after statement: IfExprSyntax, in scope: Syntax
  ) -> [FunctionCallExprSyntax] {
    let bytes = call.argument("from")?.code
    return (calls[scope.start] ?? []).filter { other in
      // A second decoding in the body runs only after the first has succeeded, so it is no retry.
      other.name == "decode" && other.start > statement.body.end
        && other.argument("from")?.code == bytes
    }
  }

  /// The `if` whose condition has an attempt.
  ///
  /// Nil for an attempt in the body: a statement lies between it and the `if`.
  private func condition(around attempt: TryExprSyntax) -> IfExprSyntax? {
    for node in attempt.ancestors {
      if let statement = node.as(IfExprSyntax.self) { return statement }
      if node.is(CodeBlockItemSyntax.self) || node.is(ClosureExprSyntax.self) { return nil }
    }
    return nil
  }

  /// The last `else` of a chain of `else if`; nil if the chain has none.
  ///
  /// Without a last `else`, execution goes on after the chain with the value that was there
  /// before.
  private func lastElse(of statement: IfExprSyntax) -> CodeBlockSyntax? {
    var chain = statement
    while true {
      switch chain.elseBody {
      case .ifExpr(let next): chain = next
      case .codeBlock(let block): return block
      case nil: return nil
      }
    }
  }

  /// Whether a function keeps the bytes that don't decode, by the words in it: a backup, another
  /// key, a migration.
  ///
  /// The words of a migration count because what such a function reads has the form of an earlier
  /// version.
  func keepsBytes(_ scope: Syntax) -> Bool {
    let words: Set = [
      "backup", "backUp", "corrupt", "corrupted", "quarantine", "moveItem", "copyItem",
      "replaceItemAt", "salvage",
      "legacy", "migrate", "migrateLegacy",
    ]
    return scope.tokens(viewMode: .sourceAccurate).contains { token in
      // The whole token as well, for names in camel case such as `moveItem`, which are several
      // words.
      words.contains(token.text) || NameWords(token.text).contains(anyOf: words)
    }
  }
}
