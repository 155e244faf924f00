import SwiftSyntax

// Where the bytes of a coding come from and go.

extension CodingReader {
  /// Whether the expression for a file begins with a parameter of the function.
  ///
  /// Two functions with a parameter `url` are called with different files, so P07 compares no
  /// codings of such targets.
  func isParameter(_ target: CodingUse.Target, of scope: Syntax) -> Bool {
    guard case .file(let file) = target else { return false }
    // `folder.appending(path: "a")` depends on the caller as much as `folder` does.
    let name = file.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
    return scope.parameterNames.contains(String(name))
  }

  /// Whether the bytes can be made again: they are in a directory that the system empties, or the type rebuilds them.
  ///
  /// An overwrite of such bytes costs time and loses nothing.
  func isFleeting(_ scope: Syntax) -> Bool {
    let places = PurgeableDirectories(context: context)
    return places.areNamed(in: scope) || places.areBuiltAgain(around: scope)
  }

  /// Whether the user chooses the file, so that it isn't one that the program keeps.
  ///
  /// The words are those of Apple's panels and pickers, and of the access that their URLs need. A
  /// function whose name begins with `import` counts, too, since it may get the URL from the view
  /// that shows the panel.
  func isImport(_ scope: Syntax) -> Bool {
    let name = scope.declaredName.map { NameWords($0).words.first } ?? nil
    return name == "import"
      || scope.mentions(
        "NSOpenPanel", "fileImporter", "UIDocumentPickerViewController",
        "startAccessingSecurityScopedResource")
  }

  /// Whether the function sends a request to a server, or handles its response.
  ///
  /// P04 takes the types that such functions decode for copies of a server's data, which the next
  /// request brings again.
  func isFromServer(_ scope: Syntax) -> Bool {
    scope.mentions(
      "URLSession", "URLRequest", "URLResponse", "HTTPURLResponse", "dataTask", "statusCode")
  }

  /// Whether the function binds a name to something that it fetches.
  ///
  /// `await` alone isn't enough, since an actor's own state is awaited, too. The called name has to
  /// begin with a verb for a request: `fetchConfig()`, and not `currentDocument()`.
  func isFetched(_ name: ExprSyntax, in scope: Syntax) -> Bool {
    (variables[scope.start] ?? []).contains { variable in
      variable.bindings.contains { binding in
        guard binding.pattern.trimmedDescription == name.code,
          let attempt = binding.initializer?.value.as(TryExprSyntax.self),
          let call = attempt.expression.as(AwaitExprSyntax.self)?.expression
            .as(FunctionCallExprSyntax.self)
        else { return false }
        return ["fetch", "download", "request"].contains(NameWords(call.name).words.first)
      }
    }
  }

  /// What the decoded bytes are read from: the only key, or else the only file, that the function reads.
  ///
  /// Two keys or two files make it unknown: nothing here shows which of them the bytes come from.
  func source(in scope: Int) -> CodingUse.Target {
    let keys = Set(
      // Only these methods return what can hold encoded bytes. A flag that is read beside them
      // isn't the source.
      (preferences[scope] ?? []).filter {
        ["data", "object", "string", "value"].contains($0.method)
      }.map(\.key))
    if keys.count == 1, let key = keys.first { return .preference(key) }
    let files = Set(
      (calls[scope] ?? []).compactMap { call -> String? in
        switch call.name {
        case "Data": call.argument("contentsOf")?.code.fileTarget
        case "contents": call.argument("atPath")?.code.fileTarget
        default: nil
        }
      })
    // A function that reads a key as well gets its bytes from one or the other, and nothing shows
    // from which.
    if keys.isEmpty, files.count == 1, let file = files.first { return .file(file) }
    return .unknown
  }

  /// What the encoded bytes are written to: a keychain if the function names one, else the only key or file
  /// that gets the call's result.
  func destination(in scope: Syntax, of call: FunctionCallExprSyntax) -> CodingUse.Target {
    // First: a function that has to do with a keychain may also set a preference, such as a flag that the secret
    // exists.
    if scope.mentions(
      "SecItemAdd", "SecItemUpdate", "keychain", "Keychain", "KeychainSwift", "Secrets")
    {
      return .secret
    }
    let writes = (preferences[scope.start] ?? []).filter { $0.access == .write }
    // The bytes are written under the name that the call's result is bound to, or in the same
    // expression.
    let names = boundNames(of: call)
    let mine = writes.filter { write in
      let words = Set(
        // By whole words: the variable `data` isn't in `metadata`.
        (write.value ?? "").split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init))
      return (write.value ?? "").contains("encode(") || !words.isDisjoint(with: names)
    }
    let keys = Set(mine.map(\.key))
    if keys.count == 1, let key = keys.first {
      return mine.first?.store == .cloud ? .cloud : .preference(key)
    }
    let files = Set(
      (calls[scope.start] ?? []).compactMap { call -> String? in
        guard let (content, file) = write(call) else { return nil }
        return names.contains(content) || content.contains("encode(") ? file.fileTarget : nil
      })
    // With two targets it isn't known which one gets these bytes, and a guess would pair unrelated codings.
    if let file = files.first, files.count == 1 { return .file(file) }
    // The way from the bytes into a record isn't followed; a function that mentions one is assumed
    // to upload them.
    return scope.mentions("CKRecord", "CKAsset") ? .cloud : .unknown
  }

  /// What a call writes, and the file's URL or path: `data.write(to:)` or `FileManager.createFile(atPath:contents:)`.
  ///
  /// Nil for any other call.
  private func write(_ call: FunctionCallExprSyntax) -> (content: String, file: String)? {
    switch call.name {
    case "write":
      guard let content = call.receiver, let file = call.argument("to") else { return nil }
      return (content.code, file.code)
    case "createFile":
      guard let content = call.argument("contents"), let file = call.argument("atPath") else {
        return nil
      }
      return (content.code, file.code)
    default: return nil
    }
  }

  /// The variables that a call's result is bound to.
  ///
  /// Empty if the result goes into another call or is returned.
  private func boundNames(of call: FunctionCallExprSyntax) -> Set<String> {
    for node in call.ancestors {
      if let binding = node.as(PatternBindingSyntax.self) {
        return [binding.pattern.trimmedDescription]
      }
      if let binding = node.as(OptionalBindingConditionSyntax.self) {
        return [binding.pattern.trimmedDescription]
      }
      // Beyond the statement a binding is that of a closure or a function around the call.
      if node.is(CodeBlockItemSyntax.self) { return [] }
    }
    return []
  }
}
