extension Inventory {
  private struct ItemIdentity: Hashable {
    let itemClass: String?
    let service: String?
    let account: String?
  }

  private struct FunctionIdentity: Hashable {
    let path: String
    let type: String
    let function: String
  }

  /// The keychain items: those in queries, and Codable values that go to a keychain in another way.
  func secrets() -> [KeptItem] {
    let uses = index.files.flatMap(\.keychain).filter { index.isShipped($0.place) }
    let codings = Dictionary(grouping: encodedSecrets) {
      FunctionIdentity(path: $0.place.path, type: $0.scopeType, function: $0.function)
    }
    let functions = Set(uses.map(function))
    let others = codings.filter { !functions.contains($0.key) }.values.joined()
    return Dictionary(grouping: uses, by: identity).compactMap { identity, uses in
      // What is only deleted isn't kept.
      guard uses.contains(where: { $0.operation != .delete }) else { return nil }
      let encoded = Set(uses.map(function)).flatMap { codings[$0] ?? [] }
      return item(identity, uses: uses, codings: encoded)
    } + secrets(Array(others))
  }

  private var encodedSecrets: [CodingUse] {
    shippedCodings.filter { if case .secret = $0.target { true } else { false } }
  }

  private func function(of use: KeychainUse) -> FunctionIdentity {
    FunctionIdentity(path: use.place.path, type: use.scopeType, function: use.function)
  }

  private func identity(of use: KeychainUse) -> ItemIdentity {
    ItemIdentity(
      itemClass: use.itemClass, service: use.service.map(text), account: use.account.map(text))
  }

  /// A string, or an expression in angle brackets.
  private func text(of key: KeyFact) -> String {
    index.value(of: key) ?? "<\(name(of: key))>"
  }

  private func item(_ identity: ItemIdentity, uses: [KeychainUse], codings: [CodingUse])
    -> KeptItem
  {
    let keychain = KeptItem.Keychain(
      itemClass: identity.itemClass.map(KeptItem.Keychain.title) ?? "item",
      service: identity.service, account: identity.account,
      accessibility: uses.lazy.compactMap(\.accessibility).first,
      isSynced: uses.contains(where: \.isSynced))
    let names = [identity.service, identity.account].compactMap(\.self)
    var item = KeptItem(
      kind: .secret, name: names.isEmpty ? keychain.itemClass : names.joined(separator: "/"),
      form: codings.isEmpty ? .plain : .encoded, type: codings.lazy.compactMap(type).first,
      places: uses.map(\.place) + uses.flatMap(\.queryPlaces) + codings.map(\.place))
    item.keychain = keychain
    item.isNameKnown = uses.contains { use in
      [use.service, use.account].allSatisfy { $0.map { index.value(of: $0) != nil } ?? true }
    }
    item.isSynced = keychain.isSynced
    item.writeCount = uses.count { [.add, .update].contains($0.operation) }
    item.readCount = uses.count { $0.operation == .read }
    return item
  }

  private func secrets(_ codings: [CodingUse]) -> [KeptItem] {
    Dictionary(grouping: codings) { type(of: $0) ?? $0.property ?? $0.function }.map {
      name, uses in
      var item = KeptItem(
        kind: .secret, name: name, form: .encoded, type: uses.lazy.compactMap(type).first,
        places: uses.map(\.place))
      item.writeCount = uses.count
      return item
    }
  }
}
