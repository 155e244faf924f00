private let flaw = RuleID(id: "P03", name: "secret-inside-codable", level: .warning)

extension Rule {
  static let secretInsideCodable = Rule(
    flaw,
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
          flaw,
          "`\(type)` has the secret `\(secret)`, which \(kept) keeps in the clear; move it to a keychain.",
          at: use.place)
      }
    })
}

private func destination(_ target: CodingUse.Target) -> String? {
  switch target {
  case .preference: "a preference"
  case .file: "a file"
  case .cloud: "the cloud"
  case .secret, .unknown: nil
  }
}

private func type(of use: CodingUse, in index: ProjectIndex) -> String? {
  (use.type ?? use.property.flatMap { index.type(of: $0, in: use.scopeType) })?.payloadType
}

/// The path of a secret in a Codable type, or in the types of its properties.
private func secret(in type: String, index: ProjectIndex, scope: String, depth: Int) -> String? {
  let declarations = index.declarations(of: type, in: scope)
  let isCodable = declarations.contains {
    !$0.inherited.allSatisfy { !["Codable", "Encodable"].contains($0) }
  }
  guard depth < 3, isCodable, let name = declarations.first?.name else { return nil }
  let keys = index.declarations(of: "CodingKeys", in: name).first {
    $0.name == name + ".CodingKeys"
  }?.cases
  for property in declarations.flatMap(\.properties) where isEncoded(property, keys: keys) {
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

private func isEncoded(_ property: PropertyFact, keys: [String]?) -> Bool {
  !property.isStatic && !property.isComputed && keys?.contains(property.name) != false
}
