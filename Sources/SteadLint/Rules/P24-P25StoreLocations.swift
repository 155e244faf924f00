import SwiftSyntax

// MARK: - P24 wrong-directory

private let p24 = RuleID(id: "P24", name: "wrong-directory", level: .warning)

extension Rule {
  /// Files and stores in places that don't last, writes that can be cut off, and paths that stop
  /// being valid.
  ///
  /// Each call gets one finding at most, the first that applies.
  static let wrongDirectory = Rule(
    p24, isFixable: true,
    summary:
      "What the user made is kept in a directory that the system empties, is written without `.atomic`, or is found by an absolute path.",
    why: """
      An interrupted write leaves half a file, and the old contents are gone. An atomic write leaves either the old \
      contents or the new ones. The absolute path of an app's directory changes with updates and restores, so a \
      stored path leads nowhere. The system empties caches and temporary directories when it needs room. \
      `urls(for:in:)[0]` crashes the program if the list is empty; that is a note.
      """,
    bad: """
      try JSONEncoder().encode(items).write(to: url)
      UserDefaults.standard.set(url.path, forKey: "lastFile")
      """,
    good: """
      try JSONEncoder().encode(items).write(to: url, options: .atomic)
      UserDefaults.standard.set(url.lastPathComponent, forKey: "lastFile")
      """,
    avoids: [
      "Files in temporary and cache directories, exports and logs.",
      "What a command writes for its caller: types that conform to `ParsableCommand`, or that have an `@Argument` or `@Option`.",
      "Data from elsewhere, such as downloads, which can be fetched again.",
      "Paths that the user chose, outside of the app's directories.",
    ],
    inFile: { file in
      file.walk.calls.compactMap { call in
        nonAtomicWrite(call, in: file) ?? absolutePath(call, in: file) ?? purgeableStore(
          call, in: file)
          ?? purgeableFile(call, in: file)
      } + firstOfList(in: file)
    })
}

/// The names of directories that the system empties.
private let purgeableDirectories = [
  "cachesDirectory", "temporaryDirectory", "NSTemporaryDirectory", "itemReplacementDirectory",
]

/// A store of models in a directory that the system empties.
///
/// A store of a cache belongs there, so a name of that kind around the call is enough for silence.
private func purgeableStore(_ call: FunctionCallExprSyntax, in file: FileContext) -> Finding? {
  guard call.name == "ModelConfiguration", let url = call.argument("url"), isPurgeable(url),
    !NameWords(call.enclosingType).contains(anyOf: transientWords),
    !NameWords(call.scope.declaredName ?? "").contains(anyOf: transientWords)
  else { return nil }
  return Finding(
    p24, "The system empties this directory and deletes the store; use Application Support.",
    at: file.place(url))
}

/// Words for what a user made and nobody can make again. Without one of them an encoded value in
/// caches counts as a cache.
private let userContent: Set<String> = [
  "note", "notes", "draft", "drafts", "settings", "favorite", "favorites", "favourites", "bookmark",
  "bookmarks",
  "journal", "diary", "todo", "todos", "task", "tasks", "progress", "profile", "playlist",
  "playlists", "library",
]

/// A file with what the user made, in a directory that the system empties.
private func purgeableFile(_ call: FunctionCallExprSyntax, in file: FileContext) -> Finding? {
  guard call.name == "write", let target = call.argument("to"), let receiver = call.receiver,
    isEncoded(receiver, in: call.scope), isPurgeable(target)
  else { return nil }
  let names = [call.scope.declaredName ?? "", call.enclosingType, fileName(of: target)]
  // By name only: the same code with another name is a cache, where the directory is right.
  guard names.contains(where: { NameWords($0).contains(anyOf: userContent) }),
    !names.contains(where: { NameWords($0).contains(anyOf: transientWords) })
  else { return nil }
  return Finding(
    p24,
    "The system empties this directory and deletes what the user made; use Application Support.",
    at: file.place(call))
}

/// The last literal of a target, or of the value that the function binds to it.
///
/// The last one, since a path is put together from the front.
private func fileName(of target: ExprSyntax) -> String {
  let literals = binding(of: target).tokens(viewMode: .sourceAccurate).compactMap {
    token -> String? in
    if case .stringSegment(let text) = token.tokenKind { text } else { nil }
  }
  return literals.last ?? ""
}

/// The value that the function binds to a name; the expression itself if it isn't a name.
///
/// The walk has a stack of its own, so a deep function can't overflow that of the thread.
private func binding(of expression: ExprSyntax) -> Syntax {
  guard let name = expression.as(DeclReferenceExprSyntax.self)?.baseName.text else {
    return Syntax(expression)
  }
  var open = [expression.scope]
  while let node = open.popLast() {
    if let found = node.as(PatternBindingSyntax.self), found.pattern.trimmedDescription == name,
      let value = found.initializer
    {
      return Syntax(value)
    }
    open += node.children(viewMode: .sourceAccurate).filter { !$0.is(TokenSyntax.self) }
  }
  return Syntax(expression)
}

/// Whether a URL is in a directory that the system empties, there or in the constant that the function binds to its
/// name.
///
/// One step is followed, and no property of another type.
private func isPurgeable(_ expression: ExprSyntax) -> Bool {
  binding(of: expression).mentions(anyOf: Set(purgeableDirectories))
}

/// `urls(for:in:)[0]`, which crashes a program if the system has no such directory for it.
///
/// A note, since the list is rarely empty.
private func firstOfList(in file: FileContext) -> [Finding] {
  file.walk.subscripts.compactMap { access in
    guard let call = access.calledExpression.as(FunctionCallExprSyntax.self), call.name == "urls",
      call.argument("in") != nil, access.arguments.count == 1,
      access.arguments.first?.expression.code == "0"
    else { return nil }
    return Finding(
      p24,
      "`[0]` crashes when the list is empty; use `url(for:in:appropriateFor:create:)`, which throws.",
      at: file.place(access), level: .note)
  }
}

/// Words for what can be made again, or is meant for somebody else.
private let transientWords: Set<String> = [
  "temporary", "temp", "tmp", "cache", "caches", "cached", "export", "exported", "log", "logs",
  "debug", "share", "download",
  "fixture", "fixtures", "bench", "benchmark", "backup", "test",
]

/// A write of encoded data that an interruption can cut off.
///
/// The argument `to:` has to be the only one: with options a person has already thought about them.
private func nonAtomicWrite(_ call: FunctionCallExprSyntax, in file: FileContext) -> Finding? {
  guard call.name == "write", let target = call.argument("to"), call.arguments.count == 1,
    !target.is(InOutExprSyntax.self),
    let receiver = call.receiver,
    isEncoded(receiver, in: call.scope), !isTransient(target, call), !isOutput(call),
    !PurgeableDirectories(context: file).areNamed(in: call.scope)
  else { return nil }
  let edit = Fix.Edit(offset: target.end, length: 0, replacement: ", options: .atomic")
  return Finding(
    p24, "An interrupted write leaves half a file; write with `options: .atomic`.",
    at: file.place(call),
    fix: Fix("Write atomically", [edit]))
}

/// Whether a command writes the file, so that its caller can make it again.
///
/// The two wrappers are swift-argument-parser's, and also mark the options of a command that are in
/// a type of their own.
private func isOutput(_ call: FunctionCallExprSyntax) -> Bool {
  call.ancestors.contains { node in
    guard let group = node.asProtocol(DeclGroupSyntax.self) else { return false }
    let isCommand = group.inheritanceClause?.inheritedTypes.contains {
      ["ParsableCommand", "AsyncParsableCommand"].contains($0.type.code.lastComponent)
    }
    return isCommand == true
      || group.memberBlock.members.contains { member in
        member.decl.as(VariableDeclSyntax.self)?.attributes.contains { attribute in
          ["@Argument", "@Option"].contains { attribute.code.hasPrefix($0) }
        } ?? false
      }
  }
}

/// Whether what is written is an encoded value: the call itself, or a name that the function binds to one.
///
/// Other data may come from a server or the user, and can often be had again.
private func isEncoded(_ receiver: ExprSyntax, in scope: Syntax) -> Bool {
  let code = receiver.code
  if code.contains(".encode(") { return true }
  guard code.allSatisfy({ $0.isLetter || $0.isNumber }) else { return false }
  // Whichever kind of `try` it is.
  let text = scope.code.filter { $0 != "?" && $0 != "!" }
  let calls = [
    "JSONEncoder().encode(", "encoder.encode(", "PropertyListEncoder().encode(",
    "NSKeyedArchiver.archivedData(",
  ]
  return calls.contains { text.contains("let\(code)=try\($0)") }
}

/// Whether a file can be made again, by the words of its name, of the function and of the type.
///
/// `replaceItemAt` makes the write atomic in its own way, and what goes to a save panel's file is
/// an export.
private func isTransient(_ target: ExprSyntax, _ call: FunctionCallExprSyntax) -> Bool {
  NameWords(target.code).contains(anyOf: transientWords)
    || NameWords(call.scope.declaredName ?? "").contains(anyOf: transientWords)
    || call.scope.mentions(
      "temporaryDirectory", "cachesDirectory", "NSTemporaryDirectory", "NSSavePanel",
      "replaceItemAt")
    || NameWords(call.enclosingType).contains(anyOf: transientWords)
}

/// The absolute path of a file in the app's directories, kept in preferences.
///
/// Only the app's own directories move. The path of a file that the user chose stays.
private func absolutePath(_ call: FunctionCallExprSyntax, in file: FileContext) -> Finding? {
  guard call.name == "set" || call.name == "setValue", call.argument("forKey") != nil,
    let value = call.arguments.first?.expression.code, let receiver = call.receiver?.code,
    NameWords(receiver).contains(anyOf: ["defaults"])
  else { return nil }
  let endings = [".path", ".path()", ".absoluteString", ".path(percentEncoded:false)"]
  // `lastPathComponent` and the like stay valid when the directory moves.
  guard let ending = endings.first(where: value.hasSuffix) else { return nil }
  let name = String(value.dropLast(ending.count))
  let scope = call.scope.code
  let places = [".documentDirectory", ".applicationSupportDirectory", ".documentsDirectory"]
  guard
    places.contains(where: { value.contains($0) })
      || places.contains(where: { place in
        // The value of the constant begins there. Its end isn't looked for; 200 characters have
        // room for the usual chain of calls.
        scope.range(of: "let\(name)=").map { scope[$0.upperBound...].prefix(200).contains(place) }
          ?? false
      })
  else { return nil }
  return Finding(
    p24, "The path of the app's directory changes with updates; keep only the part after it.",
    at: file.place(call))
}

extension String {
  /// The first place of another string in this one.
  fileprivate func range(of part: String) -> Range<String.Index>? {
    guard !part.isEmpty else { return nil }
    return self.firstRange(of: part)
  }
}

// MARK: - P25 shared-default-store

private let p25 = RuleID(id: "P25", name: "shared-default-store", level: .warning)

extension Rule {
  /// Stores that other programs or schemas open, and contexts that other actors use.
  ///
  /// Crossings of actors are found in a file's syntax. Stores need the project's settings and all
  /// its containers.
  static let sharedDefaultStore = Rule(
    p25,
    summary:
      "A store or a context is shared where it must not be: with another program, another schema, another actor.",
    why: """
      Without a sandbox, `default.store` is in the user's Application Support, where every program that names no \
      store opens and migrates the same file. Two containers with different models on one store drop each other's \
      tables. Contexts and models belong to the actor that made them. On another actor they are changed while they \
      are read.
      """,
    bad: """
      @Environment(\\.modelContext) private var modelContext
      func clean() {
        Task.detached {
          try? modelContext.delete(model: Note.self)
        }
      }
      """,
    good: """
      @ModelActor actor Cleaner {
        func clean() throws { try modelContext.delete(model: Note.self); try modelContext.save() }
      }
      """,
    avoids: [
      "Contexts that the closure makes itself, or that it uses on the main actor.",
      "Containers with a `url`, a name or a group, and those in memory.",
      "Apps in a sandbox, and packages without an executable target.",
    ],
    inFile: { file in
      CrossingReader(context: file, variables: VariableTypes(file.walk)).crossings().map {
        crossing in
        Finding(
          p25,
          "`\(crossing.call)` uses a context of another actor; create one there from the container, and pass identifiers.",
          at: file.place(crossing.name))
      }
    },
    inProject: { index in
      unsandboxed(in: index) + conflictingModels(in: index) + sendableModels(in: index)
    })
}

/// The containers that open `default.store`: neither they nor a configuration names another place.
///
/// Empty as soon as any configuration of the project names a place.
private func onDefaultStore(in index: ProjectIndex) -> [ContainerFact] {
  let all = index.files.flatMap(\.containers).filter { index.isShipped($0.place) }
  // A configuration may be made elsewhere and passed on, so one with a place counts for every container.
  guard !all.contains(where: { $0.kind == .configuration && $0.namesStore }) else { return [] }
  // Configurations and schemas open nothing by themselves.
  return all.filter { $0.kind == .container && !$0.isInMemory }
}

/// The containers on `default.store` in a program without a sandbox. A sandboxed app has a directory of its own.
private func unsandboxed(in index: ProjectIndex) -> [Finding] {
  onDefaultStore(in: index).filter { container in
    index.settings.isUnsandboxed
      // Without an Info.plist or entitlements it is a command-line program, which has no sandbox.
      || (!index.settings.isAppleApp && index.isInExecutable(container.place.path))
  }.map { container in
    Finding(
      p25,
      "Without a sandbox, every program that names no store shares this `default.store`; give the configuration a `url`.",
      at: container.place)
  }
}

/// Containers of one program with different models on one store.
///
/// The first container by place has the models that the others are compared with. One with a
/// migration plan knows several schemas, and isn't compared.
private func conflictingModels(in index: ProjectIndex) -> [Finding] {
  let containers = onDefaultStore(in: index).filter { !$0.models.isEmpty && $0.plan == nil }
  guard let first = containers.min(by: { $0.place.precedes($1.place) }) else { return [] }
  return containers.filter { Set($0.models) != Set(first.models) }.map { container in
    Finding(
      p25,
      "This container has different models from the one on line \(first.place.line) of \(first.place.path), on the same "
        + "store; give it a `url`.",
      at: container.place)
  }
}

/// Models and contexts that are declared `@unchecked Sendable`, which only hides the compiler's error.
///
/// It is found in the declaration and in extensions, by the name of a model of the project.
private func sendableModels(in index: ProjectIndex) -> [Finding] {
  index.files.flatMap(\.types).compactMap { type in
    guard type.uncheckedSendable else { return nil }
    let base = type.name.lastComponent
    guard
      type.isModel || base == "ModelContext"
        || (type.kind == .extension && index.model(type.name) != nil)
    else {
      return nil
    }
    return Finding(
      p25,
      "`\(base)` belongs to the actor that made it; pass its `persistentModelID` instead.",
      at: type.place)
  }
}
