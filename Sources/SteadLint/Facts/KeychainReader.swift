import SwiftSyntax

/// Finds calls of the keychain's functions, and assembles their queries from parts in the file.
///
/// A part is an element of a dictionary, or an assignment to an entry of one. It is in the call, in a
/// variable of the same function, or in a function or property that the call or such a variable names.
struct KeychainReader {
  private let context: FileContext
  private let facts: FactReader
  private let parts: [Part]

  /// The number of names that are followed from a call: `query` -> `baseQuery()` -> `serviceQuery`.
  private static let hops = 3

  private struct Part {
    let key: String
    let value: ExprSyntax
    let name: DeclReferenceExprSyntax
    /// The variable whose entry is assigned; nil for a dictionary's element.
    let variable: String?
    let scope: Syntax
  }

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
  private func use(_ operation: KeychainUse.Operation, _ call: FunctionCallExprSyntax)
    -> KeychainUse
  {
    var query: [String: Part] = [:]
    // The attributes of an update are its second argument.
    for argument in call.arguments.prefix(operation == .update ? 2 : 1) {
      query.merge(self.query(of: argument.expression)) { first, _ in first }
    }
    func key(_ names: String...) -> KeyFact? {
      names.lazy.compactMap { query[$0] }.first.map { facts.key($0.value) }
    }
    let itemClass = query["kSecClass"].map(\.value.code)
    return KeychainUse(
      operation: operation, itemClass: itemClass?.hasPrefix("kSecClass") == true ? itemClass : nil,
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
  private func query(of argument: ExprSyntax) -> [String: Part] {
    var found: [String: Part] = [:]
    func add(_ more: [Part]) {
      for part in more where found[part.key] == nil { found[part.key] = part }
    }
    add(parts(in: Syntax(argument)))
    let scope = argument.scope
    var names = Set(identifiers(in: Syntax(argument)))
    var known: Set<String> = []
    for _ in 0..<Self.hops where !names.isEmpty {
      known.formUnion(names)
      add(parts.filter { $0.scope.id == scope.id && $0.variable.map(names.contains) == true })
      let variables = context.walk.variables.filter { variable in
        variable.scope.id == scope.id
          && variable.bindings.contains {
            names.contains($0.pattern.trimmedDescription)
          }
      }
      for variable in variables { add(parts(in: Syntax(variable))) }
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
    let range = node.start...node.end
    return parts.filter { $0.variable == nil && range.contains($0.name.start) }
  }

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
        guard name.start < element.value.start else { return nil }
        return Part(
          key: name.baseName.text, value: first(of: element.value), name: name, variable: nil,
          scope: name.scope)
      }
      if let entry = node.as(SubscriptCallExprSyntax.self) {
        guard let value = assigned(to: entry) else { return nil }
        let variable = entry.calledExpression.code.lastComponent
        return Part(
          key: name.baseName.text, value: value, name: name, variable: variable, scope: name.scope)
      }
      if node.is(CodeBlockItemSyntax.self) { return nil }
    }
    return nil
  }

  /// The value that is assigned to an entry. It is an element of a sequence, because the parser doesn't fold
  /// operators.
  private static func assigned(to entry: SubscriptCallExprSyntax) -> ExprSyntax? {
    guard let sequence = entry.parent?.parent?.as(SequenceExprSyntax.self) else { return nil }
    let elements = Array(sequence.elements)
    guard elements.count >= 3, elements[0].id == entry.id,
      elements[1].is(AssignmentExprSyntax.self)
    else { return nil }
    return elements[2]
  }

  /// A value without the type that it's cast to.
  private static func first(of value: ExprSyntax) -> ExprSyntax {
    value.as(SequenceExprSyntax.self)?.elements.first ?? value
  }
}

// MARK: - Facts

/// A call of a keychain function such as `SecItemAdd`, with the values in its query.
struct KeychainUse: Codable, Sendable {
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
  let account: KeyFact?
  /// The value of `kSecAttrAccessible`, or a note that an access control is set.
  let accessibility: String?
  let isSynced: Bool
  let scopeType: String
  let function: String
  let place: Place
  /// Where the query names its class and its accessibility.
  let queryPlaces: [Place]
}
