import SwiftSyntax

private let flaw = RuleID(id: "P26", name: "keychain-without-accessibility", level: .note)

extension Rule {
  static let keychainWithoutAccessibility = Rule(
    flaw,
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
        let certificates = file.keychain.filter { $0.itemClass == "kSecClassCertificate" }.map(
          \.place)
        return file.unprotectedItems.filter { !certificates.contains($0) }.map { place in
          Finding(
            flaw,
            "The item has no `kSecAttrAccessible`; say when and on which devices it may be read.",
            at: place)
        }
      }
    })
}

/// Whether a function has its own names for accessibility, which stand for the constants.
private func namesAccess(in scope: Syntax) -> Bool {
  scope.tokens(viewMode: .sourceAccurate).contains { token in
    guard case .identifier(let text) = token.tokenKind, text != "kSecUseDataProtectionKeychain"
    else { return false }
    return NameWords(text).contains(anyOf: ["accessible", "accessibility", "protection"])
  }
}

extension FileContext {
  /// The calls that add an item although neither the file nor the function says when it may be read.
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
