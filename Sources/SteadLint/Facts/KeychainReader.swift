import SwiftSyntax

/// Finds calls of the keychain's functions, and assembles their queries from parts in the file.
///
/// A part is an element of a dictionary, or an assignment to an entry of one. It is in the call, in
/// a variable of the same function, or in a function or property that the call or such a variable
/// names.
///
/// The survey shows the assembled queries, and P26 takes the class of an item from them. The other
/// rules about the keychain look at single calls and constants, since a query that comes from
/// another file is incomplete here.
struct KeychainReader {
  private let context: FileContext
  private let facts: FactReader
  /// All parts in the file, in the order of the source.
  private let parts: [Part]

  /// The number of names that are followed from a call: `query` -> `baseQuery()` -> `serviceQuery`.
  private static let hops = 3

  /// An entry of a query: a constant of the keychain and its value.
  private struct Part {
    /// The constant, such as `kSecAttrService`.
    let key: String
    /// The expression for the value, without a cast.
    let value: ExprSyntax
    /// Where the constant stands, for places.
    let name: DeclReferenceExprSyntax
    /// The variable whose entry is assigned; nil for a dictionary's element.
    let variable: String?
    /// The function or property around the part.
    let scope: Syntax
  }

  /// Collects the parts of all queries in the file. Costs a walk up to the statement for each
  /// constant of the keychain.
  init(_ facts: FactReader) {
    self.facts = facts
    context = facts.context
    parts = facts.context.walk.keychainNames.compactMap(Self.part)
  }

  /// The calls of the keychain's functions, each with what its query has.
  func uses() -> [KeychainUse] {
    context.walk.calls.compactMap { call in
      KeychainUse.Operation(rawValue: call.name).map { use($0, call) }
    }
  }

  /// The fact of a call. What the query lacks in the source is nil, and no rule reports it as missing in the program.
  ///
  /// A value is the source of an expression or a key to look up, and never the secret.
  private func use(_ operation: KeychainUse.Operation, _ call: FunctionCallExprSyntax)
    -> KeychainUse
  {
    var query: [String: Part] = [:]
    // The attributes of an update are its second argument.
    for argument in call.arguments.prefix(operation == .update ? 2 : 1) {
      // The search comes first and counts where both have a key: it says which item is meant.
      query.merge(self.query(of: argument.expression)) { first, _ in first }
    }
    func key(_ names: String...) -> KeyFact? {
      names.lazy.compactMap { query[$0] }.first.map { facts.key($0.value) }
    }
    let itemClass = query["kSecClass"].map(\.value.code)
    return KeychainUse(
      operation: operation, itemClass: itemClass?.hasPrefix("kSecClass") == true ? itemClass : nil,
      // The first of these that the query has: an internet password has a server in place of a
      // service, and a key has a tag or a label in place of an account.
      service: key("kSecAttrService", "kSecAttrServer"),
      account: key("kSecAttrAccount", "kSecAttrApplicationTag", "kSecAttrLabel"),
      accessibility: accessibility(of: query),
      isSynced: ["true", "kCFBooleanTrue", "kCFBooleanTrue!"].contains(
        query["kSecAttrSynchronizable"]?.value.code),
      scopeType: call.enclosingType, function: call.scope.declaredName ?? "",
      place: context.place(call),
      queryPlaces: ["kSecClass", "kSecAttrAccessible"].compactMap { query[$0] }.map {
        context.place($0.name)
      })
  }

  /// The value of the accessibility, as it's written. An access control has one, which isn't looked up.
  private func accessibility(of query: [String: Part]) -> String? {
    if let value = query["kSecAttrAccessible"]?.value.code { return value }
    return query["kSecAttrAccessControl"].map { _ in "an access control" }
  }

  // MARK: - Queries

  /// The parts of a query, by their keys.
  ///
  /// From the argument, names are followed to variables of the same function, and to functions and properties
  /// of the file. A part that is closer to the call counts, as it does when dictionaries are merged.
  ///
  /// Invariant: a name is followed at most once, and at most ``hops`` names in a row, so code that
  /// calls itself ends the search like any other.
  private func query(of argument: ExprSyntax) -> [String: Part] {
    var found: [String: Part] = [:]
    // The first part with a key stays: rounds go away from the call, and what is nearer overrides.
    func add(_ more: [Part]) {
      for part in more where found[part.key] == nil { found[part.key] = part }
    }
    add(parts(in: Syntax(argument)))
    let scope = argument.scope
    var names = Set(identifiers(in: Syntax(argument)))
    var known: Set<String> = []
    for _ in 0..<Self.hops where !names.isEmpty {
      known.formUnion(names)
      // `query[kSecAttrService] = service` in the same function.
      add(parts.filter { $0.scope.id == scope.id && $0.variable.map(names.contains) == true })
      let variables = context.walk.variables.filter { variable in
        variable.scope.id == scope.id
          && variable.bindings.contains {
            names.contains($0.pattern.trimmedDescription)
          }
      }
      // `let query = [kSecClass: …]` in the same function.
      for variable in variables { add(parts(in: Syntax(variable))) }
      // `baseQuery()` and `self.base`: whole functions and properties whose name is among the
      // names.
      let others = parts.filter {
        $0.scope.id != scope.id && $0.scope.declaredName.map(names.contains) == true
      }
      add(others)
      // A name is followed once: otherwise two functions that call each other would be read in each of the rounds.
      names = Set(variables.flatMap { identifiers(in: Syntax($0)) })
        .union(others.flatMap { identifiers(in: $0.scope) }).subtracting(known)
    }
    return found
  }

  /// The elements of dictionaries in a node.
  private func parts(in node: Syntax) -> [Part] {
    // By offsets: the list has the parts of the whole file. An entry that is assigned belongs to
    // its variable, wherever it stands.
    let range = node.start...node.end
    return parts.filter { $0.variable == nil && range.contains($0.name.start) }
  }

  /// The identifiers among a node's tokens, without keywords and operators.
  private func identifiers(in node: Syntax) -> [String] {
    node.tokens(viewMode: .sourceAccurate).compactMap { token in
      if case .identifier(let text) = token.tokenKind { text } else { nil }
    }
  }

  // MARK: - Parts

  /// The part of a query that a constant `kSec…` is the key of; nil where it is a value or stands alone.
  private static func part(_ name: DeclReferenceExprSyntax) -> Part? {
    for node in name.ancestors {
      if let element = node.as(DictionaryElementSyntax.self) {
        // `kSecClassGenericPassword` after the colon is a value, and no part of its own.
        guard name.start < element.value.start else { return nil }
        return Part(
          key: name.baseName.text, value: first(of: element.value), name: name, variable: nil,
          scope: name.scope)
      }
      if let entry = node.as(SubscriptCallExprSyntax.self) {
        guard let value = assigned(to: entry) else { return nil }
        // `self.query[…]` and `query[…]` are one variable.
        let variable = entry.calledExpression.code.lastComponent
        return Part(
          key: name.baseName.text, value: value, name: name, variable: variable, scope: name.scope)
      }
      // Outside of the statement the constant is compared, or passed to something else.
      if node.is(CodeBlockItemSyntax.self) { return nil }
    }
    return nil
  }

  /// The value that is assigned to an entry. It is an element of a sequence, because the parser doesn't fold
  /// operators.
  private static func assigned(to entry: SubscriptCallExprSyntax) -> ExprSyntax? {
    guard let sequence = entry.parent?.parent?.as(SequenceExprSyntax.self) else { return nil }
    // The left side has to be the entry itself: in `a = query[key]` the entry is read.
    let elements = Array(sequence.elements)
    guard elements.count >= 3, elements[0].id == entry.id,
      elements[1].is(AssignmentExprSyntax.self)
    else { return nil }
    return elements[2]
  }

  /// A value without the type that it's cast to.
  ///
  /// `service as CFString` is a sequence with the value first, since the parser doesn't fold `as`
  /// either.
  private static func first(of value: ExprSyntax) -> ExprSyntax {
    value.as(SequenceExprSyntax.self)?.elements.first ?? value
  }
}

// MARK: - Facts

/// A call of a keychain function such as `SecItemAdd`, with the values in its query.
struct KeychainUse: Codable, Sendable {
  /// What the call does. The raw values are the names of the functions.
  enum Operation: String, Codable {
    case add = "SecItemAdd"
    case update = "SecItemUpdate"
    case read = "SecItemCopyMatching"
    case delete = "SecItemDelete"
  }

  let operation: Operation
  /// The constant of the class, such as `kSecClassGenericPassword`; nil if the source doesn't show it.
  let itemClass: String?
  /// The service, or the server of an internet password.
  let service: KeyFact?
  /// The account, or the tag or label of a key.
  let account: KeyFact?
  /// The value of `kSecAttrAccessible`, or a note that an access control is set.
  let accessibility: String?
  /// Whether the query sets `kSecAttrSynchronizable` to a literal true.
  let isSynced: Bool
  /// The types around the call, joined by full stops.
  let scopeType: String
  /// The name of the function around the call; empty for an accessor.
  let function: String
  let place: Place
  /// Where the query names its class and its accessibility.
  let queryPlaces: [Place]
}
