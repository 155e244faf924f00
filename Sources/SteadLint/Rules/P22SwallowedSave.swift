import SwiftSyntax

private let p22 = RuleID(id: "P22", name: "swallowed-save", level: .warning)

extension Rule {
  /// Saves of a context whose failure nothing notices: `try?`, and a `do` with empty `catch`
  /// clauses.
  ///
  /// A warning only where a user has just changed something. What a next run, a server or the next
  /// save makes good is left out or a note, by the names around the save.
  static let swallowedSave = Rule(
    p22,
    summary: "A failed `save()` of a context goes unnoticed.",
    why: """
      A save can fail: on a full disk, for an invalid value, after another process has changed the object. With \
      `try?` the app shows the change, but it's gone at the next start.
      """,
    bad: "try? modelContext.save()",
    good: """
      do {
        try modelContext.save()
      } catch {
        alert = SaveFailure(error)
      }
      """,
    avoids: [
      "Other things that are saved: only contexts count, by their type or name.",
      "Tests and previews.",
      "A result that is used, such as `(try? context.save()) == nil`.",
      "Caches: by the name of the function, of the context's container, or of all models that the function uses, except in a view, which saves what its user did.",
      "Saves that are followed by another save of the same context, in the same block or one around it.",
      "A save in the `catch` of another one of the same context, which takes back what that couldn't save.",
      "Test and debugging data, as in `createTestData` or a type `DebugView`.",
      "Files that import no user interface, since the next run makes much of what they save again: a note.",
      "What the next run repairs, by the function's first word: `cleanup`, `repair`, `removeDuplicates`, `backfill`, `prune`, `reconnect`, `ensure`, `enforce`, `revalidate`: a note.",
    ],
    inFile: { file in
      let variables = VariableTypes(file.walk)
      return file.walk.tries.compactMap { attempt in
        // The cheap questions first. `CachedModels` collects all nodes of the function.
        guard attempt.questionOrExclamationMark?.text == "?" || isCaughtByNothing(attempt),
          let call = saveCall(attempt.expression),
          let receiver = call.receiver, receiver.isContext(variables), isUnused(attempt),
          !isTestOrDebugCode(attempt), !isRecovery(attempt, of: receiver.code),
          !isFollowed(attempt, by: receiver.code),
          !CachedModels(scope: attempt.scope, variables: variables).areSaved(by: receiver)
        else { return nil }
        return Finding(
          p22,
          "A failed save goes unnoticed and the change is lost; catch the error and tell the user.",
          at: file.place(attempt),
          level: isRepeatedByNextRun(attempt) || !hasViews(file.walk.imports) ? .note : nil)
      }
    })
}

/// The call of `save()` in an attempt, with or without `await`.
///
/// `save(to:)` is another method, of documents and the like.
private func saveCall(_ expression: ExprSyntax) -> FunctionCallExprSyntax? {
  if let call = expression.as(FunctionCallExprSyntax.self) {
    return call.name == "save" && call.arguments.isEmpty ? call : nil
  }
  if let waiting = expression.as(AwaitExprSyntax.self) { return saveCall(waiting.expression) }
  return nil
}

/// Whether the `do` around a save has only empty `catch` clauses.
///
/// One clause with a statement is enough for false. What that statement does isn't looked at.
private func isCaughtByNothing(_ attempt: TryExprSyntax) -> Bool {
  // `try!` ends the program, which everybody notices.
  guard attempt.questionOrExclamationMark == nil else { return false }
  for node in attempt.ancestors {
    if node.is(ClosureExprSyntax.self) || node.id == attempt.scope.id { return false }
    if let statement = node.as(DoStmtSyntax.self), statement.body.start < attempt.start,
      attempt.end < statement.body.end,
      // Past clauses with patterns the other errors go on, to the next `do` or out of the function.
      statement.catchClauses.contains(where: { CaughtErrors($0) == .all })
    {
      return statement.catchClauses.allSatisfy(\.body.statements.isEmpty)
    }
  }
  return false
}

/// Whether the result is discarded.
///
/// `(try? context.save()) == nil` asks whether it failed.
private func isUnused(_ attempt: TryExprSyntax) -> Bool {
  guard let parent = attempt.parent else { return true }
  // Also the only expression of a function or closure: its result, an optional Void, is nothing that a caller
  // checks.
  if parent.is(CodeBlockItemSyntax.self) { return true }
  // `_ = try? …` is a sequence of three elements, whose list is between it and the attempt.
  return parent.as(SequenceExprSyntax.self)?.code.hasPrefix("_=") == true
    || parent.parent?.code.hasPrefix("_=") == true
}

/// Whether the function makes test or preview data, or belongs to a type for debugging.
///
/// By names, since such code is in an app's own target. Both words are needed for data:
/// `saveTestResults` may be an app's.
private func isTestOrDebugCode(_ attempt: TryExprSyntax) -> Bool {
  let words = NameWords(attempt.scope.declaredName ?? "").words
  if words.last == "data", !Set(words).isDisjoint(with: ["test", "dummy", "sample"]) {
    return true
  }
  return words.starts(with: ["make", "preview"])
    || NameWords(attempt.enclosingType.lastComponent).words.first == "debug"
}

/// Whether it takes back what another save of the same context couldn't save.
///
/// The failure of the first save is handled there already; this one only restores what was before.
private func isRecovery(_ attempt: TryExprSyntax, of context: String) -> Bool {
  for node in attempt.ancestors {
    if node.is(ClosureExprSyntax.self) || node.id == attempt.scope.id { return false }
    if let statement = node.as(CatchClauseSyntax.self)?.parent?.parent?.as(DoStmtSyntax.self) {
      return statement.body.code.contains(context + ".save()")
    }
  }
  return false
}

/// Whether a file imports a user interface, and so may save what its user just did.
///
/// The next run makes much of what other files save again.
private func hasViews(_ imports: Set<String>) -> Bool {
  !imports.isDisjoint(with: ["SwiftUI", "UIKit", "AppKit", "Cocoa", "WatchKit"])
}

/// Whether the next run of the function repeats what wasn't saved.
///
/// By the first words of its name: a verb for maintenance.
private func isRepeatedByNextRun(_ attempt: TryExprSyntax) -> Bool {
  let words = NameWords(attempt.scope.declaredName ?? "").words
  let beginnings = [
    ["cleanup"], ["clean", "up"], ["repair"], ["remove", "duplicates"], ["deduplicate"],
    ["backfill"], ["prune"], ["reconnect"], ["enforce"], ["ensure"], ["revalidate"],
  ]
  return beginnings.contains { words.starts(with: $0) }
}

/// Whether another save of a context follows if the function doesn't end first.
///
/// Blocks around the save count, too: in a loop the save after the loop has everything.
private func isFollowed(_ attempt: TryExprSyntax, by context: String) -> Bool {
  for node in attempt.ancestors {
    if node.is(ClosureExprSyntax.self) || node.id == attempt.scope.id { return false }
    // Each statement around the save may have others after it, which run later.
    guard let item = node.as(CodeBlockItemSyntax.self),
      let list = item.parent?.as(CodeBlockItemListSyntax.self)
    else { continue }
    for next in list.drop(while: { $0.id != item.id }).dropFirst() {
      // The next save includes what this one couldn't write, and its own `try` is looked at by itself.
      if isSave(next, of: context) { return true }
      // On some path the later save doesn't happen, and the change would be lost there.
      if next.mentions("return", "throw", "break", "continue") { return false }
    }
  }
  return false
}

/// Whether a statement is a save of the context and nothing else.
///
/// By its tokens without spaces. The receiver has to be spelled alike.
private func isSave(_ item: CodeBlockItemSyntax, of context: String) -> Bool {
  ["try?", "_=try?", "try", "tryawait", "try?await"].contains {
    item.code == $0 + context + ".save()"
  }
}

/// Whether names say that a function saves only cached models.
///
/// A cache is made again, so a save of nothing else may fail unnoticed. One sign is enough: the
/// function's name, what the context is made from, or the names of all models that the function
/// touches.
private struct CachedModels {
  let scope: Syntax
  let variables: VariableTypes

  private static let words: Set<String> = ["cache", "cached", "caches"]

  /// Whether a save keeps only what can be made again. One model that isn't cached by its name is enough for false.
  func areSaved(by context: ExprSyntax) -> Bool {
    if isCached(scope.declaredName ?? "") || isCached(source(of: context.code, depth: 0)) {
      return true
    }
    let models = models(of: context) + [owner(of: context)].compactMap { $0 }
    // Without any model nothing is known, so the save is reported.
    return !models.isEmpty && models.allSatisfy(isCached) && !isInView
  }

  /// Whether a name has the word cache.
  private func isCached(_ name: String) -> Bool {
    NameWords(name).contains(anyOf: Self.words)
  }

  /// A view saves what its user did, which nothing makes again.
  private var isInView: Bool {
    scope.ancestors.contains { node in
      node.asProtocol(DeclGroupSyntax.self)?.inheritanceClause?.inheritedTypes.contains {
        $0.type.code == "View"
      } ?? false
    }
  }

  /// The model that a context belongs to: for `entity.managedObjectContext`, the type of `entity`.
  ///
  /// Nil for a context that comes from elsewhere.
  private func owner(of context: ExprSyntax) -> String? {
    let value = values[context.code] ?? context
    guard let access = value.as(MemberAccessExprSyntax.self), let base = access.base,
      ["managedObjectContext", "modelContext"].contains(access.declName.baseName.text)
    else { return nil }
    let name = base.code.filter { $0 != "?" && $0 != "!" }
    // `if let entity = entity` hides the parameter, and has its type.
    return variables.type(of: name, at: context)?.elementType
  }

  /// The expressions that a context is made from, followed through the function's constants.
  ///
  /// For `ModelContext(container)` with `let container = provider.localCacheContainer`, both
  /// expressions.
  private func source(of name: String, depth: Int) -> String {
    // A limit, since `let a = f(a)` refers to itself.
    guard depth < 3, let value = values[name] else { return "" }
    let argument = value.as(FunctionCallExprSyntax.self)?.arguments.first?.expression.code ?? ""
    return value.code + " " + source(of: argument, depth: depth + 1)
  }

  /// The values of the function's constants, by their names.
  ///
  /// Of several bindings of one name the last one that was found counts.
  private var values: [String: ExprSyntax] {
    var found: [String: ExprSyntax] = [:]
    for node in nodes {
      if let binding = node.as(PatternBindingSyntax.self) {
        found[binding.pattern.trimmedDescription] = binding.initializer?.value
      } else if let binding = node.as(OptionalBindingConditionSyntax.self) {
        found[binding.pattern.trimmedDescription] = binding.initializer?.value
      }
    }
    return found
  }

  /// The models that are fetched, made in the context, inserted or deleted.
  ///
  /// The names of types, or those of variables with the word cache.
  private func models(of context: ExprSyntax) -> [String] {
    // Computed once: it walks the whole function.
    let values = values
    return nodes.flatMap { node -> [String] in
      if let generic = node.as(GenericSpecializationExprSyntax.self) {
        return ["FetchDescriptor", "NSFetchRequest"].contains(generic.expression.code)
          ? generic.genericArgumentClause.arguments.map { $0.argument.trimmedDescription } : []
      }
      guard let call = node.as(FunctionCallExprSyntax.self) else { return [] }
      // `CachedFilter(context: context)`, the initializer of Core Data's objects.
      if call.argument("context")?.code == context.code, call.receiver == nil { return [call.name] }
      guard call.receiver?.code == context.code, ["insert", "delete"].contains(call.name),
        let model = call.arguments.first?.expression
      else { return [] }
      // `delete(model: CachedNote.self)`
      if call.arguments.first?.label?.text == "model" {
        return [String(model.code.dropLast(".self".count)).lastComponent]
      }
      // The object is made in the call, or was bound to a name before.
      let made =
        model.as(FunctionCallExprSyntax.self) ?? values[model.code]?.as(FunctionCallExprSyntax.self)
      return [made.map(\.name) ?? model.code].filter {
        $0.first?.isUppercase == true || isCached($0)
      }
    }
  }

  /// All nodes of the function, found without recursion, as deep as they may be.
  private var nodes: [Syntax] {
    var found: [Syntax] = []
    var open = [scope]
    while let node = open.popLast() {
      found.append(node)
      open += node.children(viewMode: .sourceAccurate).filter { !$0.is(TokenSyntax.self) }
    }
    return found
  }
}
