import SwiftSyntax

/// Finds where a file encodes and decodes Codable values, and where their bytes go or come from.
///
/// There is no data flow analysis. A decoding is matched with the only preference or file that its
/// function reads. An encoding is matched with the only one to which its function writes the result,
/// or a variable with it. If there are several, the target is unknown, and no rule reports the call.
///
/// The facts serve P03 (secrets in encoded values), P04 (a discarded failure), P06 and P07 (shapes
/// and dates), P08 (lists that grow), and the survey of what a project keeps. A missed finding is
/// better than a wrong one here: a target, a failure or a strategy that the source doesn't show
/// silences the rules.
struct CodingReader {
  private let reader: FactReader
  /// The uses of preferences by the offset where their function begins.
  let preferences: [Int: [PreferenceUse]]
  /// The calls that decode, read or write, by the offset where their function begins.
  let calls: [Int: [FunctionCallExprSyntax]]
  /// The declared variables by the offset where their function begins.
  let variables: [Int: [VariableDeclSyntax]]
  var context: FileContext { reader.context }

  /// Groups what the file has by function. Costs one pass over its calls, variables and
  /// preferences.
  ///
  /// - Parameter preferences: The uses that ``PreferenceReader`` found in the same file.
  init(_ reader: FactReader, preferences: [PreferenceUse]) {
    self.reader = reader
    // By the offset, not by the name: two accessors of one property, and overloads, have one name.
    self.preferences = Dictionary(grouping: preferences, by: \.scope)
    variables = Dictionary(grouping: reader.context.walk.variables) { $0.scope.start }
    let names: Set = ["decode", "write", "Data", "contents", "createFile"]
    calls = Dictionary(grouping: reader.context.walk.calls.filter { names.contains($0.name) }) {
      $0.scope.start
    }
  }

  /// The encodings and decodings of the file, in the order of the source.
  ///
  /// Costs several passes over the tokens of the function around each such call.
  func uses() -> [CodingUse] {
    context.walk.calls.compactMap { call in
      switch call.name {
      case "decode": decoding(call)
      case "encode": encoding(call)
      default: nil
      }
    }
  }

  /// The fact of `decode(Type.self, from: bytes)`; nil for another call of this name, such as a keyed container's.
  private func decoding(_ call: FunctionCallExprSyntax) -> CodingUse? {
    // A type that is a variable, as in `decode(type, from: data)`, names no payload that the index
    // could look up.
    guard call.arguments.count == 2, call.argument("from") != nil, let receiver = call.receiver,
      let type = call.argument(nil)?.code, type.hasSuffix(".self")
    else { return nil }
    let scope = call.scope
    let target = isImport(scope) ? .unknown : source(in: scope.start)
    return CodingUse(
      // 5 is the length of `.self`.
      isDecoding: true, type: String(type.dropLast(5)), property: nil,
      scopeType: call.enclosingType,
      target: target, isOwnParameter: isParameter(target, of: scope),
      failure: failure(of: call, in: scope), isRetried: isRetried(call, in: scope),
      leaves: leaves(call),
      // Bytes with a known source come from there, even if the function also sends a request.
      isFromServer: target == .unknown && isFromServer(scope),
      dateStrategy: strategy(of: receiver, named: "dateDecodingStrategy", in: scope),
      keepsBytes: keepsBytes(scope),
      function: scope.declaredName ?? "", scope: scope.start,
      isFleeting: isFleeting(scope),
      growth: nil, list: nil, place: context.place(call))
  }

  /// The fact of `encode(value)` of something whose name has the word encoder; nil for another call of this name.
  private func encoding(_ call: FunctionCallExprSyntax) -> CodingUse? {
    // The word keeps out `container.encode(value)` of a single value container, which writes no
    // bytes of its own.
    guard call.arguments.count == 1, let argument = call.argument(nil),
      let receiver = call.receiver,
      NameWords(receiver.code).contains(anyOf: ["encoder"])
    else { return nil }
    let scope = call.scope
    let (type, property) = encodedType(argument)
    let lists = GrowthReader(context: context)
    let target = destination(in: scope, of: call)
    return CodingUse(
      isDecoding: false, type: type, property: property, scopeType: call.enclosingType,
      target: target, isOwnParameter: isParameter(target, of: scope),
      failure: failure(of: call, in: scope), isRetried: false, leaves: false,
      isFromServer: isFetched(argument, in: scope),
      dateStrategy: strategy(of: receiver, named: "dateEncodingStrategy", in: scope),
      keepsBytes: keepsBytes(scope),
      function: scope.declaredName ?? "", scope: scope.start,
      isFleeting: isFleeting(scope),
      growth: lists.growth(of: argument), list: lists.use(of: argument),
      place: context.place(call))
  }

  /// The type of the encoded value, or the name of the property that has the value.
  ///
  /// The file's own variables come first. A name that the file doesn't declare may be a property
  /// whose declaration is in another file, which only the index knows.
  private func encodedType(_ argument: ExprSyntax) -> (type: String?, property: String?) {
    if let type = VariableTypes.type(of: argument) { return (type, nil) }
    var name = argument.code
    if name == "self" { return (argument.enclosingType, nil) }
    if name.hasPrefix("self.") { name = String(name.dropFirst(5)) }
    // A call or a longer path: its type would need a type checker.
    if name.contains(where: { !$0.isLetter && !$0.isNumber && $0 != "_" }) { return (nil, nil) }
    if let type = reader.variables.type(of: name, at: argument) { return (type, nil) }
    // In an accessor the value has no declaration. Its type is that of the property around it.
    return name == "newValue" || name == "oldValue"
      ? (
        nil,
        argument.ancestors.lazy.compactMap { $0.as(VariableDeclSyntax.self) }.first?.declaredName
      )
      : (nil, name)
  }

  // MARK: - Dates

  /// The date strategy of a coder that the function makes; nil for a coder from elsewhere.
  ///
  /// P07 compares only strategies that are known. A coder that is a property, a parameter or
  /// another function's result has none here.
  private func strategy(of coder: ExprSyntax, named property: String, in scope: Syntax) -> String? {
    let text = coder.code
    // The strategy of a coder that was just made is Foundation's default.
    if text == "JSONEncoder()" || text == "JSONDecoder()" { return ".deferredToDate" }
    // A member such as `self.encoder` is configured where it is made, which is another function.
    guard text.allSatisfy({ $0.isLetter || $0.isNumber }) else { return nil }
    var isMadeHere = false
    for variable in context.walk.variables where variable.scope.id == scope.id {
      for binding in variable.bindings where binding.pattern.trimmedDescription == text {
        guard let value = binding.initializer?.value.code else { return nil }
        isMadeHere = value == "JSONEncoder()" || value == "JSONDecoder()"
      }
    }
    guard isMadeHere else { return nil }
    // The first assignment counts, without regard to branches around it.
    for sequence in context.walk.assignments where sequence.scope.id == scope.id {
      let code = sequence.code
      let head = text + "." + property + "="
      if code.hasPrefix(head) { return normalized(String(code.dropFirst(head.count))) }
    }
    return ".deferredToDate"
  }

  /// The name of a strategy without its type, so that `.iso8601` equals `JSONEncoder.DateEncodingStrategy.iso8601`.
  ///
  /// Arguments and closures stay, as in `.formatted(formatter)`: P07 doesn't compare strategies
  /// that have any.
  private func normalized(_ strategy: String) -> String {
    let head = strategy.prefix { $0 != "(" && $0 != "{" }
    return "." + head.lastComponent + strategy.dropFirst(head.count)
  }
}

// MARK: - Facts

/// A Codable value that is encoded or decoded.
///
/// It is a call of `encode` or `decode`, with all that the function around the call shows about the
/// bytes. The cache keeps it, so a change of its properties needs a new version of ``LintCache``.
struct CodingUse: Codable, Sendable {
  /// What holds the bytes.
  enum Target: Codable, Hashable, Sendable {
    /// A key of preferences. Whether two keys are one is decided by the index, which knows
    /// constants.
    case preference(KeyFact)
    /// A file, as the source of the expression for its URL or path (`fileTarget`).
    case file(String)
    /// A record of CloudKit, or a key of iCloud's key-value store.
    case cloud
    /// A keychain, in whichever way the function writes to it.
    case secret
    /// A request, another program, a variable that is passed on, or one of several stores.
    case unknown
  }

  /// What becomes of an error: it is thrown or ends the program, discarded by `try?`, or caught by a `catch` that
  /// goes on.
  enum Failure: String, Codable { case thrown, discarded, caught }

  /// Whether the call is `decode`; otherwise it is `encode`.
  let isDecoding: Bool
  /// The type of the value, as the source writes it; nil if the file doesn't show it.
  let type: String?
  /// The name of a variable or property with the value, which the index can look up if `type` is
  /// nil.
  let property: String?
  /// The type around the call, in which names are looked up.
  let scopeType: String
  /// Where the bytes come from, or where they go.
  let target: Target
  /// Whether the file is a parameter of the function, so that the same name in another function is another file.
  let isOwnParameter: Bool
  /// What becomes of an error of the call, as far as its function decides that.
  let failure: Failure
  /// Whether the same bytes are decoded in another form where decoding fails.
  let isRetried: Bool
  /// Whether the function ends without a value where decoding fails, by a `guard`.
  let leaves: Bool
  /// Whether the bytes, or the value that is encoded, come from a server, as far as the function shows it.
  let isFromServer: Bool
  /// The coder's strategy for dates, such as `.iso8601`; nil if it isn't known.
  let dateStrategy: String?
  /// Whether the function keeps the bytes that don't decode.
  let keepsBytes: Bool
  /// The name of the function around the call; empty for an accessor.
  let function: String
  /// Where the function begins. Its name isn't enough, because two accessors share one.
  let scope: Int
  /// Whether the bytes are in a cache, as far as the file shows.
  let isFleeting: Bool
  /// Where an encoded list gets another element, if nothing in the type shortens the list.
  let growth: Place?
  /// What the type does with an encoded list.
  let list: ListUse?
  let place: Place
}

/// What a type does with a list that it keeps.
///
/// It is read by names of methods and members alone, so it says what the type has code for, not
/// what that code does.
struct ListUse: Codable, Sendable {
  /// How many elements are kept, if the type has a figure for it.
  let limit: Int?
  /// Whether elements are looked up, filtered or sorted.
  let isSearched: Bool
  /// Whether elements are removed, as when a user edits the list.
  let isEdited: Bool
}

// MARK: - Targets

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
