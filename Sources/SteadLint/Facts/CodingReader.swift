import SwiftSyntax

/// Finds where a file encodes and decodes Codable values, and where their bytes go or come from.
///
/// There is no data flow analysis. The bytes of a call are those of the only preference or file that the same
/// function reads, or that it writes a variable of the call to. If there are several, the target is unknown,
/// and no rule reports the call.
struct CodingReader {
  private let reader: FactReader
  private let preferences: [Int: [PreferenceUse]]
  private let calls: [Int: [FunctionCallExprSyntax]]
  private let variables: [Int: [VariableDeclSyntax]]
  private var context: FileContext { reader.context }

  init(_ reader: FactReader, preferences: [PreferenceUse]) {
    self.reader = reader
    self.preferences = Dictionary(grouping: preferences, by: \.scope)
    variables = Dictionary(grouping: reader.context.walk.variables) { $0.scope.start }
    let names: Set = ["decode", "encode", "write", "Data", "contents", "createFile"]
    calls = Dictionary(grouping: reader.context.walk.calls.filter { names.contains($0.name) }) {
      $0.scope.start
    }
  }

  /// The encodings and decodings of the file, in the order of the source.
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
    guard call.arguments.count == 2, call.argument("from") != nil, let receiver = call.receiver,
      let type = call.argument(nil)?.code, type.hasSuffix(".self")
    else { return nil }
    let scope = call.scope
    let target = isImport(scope) ? .unknown : source(in: scope.start)
    return CodingUse(
      isDecoding: true, type: String(type.dropLast(5)), property: nil,
      scopeType: call.enclosingType,
      target: target, isOwnParameter: isParameter(target, of: scope),
      failure: failure(of: call, in: scope), isRetried: isRetried(call, in: scope),
      leaves: leaves(call),
      isFromServer: target == .unknown && isFromServer(scope),
      dateStrategy: strategy(of: receiver, named: "dateDecodingStrategy", in: scope),
      keepsBytes: keepsBytes(scope),
      function: scope.declaredName ?? "", scope: scope.start,
      isFleeting: isFleeting(scope),
      growth: nil, list: nil, place: context.place(call))
  }

  /// The fact of `encode(value)` of something whose name has the word encoder; nil for another call of this name.
  private func encoding(_ call: FunctionCallExprSyntax) -> CodingUse? {
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
  private func encodedType(_ argument: ExprSyntax) -> (type: String?, property: String?) {
    if let type = VariableTypes.type(of: argument) { return (type, nil) }
    var name = argument.code
    if name == "self" { return (argument.enclosingType, nil) }
    if name.hasPrefix("self.") { name = String(name.dropFirst(5)) }
    if name.contains(where: { !$0.isLetter && !$0.isNumber && $0 != "_" }) { return (nil, nil) }
    if let type = reader.variables.type(of: name, at: argument) { return (type, nil) }
    return name == "newValue" || name == "oldValue"
      ? (
        nil,
        argument.ancestors.lazy.compactMap { $0.as(VariableDeclSyntax.self) }.first?.declaredName
      )
      : (nil, name)
  }

  // MARK: - Where bytes come from and go

  /// Whether the expression for a file begins with a parameter of the function.
  private func isParameter(_ target: CodingUse.Target, of scope: Syntax) -> Bool {
    guard case .file(let file) = target else { return false }
    let name = file.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
    let clause =
      scope.as(FunctionDeclSyntax.self)?.signature.parameterClause
      ?? scope.as(InitializerDeclSyntax.self)?.signature.parameterClause
    return clause?.parameters.contains { ($0.secondName ?? $0.firstName).text == name } ?? false
  }

  /// Whether the bytes can be made again: they are in a directory that the system empties, or the type rebuilds them.
  private func isFleeting(_ scope: Syntax) -> Bool {
    let places = PurgeableDirectories(context: context)
    return places.areNamed(in: scope) || places.areBuiltAgain(around: scope)
  }

  /// Whether the user chooses the file, so that it isn't one that the program keeps.
  private func isImport(_ scope: Syntax) -> Bool {
    let name = scope.declaredName.map { NameWords($0).words.first } ?? nil
    return name == "import"
      || scope.mentions(
        "NSOpenPanel", "fileImporter", "UIDocumentPickerViewController",
        "startAccessingSecurityScopedResource")
  }

  /// Whether the function sends a request to a server, or handles its response.
  private func isFromServer(_ scope: Syntax) -> Bool {
    scope.mentions(
      "URLSession", "URLRequest", "URLResponse", "HTTPURLResponse", "dataTask", "statusCode")
  }

  /// Whether the function binds a name to something that it fetches.
  private func isFetched(_ name: ExprSyntax, in scope: Syntax) -> Bool {
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
  private func source(in scope: Int) -> CodingUse.Target {
    let keys = Set(
      (preferences[scope] ?? []).filter {
        ["data", "object", "string", "value"].contains($0.method)
      }.map(\.key))
    if keys.count == 1, let key = keys.first { return .preference(key) }
    let files = Set(
      (calls[scope] ?? []).compactMap { call -> String? in
        switch call.name {
        case "Data": call.argument("contentsOf")?.code
        case "contents": call.argument("atPath")?.code
        default: nil
        }
      })
    if keys.isEmpty, files.count == 1, let file = files.first { return .file(plain(file)) }
    return .unknown
  }

  /// What the encoded bytes are written to: a keychain if the function names one, else the only key or file
  /// that gets the call's result.
  private func destination(in scope: Syntax, of call: FunctionCallExprSyntax) -> CodingUse.Target {
    // First: a function that has to do with a keychain may also set a preference, such as a flag that the secret
    // exists.
    if scope.mentions(
      "SecItemAdd", "SecItemUpdate", "keychain", "Keychain", "KeychainSwift", "Secrets")
    {
      return .secret
    }
    let writes = (preferences[scope.start] ?? []).filter { $0.access == .write }
    let names = boundNames(of: call)
    let mine = writes.filter { write in
      let words = Set(
        (write.value ?? "").split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init))
      return (write.value ?? "").contains("encode(") || !words.isDisjoint(with: names)
    }
    let keys = Set(mine.map(\.key))
    if keys.count == 1, let key = keys.first {
      return mine.first?.store == .cloud ? .cloud : .preference(key)
    }
    let files = Set(
      (calls[scope.start] ?? []).compactMap { call -> String? in
        guard call.name == "write", let receiver = call.receiver?.code else { return nil }
        return names.contains(receiver) || receiver.contains("encode(")
          ? call.argument("to")?.code : nil
      })
    // With two targets it isn't known which one gets these bytes, and a guess would pair unrelated codings.
    if let file = files.first, files.count == 1 { return .file(plain(file)) }
    return scope.mentions("CKRecord", "CKAsset") ? .cloud : .unknown
  }

  /// The variables that a call's result is bound to.
  private func boundNames(of call: FunctionCallExprSyntax) -> Set<String> {
    for node in call.ancestors {
      if let binding = node.as(PatternBindingSyntax.self) {
        return [binding.pattern.trimmedDescription]
      }
      if let binding = node.as(OptionalBindingConditionSyntax.self) {
        return [binding.pattern.trimmedDescription]
      }
      if node.is(CodeBlockItemSyntax.self) { return [] }
    }
    return []
  }

  /// An expression without `self.`, so that a member has one name.
  private func plain(_ file: String) -> String {
    file.hasPrefix("self.") || file.hasPrefix("Self.") ? String(file.dropFirst(5)) : file
  }

  // MARK: - Failures

  /// What happens if a call fails: the innermost `try?` or `do` around it decides.
  ///
  /// A failed attempt counts as thrown, too, if another attempt follows whose failure is thrown.
  ///
  /// - Parameter looksFurther: Whether to look for another attempt; false for that one itself, so that two attempts don't
  ///   refer to each other forever.
  private func failure(
    of call: FunctionCallExprSyntax, in scope: Syntax, looksFurther: Bool = true
  ) -> CodingUse.Failure {
    for node in call.ancestors {
      if node.id == scope.id || node.is(ClosureExprSyntax.self) { return .thrown }
      if let attempt = node.as(TryExprSyntax.self), attempt.questionOrExclamationMark?.text == "?" {
        let isThrown = stops(attempt) || looksFurther && isFollowed(attempt, of: call, in: scope)
        return isThrown ? .thrown : .discarded
      }
      if let statement = node.as(DoStmtSyntax.self), !statement.catchClauses.isEmpty {
        // A call in a `catch` clause isn't covered by that `do`.
        let inBody = call.ancestors.contains { $0.id == statement.body.id }
        if inBody {
          return statement.catchClauses.allSatisfy { allowsLaterSave($0.body) } ? .caught : .thrown
        }
      }
    }
    return .thrown
  }

  /// Whether the `guard` around an attempt throws or removes the data, so that no later save overwrites it.
  private func stops(_ attempt: TryExprSyntax) -> Bool {
    for node in attempt.ancestors {
      if let statement = node.as(GuardStmtSyntax.self) { return !allowsLaterSave(statement.body) }
      if node.is(CodeBlockItemSyntax.self) || node.is(ClosureExprSyntax.self) { return false }
    }
    return false
  }

  /// Whether the function returns if a call in a `guard` fails, and saves nothing first.
  private func leaves(_ call: FunctionCallExprSyntax) -> Bool {
    for node in call.ancestors {
      if let body = node.as(GuardStmtSyntax.self)?.body {
        // A value that is returned may be saved by the caller.
        let last = body.statements.last?.item.as(ReturnStmtSyntax.self)
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
    guard let statement = condition(around: attempt) else { return false }
    if let last = lastElse(of: statement), !allowsLaterSave(last) { return true }
    return retries(of: call, after: statement, in: scope).contains {
      failure(of: $0, in: scope, looksFurther: false) == .thrown
    }
  }

  /// Whether the bytes are decoded again, in another form, where a call in the condition of an `if` fails.
  private func isRetried(_ call: FunctionCallExprSyntax, in scope: Syntax) -> Bool {
    for node in call.ancestors {
      if let attempt = node.as(TryExprSyntax.self), let statement = condition(around: attempt) {
        return !retries(of: call, after: statement, in: scope).isEmpty
      }
      if node.is(CodeBlockItemSyntax.self) || node.is(ClosureExprSyntax.self) { return false }
    }
    return false
  }

  /// The calls that decode the same bytes after the body of an `if`: in its `else`, or after it.
  private func retries(
    of call: FunctionCallExprSyntax, after statement: IfExprSyntax, in scope: Syntax
  ) -> [FunctionCallExprSyntax] {
    let bytes = call.argument("from")?.code
    return (calls[scope.start] ?? []).filter { other in
      other.name == "decode" && other.start > statement.body.end
        && other.argument("from")?.code == bytes
    }
  }

  /// The `if` whose condition has an attempt.
  private func condition(around attempt: TryExprSyntax) -> IfExprSyntax? {
    for node in attempt.ancestors {
      if let statement = node.as(IfExprSyntax.self) { return statement }
      if node.is(CodeBlockItemSyntax.self) || node.is(ClosureExprSyntax.self) { return nil }
    }
    return nil
  }

  /// The last `else` of a chain of `else if`; nil if the chain has none.
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

  /// Whether a block does nothing that could prevent a later save.
  private func allowsLaterSave(_ body: CodeBlockSyntax) -> Bool {
    let stops: Set = [
      "throw", "fatalError", "preconditionFailure", "failure", "exit", "abort", "removeObject",
      "removeItem",
    ]
    if body.mentions(anyOf: stops) || callsRemoval(body) { return false }
    // An error that is kept in a property can be shown, and checked before a save.
    // `error=` and `lastError=`.
    return !body.code.contains("rror=")
  }

  /// Whether a block calls a function of the file that removes what is stored, and that has a name such as `reset`.
  private func callsRemoval(_ body: CodeBlockSyntax) -> Bool {
    let verbs: Set = ["clear", "delete", "discard", "drop", "purge", "remove", "reset", "wipe"]
    let range = body.start...body.end
    let names = context.walk.calls.filter { range.contains($0.start) }.map(\.name).filter {
      NameWords($0).words.first.map(verbs.contains) == true
    }
    guard !names.isEmpty else { return false }
    return context.walk.calls.contains { call in
      ["removeObject", "removeItem"].contains(call.name)
        && call.scope.declaredName.map(names.contains) == true
    }
  }

  /// Whether a function keeps the bytes that don't decode, by the words in it: a backup, another key, a migration.
  private func keepsBytes(_ scope: Syntax) -> Bool {
    let words: Set = [
      "backup", "backUp", "corrupt", "corrupted", "quarantine", "moveItem", "copyItem",
      "replaceItemAt", "salvage",
      "legacy", "migrate", "migrateLegacy",
    ]
    return scope.tokens(viewMode: .sourceAccurate).contains { token in
      words.contains(token.text) || NameWords(token.text).contains(anyOf: words)
    }
  }

  // MARK: - Dates

  /// The date strategy of a coder that the function makes; nil for a coder from elsewhere.
  private func strategy(of coder: ExprSyntax, named property: String, in scope: Syntax) -> String? {
    let text = coder.code
    // The strategy of a coder that was just made is Foundation's default.
    if text == "JSONEncoder()" || text == "JSONDecoder()" { return ".deferredToDate" }
    guard text.allSatisfy({ $0.isLetter || $0.isNumber }) else { return nil }
    var isMadeHere = false
    for variable in context.walk.variables where variable.scope.id == scope.id {
      for binding in variable.bindings where binding.pattern.trimmedDescription == text {
        guard let value = binding.initializer?.value.code else { return nil }
        isMadeHere = value == "JSONEncoder()" || value == "JSONDecoder()"
      }
    }
    guard isMadeHere else { return nil }
    for sequence in context.walk.assignments where sequence.scope.id == scope.id {
      let code = sequence.code
      let head = text + "." + property + "="
      if code.hasPrefix(head) { return normalized(String(code.dropFirst(head.count))) }
    }
    return ".deferredToDate"
  }

  /// The name of a strategy without its type, so that `.iso8601` equals `JSONEncoder.DateEncodingStrategy.iso8601`.
  private func normalized(_ strategy: String) -> String {
    let head = strategy.prefix { $0 != "(" && $0 != "{" }
    return "." + head.lastComponent + strategy.dropFirst(head.count)
  }
}

// MARK: - Facts

/// A Codable value that is encoded or decoded.
struct CodingUse: Codable, Sendable {
  enum Target: Codable, Hashable, Sendable {
    case preference(KeyFact)
    case file(String)
    case cloud
    case secret
    case unknown
  }

  /// What becomes of an error: it is thrown or ends the program, discarded by `try?`, or caught by a `catch` that
  /// goes on.
  enum Failure: String, Codable { case thrown, discarded, caught }

  let isDecoding: Bool
  /// The type, if the file shows it. Otherwise `property` is a name that the index can look up.
  let type: String?
  let property: String?
  /// The type around the call, in which names are looked up.
  let scopeType: String
  let target: Target
  /// Whether the file is a parameter of the function, so that the same name in another function is another file.
  let isOwnParameter: Bool
  let failure: Failure
  /// Whether the same bytes are decoded in another form where decoding fails.
  let isRetried: Bool
  /// Whether the function ends without a value where decoding fails, by a `guard`.
  let leaves: Bool
  /// Whether the bytes, or the value that is encoded, come from a server, as far as the function shows it.
  let isFromServer: Bool
  /// Nil if it isn't known.
  let dateStrategy: String?
  /// Whether the function keeps the bytes that don't decode.
  let keepsBytes: Bool
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
struct ListUse: Codable, Sendable {
  /// How many elements are kept, if the type has a figure for it.
  let limit: Int?
  /// Whether elements are looked up, filtered or sorted.
  let isSearched: Bool
  /// Whether elements are removed, as when a user edits the list.
  let isEdited: Bool
}
