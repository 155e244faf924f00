private let flaw = RuleID(id: "P01", name: "secret-in-preferences", level: .error)

extension Rule {
  static let secretInPreferences = Rule(
    flaw,
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
          flaw, "“\(name)” is a secret, and \(keeper) it in the clear; keep it in a keychain.",
          at: use.place, level: isUnused(use, in: index) ? .note : nil)
      }
    })
}

/// Whether no code of the project sets the value. One file alone, as an editor passes it, doesn't show that.
private func isUnused(_ use: PreferenceUse, in index: ProjectIndex) -> Bool {
  if use.isUnusedProperty { return true }
  guard let setter = use.setter, index.files.count > 1 else { return false }
  return !index.changedNames.contains(setter)
}

private func secretName(of use: PreferenceUse, in index: ProjectIndex) -> String? {
  guard use.access == .write || use.access == .wrapper, mayBeSecret(use) else { return nil }
  if let value = index.value(of: use.key) { return NameWords(value).nameSecret ? value : nil }
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

private func mayBeSecret(_ use: PreferenceUse) -> Bool {
  let harmless: Set = ["Bool", "Int", "Double", "Float", "Date", "UInt", "Int64", "TimeInterval"]
  if let type = use.valueType?.elementType, harmless.contains(type) { return false }
  guard let value = use.value else { return true }
  if use.access == .write, ["nil", "true", "false", #""""#].contains(value) { return false }
  // Values that are encrypted or hashed, and references to the keychain, are harmless.
  let words = NameWords(value)
  return !words.contains(anyOf: [
    "encrypted", "encrypt", "hash", "hashed", "digest", "sealed", "count", "bool", "date", "sealed",
    "reference",
  ])
}
