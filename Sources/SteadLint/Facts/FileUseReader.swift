import SwiftSyntax

/// Finds the files that a file writes, and the directories that they are in.
///
/// The survey lists them, and asks whether each is in a directory that the system empties. Files
/// that Codable values are read from are left to ``CodingReader``.
struct FileUseReader {
  let context: FileContext

  /// The number of names that are followed from a file's URL to a directory: `file` -> `folder` -> `documents`.
  private static let hops = 3

  /// The names that Foundation has for system directories. An expression with one of them is in
  /// that directory.
  private static let directories: [String: FileUse.Directory] = [
    "documentDirectory": .documents, "documentsDirectory": .documents,
    "applicationSupportDirectory": .support, "cachesDirectory": .caches,
    "temporaryDirectory": .temporary, "NSTemporaryDirectory": .temporary,
    "itemReplacementDirectory": .temporary, "containerURL": .group,
  ]
  /// The methods and functions of Apple's frameworks that encode an image.
  private static let encoders: Set<String> = [
    "pngData", "jpegData", "heicData", "tiffRepresentation", "UIImagePNGRepresentation",
    "UIImageJPEGRepresentation",
  ]
  /// Extensions of files that hold an image, a sound, a film or a PDF.
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
  ///
  /// The three ways are `data.write(to:)`, `FileManager.createFile(atPath:contents:)` and
  /// `AtomicFile(url).replace(with:)` of this package. Nil for any other call.
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
      // Without contents it only makes an empty file, which keeps nothing yet.
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
  ///
  /// A name that is nearer to the target decides, since all names at one distance are looked at
  /// before the next. Nil if no directory is found within ``hops`` names.
  private func directory(of target: ExprSyntax) -> FileUse.Directory? {
    var names: Set<String> = []
    var open = [Syntax(target)]
    for _ in 0...Self.hops {
      let words = open.flatMap { identifiers(in: $0) }
      if let found = words.lazy.compactMap({ Self.directories[$0] }).first { return found }
      // Each name is followed once, or `let url = url.appending(…)` would be read again in each
      // round.
      let new = Set(words).subtracting(names)
      names.formUnion(new)
      open = declarations(of: new, near: target)
      if open.isEmpty { return nil }
    }
    return nil
  }

  /// The variables with these names: those of the same function, and members and globals of the file.
  ///
  /// Members of other types with these names count, too: nothing here resolves which type a member
  /// belongs to.
  private func declarations(of names: Set<String>, near target: ExprSyntax) -> [Syntax] {
    let scope = target.scope.id
    return context.walk.variables.compactMap { variable in
      guard let name = variable.bindings.first?.pattern.trimmedDescription, names.contains(name)
      else { return nil }
      // A local variable of another function is invisible to this one, even if it has the name.
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
  ///
  /// The survey takes such a file for media, which are read as a whole, whatever their size is.
  private func isImage(_ content: ExprSyntax) -> Bool {
    if content.mentions(anyOf: Self.encoders) { return true }
    // `data?` and `data!` are the variable `data`.
    let name = content.code.filter { $0 != "?" && $0 != "!" }
    let scope = content.scope
    // A name says nothing of its value. So the function must encode an image and nothing else that could be meant.
    return scope.mentions(anyOf: Self.encoders)
      && !scope.mentions("encode")
      && name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
  }

  /// Whether a literal in the target ends with the extension of an image, a sound, a film or a PDF.
  ///
  /// A name without a literal, such as `url`, shows nothing.
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
  /// The types around the call, joined by full stops.
  let scopeType: String
  /// The name of the function around the call; empty for an accessor.
  let function: String
  /// The system directory that the file is in; nil if the source doesn't lead to one.
  let directory: Directory?
  /// Whether an image, a sound or a film is written.
  let isMedia: Bool
  let place: Place
}

extension String {
  /// The source of an expression for a file, so that one file has one name: without `self.`, and without the call that
  /// makes a URL a path.
  ///
  /// `Data(contentsOf: url)` reads what `createFile(atPath: url.path, contents: data)` writes.
  var fileTarget: String {
    var target = Substring(self)
    if target.hasPrefix("self.") || target.hasPrefix("Self.") { target = target.dropFirst(5) }
    let paths = [".path", ".path()", ".path(percentEncoded:false)"]
    guard let path = paths.first(where: { target.hasSuffix($0) }) else { return String(target) }
    let url = target.dropLast(path.count)
    // `.path` alone, whose type the context gives.
    if url.isEmpty { return String(target) }
    // `Place.path` is a constant of a type, and no URL's path.
    let isType = url.first?.isUppercase == true && !url.contains(".")
    return String(isType ? target : url)
  }
}

// MARK: - Directories that the system empties

/// Directories that the system empties, and a file's names for them.
///
/// P04 and P24 pass over what is kept there: it can be made again, so losing it costs time alone.
struct PurgeableDirectories {
  let context: FileContext

  /// Words that such places have in their names.
  static let words: Set<String> = ["cache", "caches", "cached", "temporary", "temp", "tmp"]

  /// Whether such a place is named by a parameter of an initializer, or by the value of a path or URL that a
  /// function uses.
  ///
  /// It takes two steps: `Place.path` in the function leads to `static let path = Folder.cache +
  /// "/odds"` in the same file. A longer way isn't followed.
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
  ///
  /// The name alone counts. What it rebuilds from isn't looked at.
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
  ///
  /// A property `imageCache` says what it is, and nothing about where a file lies.
  private func isString(_ binding: PatternBindingSyntax) -> Bool {
    let words = NameWords(binding.pattern.trimmedDescription).words
    return ["path", "url", "file", "directory", "folder"].contains(words.last)
  }
}
