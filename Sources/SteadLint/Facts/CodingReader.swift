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
  private let preferences: [Int: [PreferenceUse]]
  /// The calls that decode, read or write, by the offset where their function begins.
  private let calls: [Int: [FunctionCallExprSyntax]]
  /// The declared variables by the offset where their function begins.
  private let variables: [Int: [VariableDeclSyntax]]
  private var context: FileContext { reader.context }
  private var handling: FailureHandling { FailureHandling(context: context) }

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

  // MARK: - Where bytes come from and go

  /// Whether the expression for a file begins with a parameter of the function.
  ///
  /// Two functions with a parameter `url` are called with different files, so P07 compares no
  /// codings of such targets.
  private func isParameter(_ target: CodingUse.Target, of scope: Syntax) -> Bool {
    guard case .file(let file) = target else { return false }
    // `folder.appending(path: "a")` depends on the caller as much as `folder` does.
    let name = file.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
    return scope.parameterNames.contains(String(name))
  }

  /// Whether the bytes can be made again: they are in a directory that the system empties, or the type rebuilds them.
  ///
  /// An overwrite of such bytes costs time and loses nothing.
  private func isFleeting(_ scope: Syntax) -> Bool {
    let places = PurgeableDirectories(context: context)
    return places.areNamed(in: scope) || places.areBuiltAgain(around: scope)
  }

  /// Whether the user chooses the file, so that it isn't one that the program keeps.
  ///
  /// The words are those of Apple's panels and pickers, and of the access that their URLs need. A
  /// function whose name begins with `import` counts, too, since it may get the URL from the view
  /// that shows the panel.
  private func isImport(_ scope: Syntax) -> Bool {
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
  private func isFromServer(_ scope: Syntax) -> Bool {
    scope.mentions(
      "URLSession", "URLRequest", "URLResponse", "HTTPURLResponse", "dataTask", "statusCode")
  }

  /// Whether the function binds a name to something that it fetches.
  ///
  /// `await` alone isn't enough, since an actor's own state is awaited, too. The called name has to
  /// begin with a verb for a request: `fetchConfig()`, and not `currentDocument()`.
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
  ///
  /// Two keys or two files make it unknown: nothing here shows which of them the bytes come from.
  private func source(in scope: Int) -> CodingUse.Target {
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
  private func destination(in scope: Syntax, of call: FunctionCallExprSyntax) -> CodingUse.Target {
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

  // MARK: - Failures

  /// What happens if a call fails: the innermost `try?` or `do` around it decides.
  ///
  /// A failed attempt counts as thrown, too, if another attempt follows whose failure is thrown.
  /// Nobody can tell what becomes of an error that leaves a closure, so it counts as thrown, which
  /// no rule reports.
  ///
  /// - Parameter looksFurther: Whether to look for another attempt; false for that one itself, so
  ///   that two attempts don't refer to each other forever.
  private func failure(
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
  private func leaves(_ call: FunctionCallExprSyntax) -> Bool {
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
  private func keepsBytes(_ scope: Syntax) -> Bool {
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
