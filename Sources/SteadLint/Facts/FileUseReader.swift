import SwiftSyntax

/// Finds the files that a file writes, and the directories that they are in.
struct FileUseReader {
  let context: FileContext

  /// The number of names that are followed from a file's URL to a directory: `file` -> `folder` -> `documents`.
  private static let hops = 3

  private static let directories: [String: FileUse.Directory] = [
    "documentDirectory": .documents, "documentsDirectory": .documents,
    "applicationSupportDirectory": .support, "cachesDirectory": .caches,
    "temporaryDirectory": .temporary, "NSTemporaryDirectory": .temporary,
    "itemReplacementDirectory": .temporary, "containerURL": .group,
  ]
  private static let encoders: Set<String> = [
    "pngData", "jpegData", "heicData", "tiffRepresentation", "UIImagePNGRepresentation",
    "UIImageJPEGRepresentation",
  ]
  private static let mediaExtensions: Set<String> = [
    "png", "jpg", "jpeg", "heic", "gif", "webp", "tiff", "mp3", "m4a", "wav", "caf", "mp4", "mov",
    "pdf",
  ]

  /// The calls that write files, in the order of the source.
  func uses() -> [FileUse] {
    context.walk.calls.compactMap { call in
      guard let (target, content) = write(call) else { return nil }
      return FileUse(
        target: target.code, scopeType: call.enclosingType,
        function: call.scope.declaredName ?? "", directory: directory(of: target),
        isMedia: content.map(isImage) == true || hasMediaName(target),
        place: context.place(call))
    }
  }

  /// The URL or path that a call writes to, and what it writes.
  private func write(_ call: FunctionCallExprSyntax) -> (target: ExprSyntax, content: ExprSyntax?)?
  {
    switch call.name {
    case "write":
      // `write(to: &stream)` writes to a text stream.
      guard let target = call.argument("to"), !target.is(InOutExprSyntax.self),
        let receiver = call.receiver
      else { return nil }
      return (target, receiver)
    case "createFile":
      guard let contents = call.argument("contents"), contents.code != "nil",
        let target = call.argument("atPath")
      else { return nil }
      return (target, contents)
    case "replace":
      guard let file = call.receiver?.as(FunctionCallExprSyntax.self), file.name == "AtomicFile",
        let target = file.argument(nil)
      else { return nil }
      return (target, call.argument("with"))
    default: return nil
    }
  }

  // MARK: - Directories

  /// The system directory that a target is in, followed through variables breadth first.
  private func directory(of target: ExprSyntax) -> FileUse.Directory? {
    var names: Set<String> = []
    var open = [Syntax(target)]
    for _ in 0...Self.hops {
      let words = open.flatMap { identifiers(in: $0) }
      if let found = words.lazy.compactMap({ Self.directories[$0] }).first { return found }
      let new = Set(words).subtracting(names)
      names.formUnion(new)
      open = declarations(of: new, near: target)
      if open.isEmpty { return nil }
    }
    return nil
  }

  /// The variables with these names: those of the same function, and members and globals of the file.
  private func declarations(of names: Set<String>, near target: ExprSyntax) -> [Syntax] {
    let scope = target.scope.id
    return context.walk.variables.compactMap { variable in
      guard let name = variable.bindings.first?.pattern.trimmedDescription, names.contains(name)
      else { return nil }
      let isLocal = variable.ancestors.contains { $0.is(CodeBlockSyntax.self) }
      return isLocal && variable.scope.id != scope ? nil : Syntax(variable)
    }
  }

  /// The identifiers among a node's tokens, without keywords and operators.
  private func identifiers(in node: Syntax) -> [String] {
    node.tokens(viewMode: .sourceAccurate).compactMap { token in
      if case .identifier(let text) = token.tokenKind { text } else { nil }
    }
  }

  // MARK: - Content

  /// Whether a content is an encoded image: by the call that encodes it, there or in the same function.
  private func isImage(_ content: ExprSyntax) -> Bool {
    if content.mentions(anyOf: Self.encoders) { return true }
    let name = content.code.filter { $0 != "?" && $0 != "!" }
    let scope = content.scope
    // A name says nothing of its value. So the function must encode an image and nothing else that could be meant.
    return scope.mentions(anyOf: Self.encoders)
      && !scope.mentions("encode")
      && name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
  }

  /// Whether a literal in the target ends with the extension of an image, a sound, a film or a PDF.
  private func hasMediaName(_ target: ExprSyntax) -> Bool {
    target.tokens(viewMode: .sourceAccurate).contains { token in
      guard case .stringSegment(let text) = token.tokenKind,
        let suffix = text.split(separator: ".").last
      else { return false }
      return Self.mediaExtensions.contains(suffix.lowercased())
    }
  }
}

// MARK: - Facts

/// A file that is written.
struct FileUse: Codable, Sendable {
  /// A system directory, as far as the file shows.
  enum Directory: String, Codable, Sendable {
    case documents
    case support = "application support"
    case caches
    case temporary
    case group = "the app group's container"
  }

  /// The expression for the file, without spaces.
  let target: String
  let scopeType: String
  let function: String
  let directory: Directory?
  /// Whether an image, a sound or a film is written.
  let isMedia: Bool
  let place: Place
}

// MARK: - Directories that the system empties

/// Directories that the system empties, and a file's names for them.
struct PurgeableDirectories {
  let context: FileContext

  static let words: Set<String> = ["cache", "caches", "cached", "temporary", "temp", "tmp"]

  /// Whether such a place is named by a parameter of an initializer, or by the value of a path or URL that a
  /// function uses.
  func areNamed(in scope: Syntax) -> Bool {
    if let initializer = scope.as(InitializerDeclSyntax.self),
      initializer.signature.parameterClause.parameters.contains(where: {
        isFleeting($0.firstName.text)
      })
    {
      return true
    }
    let names = Set(identifiers(in: scope))
    return context.walk.variables.contains { variable in
      guard let binding = variable.bindings.first,
        names.contains(binding.pattern.trimmedDescription),
        variable.parent?.is(MemberBlockItemSyntax.self) == true, isString(binding)
      else { return false }
      return (binding.initializer.map { identifiers(in: $0) } ?? []).contains(where: isFleeting)
    }
  }

  /// Whether the type around a function has a `rebuild` or `reindex`, which makes the stored data again.
  func areBuiltAgain(around scope: Syntax) -> Bool {
    let group = scope.ancestors.dropFirst().lazy.compactMap {
      $0.asProtocol(DeclGroupSyntax.self)
    }.first
    return group?.memberBlock.members.contains { member in
      ["rebuild", "reindex"].contains(member.decl.as(FunctionDeclSyntax.self)?.name.text)
    } ?? false
  }

  private func identifiers(in node: some SyntaxProtocol) -> [String] {
    node.tokens(viewMode: .sourceAccurate).compactMap { token in
      if case .identifier(let text) = token.tokenKind { text } else { nil }
    }
  }

  /// Whether a name has one of the words for what the system empties.
  private func isFleeting(_ name: String) -> Bool {
    NameWords(name).contains(anyOf: Self.words)
  }

  /// Whether a property's name says that it's a path or a URL, not the cache itself.
  private func isString(_ binding: PatternBindingSyntax) -> Bool {
    let words = NameWords(binding.pattern.trimmedDescription).words
    return ["path", "url", "file", "directory", "folder"].contains(words.last)
  }
}
