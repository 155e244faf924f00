// MARK: - P01 secret-in-preferences

private let p01 = RuleID(id: "P01", name: "secret-in-preferences", level: .error)

extension Rule {
  /// Writes and wrapped properties whose key or value names a secret.
  ///
  /// It needs the index, since a key is often a constant of another file, and since whether
  /// anything still sets a property is a question to all files.
  static let secretInPreferences = Rule(
    p01,
    summary:
      "A value whose key names a secret is written to preferences or to iCloud's key-value store.",
    why: """
      Preferences are an unencrypted property list. Backups copy it, and every program of the user can read it. A \
      password, a token or an API key belongs in a keychain.
      """,
    bad: #"UserDefaults.standard.set(token, forKey: "accessToken")"#,
    good: #"try Secrets(service: "com.example.app").set(Data(token.utf8), for: "accessToken")"#,
    avoids: [
      "Names whose last noun isn't the secret: `biweeklyPasswordVerifyDate`, `tokenCount`, `hasPassword`.",
      "Tokens that aren't secrets, such as those of push services, histories, pages and StoreKit accounts.",
      "Flags, numbers and dates, whatever their key is.",
      "A view's wrapped property that its file never uses, and a property that nothing sets any more: a note.",
      "Reading and removing, as in code that moves a secret to the keychain.",
    ],
    inProject: { index in
      index.preferences.compactMap { use in
        guard let name = secretName(of: use, in: index) else { return nil }
        let keeper =
          use.store == .cloud ? "iCloud's key-value store keeps" : "preferences keep"
        return Finding(
          p01, "“\(name)” is a secret, and \(keeper) it in the clear; keep it in a keychain.",
          at: use.place, level: isUnused(use, in: index) ? .note : nil)
      }
    })
}

/// Whether no code of the project sets the value. One file alone, as an editor passes it, doesn't
/// show that.
///
/// The names that files change have no types, so a property counts as set if any file changes one
/// of its name.
private func isUnused(_ use: PreferenceUse, in index: ProjectIndex) -> Bool {
  if use.isUnusedProperty { return true }
  guard let setter = use.setter, index.files.count > 1 else { return false }
  return !index.changedNames.contains(setter)
}

/// The name of the secret that a use writes: its key's value, the constant's name, or the value's
/// name.
///
/// A key that is known decides alone, so `set(password, forKey: "selectedCharacters")` has none.
/// The name of a written variable counts only where the key isn't known.
private func secretName(of use: PreferenceUse, in index: ProjectIndex) -> String? {
  guard use.access == .write || use.access == .wrapper, mayBeSecret(use) else { return nil }
  if let value = index.value(of: use.key) { return NameWords(value).nameSecret ? value : nil }
  // The constant's own name, where its value isn't in the project: `Keys.accessToken`.
  if case .reference(let name, _) = use.key, name.contains("."),
    NameWords(name.lastComponent).nameSecret
  {
    return name.lastComponent
  }
  return secretValue(of: use)
}

/// The name of the value that is written under an unknown key. A bare `token` can be any token.
private func secretValue(of use: PreferenceUse) -> String? {
  guard use.access == .write, let value = use.value,
    value.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." })
  else { return nil }
  let name = value.lastComponent
  return name.lowercased() != "token" && NameWords(name).nameSecret ? name : nil
}

/// Whether the written value can be a secret, by its type and the words in it.
///
/// Reading and removing never come here, so code that moves a secret to a keychain is left alone.
private func mayBeSecret(_ use: PreferenceUse) -> Bool {
  // A flag or a number can't give access to anything, whatever its key is called.
  let harmless: Set = ["Bool", "Int", "Double", "Float", "Date", "UInt", "Int64", "TimeInterval"]
  if let type = use.valueType?.elementType, harmless.contains(type) { return false }
  guard let value = use.value else { return true }
  // These clear the value, or are a flag.
  if use.access == .write, ["nil", "true", "false", #""""#].contains(value) { return false }
  // Values that are encrypted or hashed, and references to the keychain, are harmless.
  let words = NameWords(value)
  return !words.contains(anyOf: [
    "encrypted", "encrypt", "hash", "hashed", "digest", "sealed", "count", "bool", "date", "sealed",
    "reference",
  ])
}

// MARK: - P02 secret-in-model

private let p02 = RuleID(id: "P02", name: "secret-in-model", level: .warning)

extension Rule {
  /// Stored strings and bytes of models whose name is that of a secret.
  ///
  /// The property's name and type are the only signs; what a program puts into it isn't followed.
  static let secretInModel = Rule(
    p02,
    summary: "A string or data property of a `@Model` class has the name of a secret.",
    why: """
      A store is an unencrypted SQLite file, and its rows go to backups and to every device that syncs. A deleted \
      secret stays in free pages and in logs.
      """,
    bad: """
      @Model final class Account {
        var name = ""
        var password = ""
      }
      """,
    good: """
      @Model final class Account {
        var name = ""
        /// The password's name in the keychain.
        var passwordReference = UUID()
      }
      """,
    avoids: [
      "References to secrets, and their hashes, counts and dates.",
      "Properties that are encrypted, transformed, transient or computed.",
      "Copies of models in earlier schemas, which must stay as they were.",
    ],
    inProject: { index in
      index.models.filter { !index.isFrozen($0) }.flatMap { model in
        model.properties.filter(isSecret).map { property in
          Finding(
            p02,
            "`\(property.name)` keeps a secret in the store, which isn't encrypted; keep the secret in a keychain, and its name here.",
            at: property.place)
        }
      }
    })
}

/// Whether a model keeps a secret in a property, readable for whoever has the file.
private func isSecret(_ property: PropertyFact) -> Bool {
  // Numbers, dates and identifiers about a secret aren't one.
  guard property.isStored, let type = property.type?.elementType, type == "String" || type == "Data"
  else { return false }
  let attribute = property.attribute("Attribute")?.text ?? ""
  // A transformer may encrypt, and what is ephemeral isn't in the store. `ncrypt` is in
  // `allowsCloudEncryption` and in `encrypted`.
  return !attribute.contains("transformable") && !attribute.contains("ncrypt")
    && !attribute.contains("ephemeral")
    && NameWords(property.name).nameSecret
}

// MARK: - P03 secret-inside-codable

private let p03 = RuleID(id: "P03", name: "secret-inside-codable", level: .warning)

extension Rule {
  /// Encodings of a type with a secret among its fields, into anything but a keychain.
  ///
  /// It follows the fields' types through the index, since the type, its conformance and its fields
  /// are often in different files.
  static let secretInsideCodable = Rule(
    p03,
    summary:
      "A Codable type with a secret property is encoded into preferences, a file or the cloud.",
    why: """
      The secret is written unencrypted with everything else, although neither the key nor the file name shows that.
      """,
    bad: """
      struct Session: Codable { var user: String; var accessToken: String }

      func save(_ session: Session) throws {
        UserDefaults.standard.set(try JSONEncoder().encode(session), forKey: "session")
      }
      """,
    good: """
      struct Session: Codable { var user: String }

      func save(_ session: Session, accessToken: Data) throws {
        try secrets.set(accessToken, for: session.user)
        UserDefaults.standard.set(try JSONEncoder().encode(session), forKey: "session")
      }
      """,
    avoids: [
      "Types whose `CodingKeys` omit the secret.",
      "Bytes that go to a keychain, or into a request.",
      "Flags, numbers and dates about secrets: only strings and bytes count.",
    ],
    inProject: { index in
      index.codings.compactMap { use in
        guard !use.isDecoding, let kept = destination(use.target),
          let type = type(of: use, in: index),
          let secret = secret(in: type, index: index, scope: use.scopeType, depth: 0)
        else { return nil }
        return Finding(
          p03,
          "`\(type)` has the secret `\(secret)`, which \(kept) keeps in the clear; move it to a keychain.",
          at: use.place)
      }
    })
}

/// What keeps the bytes, for the message; nil for a keychain, and for a target that isn't known,
/// such as a request.
private func destination(_ target: CodingUse.Target) -> String? {
  switch target {
  case .preference: "a preference"
  case .file: "a file"
  case .cloud: "the cloud"
  case .secret, .unknown: nil
  }
}

/// The encoded type, or that of a list's elements or a dictionary's values.
private func type(of use: CodingUse, in index: ProjectIndex) -> String? {
  (use.type ?? use.property.flatMap { index.type(of: $0, in: use.scopeType) })?.payloadType
}

/// The path of a secret in a Codable type, or in the types of its properties.
///
/// - Parameter depth: How many types lead here. Three levels are followed, so types that contain
///   each other end the search.
private func secret(in type: String, index: ProjectIndex, scope: String, depth: Int) -> String? {
  let declarations = index.declarations(of: type, in: scope)
  // `Decodable` alone isn't enough: such a type is never written.
  let isCodable = declarations.contains {
    !$0.inherited.allSatisfy { !["Codable", "Encodable"].contains($0) }
  }
  guard depth < 3, isCodable, let name = declarations.first?.name else { return nil }
  // The lookup also finds the keys of a type around this one, so the full name has to match.
  let keys = index.declarations(of: "CodingKeys", in: name).first {
    $0.name == name + ".CodingKeys"
  }?.cases
  for property in declarations.flatMap(\.properties) where isEncoded(property, keys: keys) {
    // A field without a type in the source may be anything, and is passed over.
    guard let own = property.type?.payloadType else { continue }
    if own == "String" || own == "Data", NameWords(property.name).nameSecret {
      return property.name
    }
    if let inner = secret(in: own, index: index, scope: name, depth: depth + 1) {
      return property.name + "." + inner
    }
  }
  return nil
}

/// Whether the synthesized `encode(to:)` writes a property.
///
/// - Parameter keys: The cases of the type's `CodingKeys`; nil if the compiler makes them, and
///   every field counts then.
private func isEncoded(_ property: PropertyFact, keys: [String]?) -> Bool {
  !property.isStatic && !property.isComputed && keys?.contains(property.name) != false
}
