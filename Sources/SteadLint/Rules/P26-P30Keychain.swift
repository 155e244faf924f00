import SwiftSyntax

// MARK: - P26 keychain-without-accessibility

private let p26 = RuleID(id: "P26", name: "keychain-without-accessibility", level: .note)

extension Rule {
  /// Items that are added in a file which never says when they may be read.
  ///
  /// By file, since a query is often assembled in several functions. The calls are a fact, so that
  /// certificates can be left out by their assembled queries.
  static let keychainWithoutAccessibility = Rule(
    p26,
    summary: "A keychain item is added without saying when it may be read.",
    why: """
      Without `kSecAttrAccessible` the item can be read only while the device is unlocked, and goes to backups and \
      new devices. Background work fails while the device is locked, and items that should stay on one device don't. \
      Most items are read only while the screen is on, so this is a note.
      """,
    bad: """
      let query: [CFString: Any] = [
        kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecValueData: data,
      ]
      let status = SecItemAdd(query as CFDictionary, nil)
      """,
    good: "query[kSecAttrAccessible] = kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly",
    avoids: [
      "Files that set an accessibility or an access control anywhere, since queries are made in parts.",
      "Queries that come from elsewhere.",
      "Certificates, which are public.",
      "Functions that use their own name for an accessibility.",
    ],
    inProject: { index in
      index.files.flatMap { file in
        // By their places: both facts have that of the call.
        let certificates = file.keychain.filter { $0.itemClass == "kSecClassCertificate" }.map(
          \.place)
        return file.unprotectedItems.filter { !certificates.contains($0) }.map { place in
          Finding(
            p26,
            "The item has no `kSecAttrAccessible`; say when and on which devices it may be read.",
            at: place)
        }
      }
    })
}

/// Whether a function has its own names for accessibility, which stand for the constants.
///
/// `kSecUseDataProtectionKeychain` has the word, and chooses a keychain and no accessibility.
private func namesAccess(in scope: Syntax) -> Bool {
  scope.tokens(viewMode: .sourceAccurate).contains { token in
    guard case .identifier(let text) = token.tokenKind, text != "kSecUseDataProtectionKeychain"
    else { return false }
    return NameWords(text).contains(anyOf: ["accessible", "accessibility", "protection"])
  }
}

extension FileContext {
  /// The calls that add an item although neither the file nor the function says when it may be read.
  ///
  /// Without `kSecClass` in the file the query comes from elsewhere, and may have anything.
  var unprotectedItems: [Place] {
    guard keychainNames.isDisjoint(with: ["kSecAttrAccessible", "kSecAttrAccessControl"]),
      keychainNames.contains("kSecClass")
    else { return [] }
    return walk.calls.filter { $0.name == "SecItemAdd" && !namesAccess(in: $0.scope) }.map(place)
  }

  /// The constants of the keychain that a file uses.
  var keychainNames: Set<String> {
    Set(walk.keychainNames.map(\.baseName.text))
  }
}

// MARK: - P27 keychain-always-accessible

private let p27 = RuleID(id: "P27", name: "keychain-always-accessible", level: .error)

extension Rule {
  /// Accessibility that doesn't depend on the passcode, where it is set.
  ///
  /// An error: whoever has the device has the secret.
  static let keychainAlwaysAccessible = Rule(
    p27,
    summary:
      "A keychain item can be read while the device is locked, even before its first unlock.",
    why: """
      The item isn't protected by the passcode: anyone with the device can read it. Apple has deprecated these values.
      """,
    bad: "query[kSecAttrAccessible] = kSecAttrAccessibleAlways",
    good: "query[kSecAttrAccessible] = kSecAttrAccessibleAfterFirstUnlock",
    avoids: [
      "Code that names the value without setting it: in a `switch` over all values, or to compare."
    ],
    inFile: { file in
      file.walk.keychainNames.compactMap { name in
        guard
          ["kSecAttrAccessibleAlways", "kSecAttrAccessibleAlwaysThisDeviceOnly"].contains(
            name.baseName.text),
          isSet(name)
        else { return nil }
        return Finding(
          p27,
          "The passcode doesn't protect this item; use `kSecAttrAccessibleAfterFirstUnlock` or a stricter value.",
          at: file.place(name))
      }
    })
}

/// Whether a value goes into a query: as a dictionary's value, or assigned to an entry of one.
///
/// A `switch` over all values, or a comparison, only names it.
private func isSet(_ name: DeclReferenceExprSyntax) -> Bool {
  for node in name.ancestors {
    if let element = node.as(DictionaryElementSyntax.self) {
      // In front of the colon it would be a key.
      return element.value.start <= name.start
    }
    // `value as String` is a sequence, too, inside the one that assigns.
    if let sequence = node.as(SequenceExprSyntax.self), sequence.start != name.start {
      // `query[key] = value`, without the spaces.
      return sequence.code.contains("]=") && !sequence.code.contains("==")
    }
    // Outside of the statement the name is compared or listed, and set nowhere.
    if node.is(CodeBlockItemSyntax.self) || node.is(SwitchCaseSyntax.self) { return false }
  }
  return false
}

// MARK: - P28 keychain-status-ignored

private let p28 = RuleID(id: "P28", name: "keychain-status-ignored", level: .warning)

extension Rule {
  /// Calls that write an item and whose status nothing looks at.
  ///
  /// Deleting isn't among them: what is deleted is often absent already.
  static let keychainStatusIgnored = Rule(
    p28,
    summary: "The status of `SecItemAdd` or `SecItemUpdate` is ignored.",
    why: """
      Both return the reason if nothing was written: the device is locked, the item exists, an entitlement is \
      missing. Code that ignores the status assumes that the secret was saved, and finds none at the next launch.
      """,
    bad: "SecItemAdd(query as CFDictionary, nil)",
    good: """
      let status = SecItemAdd(query as CFDictionary, nil)
      guard status == errSecSuccess else { throw KeychainError(status) }
      """,
    avoids: [
      "`SecItemDelete`, which is often called for what may be absent.",
      "A status that is returned, compared or passed on.",
    ],
    inFile: { file in
      file.walk.calls.compactMap { call in
        guard ["SecItemAdd", "SecItemUpdate"].contains(call.name), isIgnored(call) else {
          return nil
        }
        return Finding(
          p28,
          "A failure of `\(call.name)` goes unnoticed; compare its status with `errSecSuccess`.",
          at: file.place(call))
      }
    })
}

/// Whether nothing looks at the status that a call returns.
///
/// That is a statement of its own, or an assignment to `_`.
private func isIgnored(_ call: FunctionCallExprSyntax) -> Bool {
  guard let parent = call.parent else { return false }
  if parent.is(CodeBlockItemSyntax.self) { return !isResult(parent, of: call) }
  // The list of a sequence's elements is a node of its own.
  let sequence = parent.as(SequenceExprSyntax.self) ?? parent.parent?.as(SequenceExprSyntax.self)
  return sequence?.code.hasPrefix("_=") == true
}

/// Whether the call is the only expression of a function or closure, and so may be its result.
///
/// A closure's type isn't known, so its only expression counts as its result. So do the branches of
/// `if` and `switch`, which may be expressions.
private func isResult(_ item: Syntax, of call: FunctionCallExprSyntax) -> Bool {
  guard let list = item.parent?.as(CodeBlockItemListSyntax.self), list.count == 1 else {
    return false
  }
  for node in list.ancestors.dropFirst() {
    if let function = node.as(FunctionDeclSyntax.self) {
      return function.signature.returnClause != nil
    }
    if node.is(ClosureExprSyntax.self) { return true }
    if node.is(AccessorBlockSyntax.self) || node.is(IfExprSyntax.self)
      || node.is(SwitchCaseSyntax.self)
    {
      return true
    }
  }
  return false
}

// MARK: - P29 keychain-duplicate-unhandled

private let p29 = RuleID(id: "P29", name: "keychain-duplicate-unhandled", level: .warning)

extension Rule {
  /// Items that are added in a file which never updates, deletes, or asks for a duplicate.
  ///
  /// By file: a delete before the add, or an update after it, is often a function of its own.
  static let keychainDuplicateUnhandled = Rule(
    p29,
    summary: "An item is added to the keychain, and nothing handles an item that already exists.",
    why: """
      `SecItemAdd` refuses an item that already exists, even after the app was deleted and installed again. The new \
      secret then isn't kept, and the old one comes back.
      """,
    bad: "let status = SecItemAdd(query as CFDictionary, nil)",
    good: """
      var status = SecItemAdd(query as CFDictionary, nil)
      if status == errSecDuplicateItem {
        status = SecItemUpdate(search as CFDictionary, [kSecValueData: data] as CFDictionary)
      }
      """,
    avoids: [
      "Files that update or delete items, or name `errSecDuplicateItem`."
    ],
    inFile: { file in
      let names = Set(file.walk.calls.map(\.name))
      guard names.contains("SecItemAdd"),
        names.isDisjoint(with: ["SecItemUpdate", "SecItemDelete"]),
        !file.mentionsDuplicate
      else { return [] }
      return file.walk.calls.filter { $0.name == "SecItemAdd" }.map { call in
        Finding(
          p29,
          "An item that already exists isn't replaced; update it if the status is `errSecDuplicateItem`.",
          at: file.place(call))
      }
    })
}

extension FileContext {
  /// Whether the code mentions the status of an item that already exists.
  ///
  /// Costs a pass over all tokens, so it is asked last.
  fileprivate var mentionsDuplicate: Bool {
    walk.calls.first?.root.mentions("errSecDuplicateItem") ?? false
  }
}

// MARK: - P30 keychain-without-service

private let p30 = RuleID(id: "P30", name: "keychain-without-service", level: .warning)

extension Rule {
  /// Queries for generic passwords in a file that never names a service.
  ///
  /// The finding is at the class, since that is where a service belongs beside it.
  static let keychainWithoutService = Rule(
    p30,
    summary: "A query for generic passwords has no service.",
    why: """
      It matches the items of every library in the app, and of other apps of the group. A read finds the secret of \
      other code, and a deletion removes all of them.
      """,
    bad: """
      let query: [CFString: Any] = [kSecClass: kSecClassGenericPassword, kSecAttrAccount: account]
      """,
    good: """
      let query: [CFString: Any] = [
        kSecClass: kSecClassGenericPassword, kSecAttrService: "com.example.app", kSecAttrAccount: account,
      ]
      """,
    avoids: [
      "Files that set a service anywhere, since queries are made in parts.",
      "Accounts that begin with the app's bundle identifier or with a name like `com.example.app`, even through a constant or a parameter.",
      "Other classes of items: keys, certificates, internet passwords.",
    ],
    inFile: { file in
      guard !file.keychainNames.contains("kSecAttrService") else { return [] }
      return file.walk.keychainNames.compactMap { name in
        guard name.baseName.text == "kSecClassGenericPassword", isInQuery(name, file.walk)
        else { return nil }
        return Finding(
          p30,
          "Without `kSecAttrService` the query matches the items of other code, too; name a service.",
          at: file.place(name))
      }
    })
}

/// Whether the account of the same query contains the app's identifier, as a service would.
///
/// Such an account is as good as a service: no other code has it.
private func namesApp(around element: DictionaryElementSyntax, _ walk: SyntaxWalk) -> Bool {
  element.parent?.as(DictionaryElementListSyntax.self)?.contains { other in
    guard other.key.code.hasPrefix("kSecAttrAccount") else { return false }
    if other.value.mentions("bundleIdentifier") { return true }
    let values = values(of: other.value, walk, isParameter: true)
    return !values.isEmpty && values.allSatisfy { isReverseName($0.code) }
  } ?? false
}

/// The values that an account can have in the file: a literal, a constant's value, or the arguments that
/// calls pass for a parameter.
///
/// - Parameter isParameter: Whether the account may be a parameter. One step to the callers is
///   followed, so functions that call each other end the search.
private func values(
  of account: ExprSyntax, _ walk: SyntaxWalk, isParameter: Bool
) -> [ExprSyntax] {
  if account.is(StringLiteralExprSyntax.self) { return [account] }
  let name = account.code.lastComponent
  let constants = walk.variables.flatMap(\.bindings).filter {
    $0.pattern.trimmedDescription == name
  }.compactMap { $0.initializer?.value }
  // A constant of the file hides a parameter of its name here; scopes aren't resolved.
  if !constants.isEmpty || !isParameter { return constants }
  guard let function = account.scope.as(FunctionDeclSyntax.self),
    let parameter = function.signature.parameterClause.parameters.first(where: {
      ($0.secondName ?? $0.firstName).text == name
    })
  else { return [] }
  // Calls in this file alone. The parameter may get something else in another one.
  return walk.calls.filter { $0.name == function.name.text }.flatMap { call -> [ExprSyntax] in
    guard let given = call.argument(parameter.firstName.text) else { return [] }
    return values(of: given, walk, isParameter: false)
  }
}

/// Whether a literal is a name like `com.example.app.token`, which no other program uses.
///
/// Three parts at least, of which the first is as long as a top-level domain: two to four lowercase
/// letters.
private func isReverseName(_ literal: String) -> Bool {
  let parts = literal.trimmingPrefix("\"").split(separator: ".")
  return literal.hasPrefix("\"") && parts.count > 2 && (2...4).contains(parts[0].count)
    && parts[0].allSatisfy { $0.isLetter && $0.isLowercase }
}

/// Whether it's the class of a query, not one of a list of classes.
///
/// Either an element of a dictionary with the key `kSecClass`, or assigned to such an entry.
private func isInQuery(_ name: DeclReferenceExprSyntax, _ walk: SyntaxWalk) -> Bool {
  for node in name.ancestors {
    if let element = node.as(DictionaryElementSyntax.self) {
      return element.key.code.hasPrefix("kSecClass") && !namesApp(around: element, walk)
    }
    // A list of classes is looked through for each, as when all items are deleted.
    if node.is(ArrayElementSyntax.self) || node.is(CodeBlockItemSyntax.self) { break }
  }
  return name.ancestors.lazy.compactMap { $0.as(SequenceExprSyntax.self) }.first?.code.contains(
    "[kSecClass") ?? false
}
