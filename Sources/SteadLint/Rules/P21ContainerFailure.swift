import SwiftSyntax

private let p21 = RuleID(id: "P21", name: "container-failure-handling", level: .warning)

extension Rule {
  /// What an app does when its container can't be opened: the ways in which it loses data or can't
  /// recover.
  ///
  /// All of it is in one file, since the answer to a failed opening is in the `do` or the `try`
  /// around it. Containers of SwiftData and stacks of Core Data are treated alike.
  static let containerFailure = Rule(
    p21,
    summary:
      "When its container can't be opened, the app crashes, hides the error, continues in memory, or deletes the store.",
    why: """
      For some users the store can't be opened: after an update, or on a full disk. An app that crashes each time \
      can't recover. One that continues in memory loses everything that the user enters. One that deletes the store \
      loses everything that was in it.
      """,
    bad: """
      do {
        container = try ModelContainer(for: Note.self)
      } catch {
        fatalError("No container: \\(error)")
      }
      """,
    good: """
      do {
        container = try ModelContainer(for: Note.self)
      } catch {
        failure = error  // The app shows it, and offers to set the store aside.
      }
      """,
    avoids: [
      "Containers in memory, and those of tests and previews.",
      "Errors that are thrown or shown.",
      "A second attempt, in the `catch` of the first one, after something was done there that may help.",
      "Widgets and handlers of SiriKit's intents: a note. The system shows their failure, and nobody enters anything there.",
      "Containers of a cache, by the name of a property, a schema, a plan or a file: a note.",
    ],
    inFile: { file in
      // Openings that no user depends on are taken out once, for all three searches below.
      let openings = file.walk.calls.filter {
        openers.contains($0.name) && !isInMemory($0) && !isForTests($0)
          && !isFallbackInMemory($0)
      }
      return file.walk.dos.flatMap { findings(on: $0, openings: openings, file: file) }
        + file.walk.tries.compactMap { finding(on: $0, openings: openings, file: file) }
        + file.walk.calls.flatMap { loadFailures(on: $0, file: file) }
    })
}

/// The calls that open a store, of SwiftData and of Core Data, and throw if they can't.
/// `loadPersistentStores` passes its error to a closure, and is looked at apart.
private let openers: Set<String> = ["ModelContainer", "addPersistentStore"]

/// Whether the function around a call is for tests or debugging, by its name.
///
/// Such a function is often in an app's own target, where no folder and no import says what it is
/// for.
private func isForTests(_ call: FunctionCallExprSyntax) -> Bool {
  ["test", "testing", "debug"].contains(NameWords(call.scope.declaredName ?? "").words.first)
}

/// Whether a call makes the container in memory that a catch clause falls back to.
///
/// The fallback has a finding of its own. Here it would be one more opening that can fail.
private func isFallbackInMemory(_ call: FunctionCallExprSyntax) -> Bool {
  let clause = call.ancestors.lazy.compactMap { $0.as(CatchClauseSyntax.self) }.first
  let code = clause?.code ?? ""
  return code.contains("isStoredInMemoryOnly:true") && !code.contains("isStoredInMemoryOnly:false")
}

/// A note in widgets and intents, and for a cache by its name, whose data is made again; nil for the rule's
/// own level.
///
/// The names are those of variables around the node, of its function, and of what the openings get
/// as arguments.
private func level(
  near node: some SyntaxProtocol, openings: [FunctionCallExprSyntax], in file: FileContext
) -> Level? {
  // The system shows the failure of a widget or an intent, and nobody enters anything there.
  if hasExtension(file) { return .note }
  let declarations = node.ancestors.compactMap { $0.as(VariableDeclSyntax.self)?.declaredName }
  let names =
    declarations + [node.scope.declaredName ?? ""] + openings.map(\.arguments.code)
    + openings.flatMap { origins(of: $0, in: file) }
  return names.contains { NameWords($0).contains(anyOf: ["cache", "cached"]) } ? .note : nil
}

/// Whether a file has a widget or an intent handler.
///
/// The whole file counts, since helpers beside the type serve nothing else.
private func hasExtension(_ file: FileContext) -> Bool {
  file.walk.types.contains { node in
    let clause = node.asProtocol(DeclGroupSyntax.self)?.inheritanceClause
    return ExtensionTypes.contains(clause?.inheritedTypes.map(\.type.code) ?? [])
  }
}

/// The strings in the function's constants that a call has among its arguments, such as the file's name.
///
/// One step is followed: from an argument to the constant of its name.
private func origins(of opening: FunctionCallExprSyntax, in file: FileContext) -> [String] {
  let names = Set(opening.arguments.map(\.expression.code))
  let values = file.walk.variables.filter { $0.scope.id == opening.scope.id }.flatMap(\.bindings)
    .filter { names.contains($0.pattern.trimmedDescription) }.compactMap(\.initializer)
  return values.flatMap { $0.tokens(viewMode: .sourceAccurate) }.compactMap { token in
    if case .stringSegment(let text) = token.tokenKind { text } else { nil }
  }
}

/// The calls that end the program, or let it continue without a store, if Core Data can't open one.
///
/// Xcode's template for Core Data has such a `fatalError`, with a comment that asks to replace it.
private func loadFailures(on loading: FunctionCallExprSyntax, file: FileContext) -> [Finding] {
  guard loading.name == "loadPersistentStores", !isForTests(loading),
    // Without a receiver it is the method only in an extension or a subclass of the container.
    loading.receiver != nil || loading.enclosingType.hasSuffix("Container")
  else { return [] }
  // The closure is a part of the call, so its calls lie inside.
  return file.walk.calls.filter { $0.start > loading.start && $0.end < loading.end }.compactMap {
    let message: String
    switch $0.receiver == nil ? $0.name : "" {
    case "fatalError", "preconditionFailure", "abort":
      message = "The app crashes at every launch while the store can't be opened; show the error."
    case "assertionFailure":
      message = "The app continues without its store if the store can't be opened; show the error."
    default: return nil
    }
    return Finding(
      p21, message, at: file.place($0),
      level: level(near: loading, openings: [loading], in: file))
  }
}

/// Whether a call opens a store in memory: by its arguments, or because the function makes one container, and nothing
/// in it is on disk.
///
/// Which configuration a container gets isn't followed. With one container in the function there is
/// only one that can get it.
private func isInMemory(_ call: FunctionCallExprSyntax) -> Bool {
  // Core Data's store type in both spellings, and the path that Xcode's template has for a store in
  // memory.
  if ["NSInMemoryStoreType", ".inMemory", "/dev/null"].contains(where: call.code.contains) {
    return true
  }
  let scope = call.scope.code
  return scope.contains("isStoredInMemoryOnly:true")
    && !scope.contains("isStoredInMemoryOnly:false")
    && scope.split(separator: "ModelContainer(").count <= 2
}

/// The finding about `try!` or `try?` around an opening.
private func finding(
  on attempt: TryExprSyntax, openings: [FunctionCallExprSyntax], file: FileContext
)
  -> Finding?
{
  // A bare `try` passes the error on, and the `do` around it is looked at by itself.
  guard let mark = attempt.questionOrExclamationMark?.text,
    let opening = openings.first(where: { contains($0, attempt) })
  else {
    return nil
  }
  // Only the innermost `try` is about the call, and a fallback in memory has its own finding.
  let between = opening.ancestors.first {
    $0.is(TryExprSyntax.self) || $0.is(ClosureExprSyntax.self)
  }
  guard between?.id == attempt.id, !opening.code.contains("isStoredInMemoryOnly:true") else {
    return nil
  }
  let message =
    mark == "!"
    ? "`try!` crashes the app at every launch while the store can't be opened; show the error."
    : "`try?` hides why the store can't be opened; show the error."
  return Finding(
    p21, message, at: file.place(attempt),
    level: level(near: attempt, openings: [opening], in: file))
}

/// Whether a call is in an attempt.
///
/// By their offsets: the call can be deep in the expression.
private func contains(_ call: FunctionCallExprSyntax, _ attempt: TryExprSyntax) -> Bool {
  call.start >= attempt.start && call.end <= attempt.end
}

/// The findings in the `catch` clauses of a `do` that opens a store: ending the program, deleting the store, and
/// going on in memory.
///
/// Only the calls of the clause itself count. An inner `do` has catch clauses of its own, and its
/// failures are others.
private func findings(
  on statement: DoStmtSyntax, openings: [FunctionCallExprSyntax], file: FileContext
) -> [Finding] {
  // In the body and not in an inner `catch`: those are fallbacks for a failure that is handled
  // there.
  let made = openings.filter {
    $0.start >= statement.body.start && $0.end <= statement.body.end
      && !isCaught($0, inside: statement.body)
  }
  guard !made.isEmpty, !isSecondAttempt(statement, openings: openings) else { return [] }
  // Asked once for the whole `do`, since each answer looks through the file's constants.
  let noteLevel = level(near: statement, openings: made, in: file)
  return statement.catchClauses.flatMap { clause -> [Finding] in
    file.walk.calls.filter {
      $0.start >= clause.start && $0.end <= clause.end && !isCaught($0, inside: clause)
    }.compactMap { call in
      // A method with one of the names isn't the function of the standard library; only `removeItem` is a method.
      switch call.receiver == nil || call.name == "removeItem" ? call.name : "" {
      case "fatalError", "preconditionFailure", "abort":
        return Finding(
          p21, "The app crashes at every launch while the store can't be opened; show the error.",
          at: file.place(call), level: noteLevel)
      // Deleting is an error where the others are warnings: nothing brings the user's data back.
      case "removeItem":
        return Finding(
          p21, "The user's store is deleted because it can't be opened; set it aside and ask.",
          at: file.place(call), level: noteLevel ?? .error)
      // The configuration may be made before the call, so the whole clause is searched.
      case "ModelContainer" where clause.code.contains("isStoredInMemoryOnly:true"):
        return Finding(
          p21, "The app continues in memory and loses what the user enters; tell the user.",
          at: file.place(call), level: noteLevel)
      default: return nil
      }
    }
  }
}

/// Whether it lies in the catch clause of a `do` that makes a container, too, after a statement that may
/// help, which a line in a log doesn't.
///
/// Without such a statement the second attempt does what has just failed, and its own failure is
/// reported.
private func isSecondAttempt(_ statement: DoStmtSyntax, openings: [FunctionCallExprSyntax]) -> Bool
{
  statement.ancestors.contains { node in
    guard let clause = node.as(CatchClauseSyntax.self),
      let first = clause.parent?.parent?.as(DoStmtSyntax.self)
    else { return false }
    // By the beginnings of statements, as their tokens without spaces.
    let logs = ["print(", "debugPrint(", "NSLog(", "os_log(", "logger.", "Logger.", "log."]
    let helps = clause.body.statements.contains { item in
      item.end <= statement.start && !logs.contains(where: item.code.hasPrefix)
    }
    // The outer `do` has to open a store itself: only then is this a second attempt.
    guard helps else { return false }
    return openings.contains { $0.start >= first.body.start && $0.end <= first.body.end }
  }
}

/// Whether a call is in a catch clause inside a node, and so handles another failure.
///
/// A catch clause around the node itself isn't looked at: the search ends there.
private func isCaught(_ call: FunctionCallExprSyntax, inside node: some SyntaxProtocol) -> Bool {
  call.ancestors.prefix { $0.id != node.id }.contains { $0.is(CatchClauseSyntax.self) }
}
