/// Collects what a project keeps from the facts of its files.
///
/// The uses of one key, file or keychain item are grouped by an identity, and each group becomes a
/// ``KeptItem``. The encodings of Codable values join the group of the key or file that they go to.
///
/// Items of tests and previews are left out, and so is what is only deleted: it is no longer kept.
///
/// It is made for one survey. Each kind of item costs a pass over its facts and a dictionary of
/// their identities.
struct Inventory {
  let index: ProjectIndex
  /// The names of the models that sync with CloudKit.
  private let synced: Set<String>

  init(_ index: ProjectIndex) {
    self.index = index
    synced = Set(index.cloudModels?.models.map(\.name) ?? [])
  }

  /// All items except those of tests and previews, in the order of their places.
  ///
  /// Grouping is by dictionaries, whose order differs from run to run. Sorted, the same files give
  /// the same list.
  func items() -> [KeptItem] {
    (preferences() + models() + files() + secrets()).sorted { one, other in
      guard let first = one.places.first, let second = other.places.first else { return false }
      // The name last, since a line can use several keys.
      return (first.path, first.line, one.name) < (second.path, second.line, other.name)
    }
  }

  // MARK: - Keys

  /// What makes two uses of a key the same item: the store and the key's string.
  private struct KeyIdentity: Hashable {
    let store: PreferenceUse.Store
    let name: String
  }

  /// The keys of preferences and of iCloud's store, each with all of its uses in the project. Registering a default,
  /// observing and synchronizing keep nothing.
  private func preferences() -> [KeptItem] {
    let uses = index.preferences.filter {
      index.isShipped($0.place) && ![.register, .synchronize, .observe].contains($0.access)
    }
    // A coding whose target is no key has the identity nil, which no item asks for.
    let codings = Dictionary(grouping: shippedCodings) { identity(of: $0) }
    return Dictionary(grouping: uses) { KeyIdentity(store: $0.store, name: name(of: $0.key)) }.map {
      identity, uses in
      key(identity, uses: uses, codings: codings[identity] ?? [])
    }
  }

  /// A key's item. Its type is that of an encoded value if there is one: the key itself then has bytes.
  private func key(
    _ identity: KeyIdentity, uses: [PreferenceUse], codings: [CodingUse]
  ) -> KeptItem {
    // The first in the order of the source, so that each run shows the same one of several types.
    let type = codings.lazy.compactMap(type).first ?? uses.lazy.compactMap(valueType).first
    var item = KeptItem(
      kind: identity.store == .cloud ? .cloudValue : .preference, name: identity.name,
      form: form(of: type, isEncoded: !codings.isEmpty), type: type,
      // With the place where a list grows, so that P08's finding there joins the item.
      places: uses.map(\.place) + codings.map(\.place) + codings.compactMap(\.growth))
    item.add(codings)
    item.isSynced = identity.store == .cloud
    item.isNameKnown = uses.contains { index.value(of: $0.key) != nil }
    // A wrapped property is one place that does both.
    item.writeCount = uses.count { [.write, .wrapper].contains($0.access) }
    item.readCount = uses.count { [.read, .wrapper].contains($0.access) }
    return item
  }

  /// The key's string if the project shows it, and otherwise its source.
  ///
  /// Two keys that the project doesn't show are one item only if their sources are equal.
  func name(of key: KeyFact) -> String {
    if let value = index.value(of: key) { return value }
    switch key {
    case .literal(let value): return value
    case .reference(let name, _): return name
    case .other(let text): return text
    }
  }

  /// The key that a coding's bytes are under; nil if they are elsewhere.
  private func identity(of use: CodingUse) -> KeyIdentity? {
    guard case .preference(let key) = use.target else { return nil }
    return KeyIdentity(store: .preferences, name: name(of: key))
  }

  /// The type of a use's value, or the one that the method reads.
  ///
  /// The methods return these types whatever was written, so they are what the program works with.
  private func valueType(of use: PreferenceUse) -> String? {
    if let type = use.valueType { return type }
    guard use.access == .read else { return nil }
    switch use.method {
    case "bool": return "Bool"
    case "integer", "longLong": return "Int"
    case "double": return "Double"
    case "float": return "Float"
    case "string": return "String"
    case "stringArray": return "[String]"
    case "data": return "Data"
    case "url": return "URL"
    case "array": return "[Any]"
    case "dictionary": return "[String: Any]"
    default: return nil
    }
  }

  // MARK: - Codable values

  /// The codings in code that users run.
  var shippedCodings: [CodingUse] { index.codings.filter { index.isShipped($0.place) } }

  /// The type of an encoded or decoded value, by the file itself, or else by a property that the
  /// index knows.
  func type(of use: CodingUse) -> String? {
    use.type ?? use.property.flatMap { index.type(of: $0, in: use.scopeType) }
  }

  /// The form of a value that is written whole.
  private func form(of type: String?, isEncoded: Bool) -> KeptItem.Form {
    guard isEncoded else { return .plain }
    return type?.isListType == true ? .encodedList : .encoded
  }

  // MARK: - Models

  /// The models of SwiftData and of Core Data, without copies in earlier schemas.
  private func models() -> [KeptItem] {
    // Only classes in the source: what Xcode generates from a data model isn't there.
    let objects = index.files.flatMap(\.types).filter { $0.inherited.contains("NSManagedObject") }
    return index.models.filter { index.isShipped($0.place) && !index.isFrozen($0) }.map(model)
      + objects.filter { index.isShipped($0.place) }.map {
        KeptItem(
          kind: .managedObject, name: $0.name, form: .records, type: nil, places: [$0.place])
      }
  }

  /// A model's item, with the counts and the large properties that advice needs.
  private func model(_ model: TypeFact) -> KeptItem {
    var shape = KeptItem.Shape()
    for property in model.properties where property.isStored {
      shape.propertyCount += 1
      // A property leads to a model if its type is one. Whether it is a list or optional makes no
      // difference.
      if index.destination(of: property, in: model) != nil { shape.relationshipCount += 1 }
      guard property.type?.elementType == "Data" else { continue }
      if property.attribute("Attribute")?.text.contains(".externalStorage") == true {
        shape.externalData.append(property.name)
      } else {
        shape.inlineData.append(property.name)
      }
    }
    var item = KeptItem(
      kind: .model, name: model.name, form: .records, type: nil,
      // With all properties, at which most rules about models report.
      places: [model.place] + model.properties.map(\.place))
    item.shape = shape
    item.isSynced = synced.contains(model.name)
    return item
  }

  // MARK: - Files

  /// What makes two uses of a file the same item. The target is a `fileTarget`.
  private struct FileIdentity: Hashable {
    let path: String
    let type: String
    let target: String
  }

  /// The files that are written, or that Codable values go to or come from. One file is one expression in one type of
  /// one source file: the same name elsewhere is another file.
  private func files() -> [KeptItem] {
    var codings: [FileIdentity: [CodingUse]] = [:]
    for use in shippedCodings {
      guard case .file(let target) = use.target else { continue }
      codings[FileIdentity(path: use.place.path, type: use.scopeType, target: target), default: []]
        .append(use)
    }
    let written = index.files.flatMap(\.writtenFiles).filter { index.isShipped($0.place) }
    let writes = Dictionary(grouping: written) {
      // The targets of codings have this form already.
      FileIdentity(path: $0.place.path, type: $0.scopeType, target: $0.target.fileTarget)
    }
    return Set(codings.keys).union(writes.keys).map {
      file($0.target, codings: codings[$0] ?? [], writes: writes[$0] ?? [])
    }
  }

  /// A file's item. It is media only if nothing is encoded into it.
  private func file(_ target: String, codings: [CodingUse], writes: [FileUse]) -> KeptItem {
    let type = codings.lazy.compactMap(type).first
    let isMedia = codings.isEmpty && writes.contains(where: \.isMedia)
    var item = KeptItem(
      kind: .file, name: target,
      form: isMedia ? .media : form(of: type, isEncoded: !codings.isEmpty),
      type: type, places: codings.map(\.place) + writes.map(\.place))
    item.add(codings)
    let directory = writes.lazy.compactMap(\.directory).first
    item.directory = directory?.rawValue
    // A coding knows more than the directory: the type around it may build the file again.
    item.isFleeting =
      directory == .caches || directory == .temporary || codings.contains(where: \.isFleeting)
    item.writeCount = writes.count
    // Only decodings count as reads: a file that is read in another way has no fact.
    item.readCount = codings.count(where: \.isDecoding)
    return item
  }
}

extension KeptItem {
  /// Adds what the encodings of a list show.
  ///
  /// A list from which elements are removed counts as one that the user edits, and not as
  /// unlimited.
  fileprivate mutating func add(_ codings: [CodingUse]) {
    limit = codings.lazy.compactMap(\.list?.limit).first
    isUnlimited =
      limit == nil && codings.contains { $0.growth != nil && $0.list?.isEdited != true }
    isSearched = codings.contains { $0.list?.isSearched == true }
  }
}

// MARK: - Secrets

extension Inventory {
  /// What makes two queries about the same keychain item: as in the keychain itself, class, service
  /// and account.
  private struct ItemIdentity: Hashable {
    let itemClass: String?
    let service: String?
    let account: String?
  }

  /// A function by its file, its type and its name, in which a query and an encoding meet.
  private struct FunctionIdentity: Hashable {
    let path: String
    let type: String
    let function: String
  }

  /// The keychain items: those in queries, and Codable values that go to a keychain in another way.
  ///
  /// A value that is encoded in the function of a query belongs to the query's item. Any other one
  /// went to a keychain through a wrapper, and is an item by itself.
  func secrets() -> [KeptItem] {
    let uses = index.files.flatMap(\.keychain).filter { index.isShipped($0.place) }
    let codings = Dictionary(grouping: encodedSecrets) {
      FunctionIdentity(path: $0.place.path, type: $0.scopeType, function: $0.function)
    }
    let functions = Set(uses.map(function))
    // Those in a function with a query are added to its item below.
    let others = codings.filter { !functions.contains($0.key) }.values.joined()
    return Dictionary(grouping: uses, by: identity).compactMap { identity, uses in
      // What is only deleted isn't kept.
      guard uses.contains(where: { $0.operation != .delete }) else { return nil }
      let encoded = Set(uses.map(function)).flatMap { codings[$0] ?? [] }
      return item(identity, uses: uses, codings: encoded)
    } + secrets(Array(others))
  }

  /// The encodings whose functions write to a keychain.
  private var encodedSecrets: [CodingUse] {
    shippedCodings.filter { if case .secret = $0.target { true } else { false } }
  }

  /// The function around a query.
  private func function(of use: KeychainUse) -> FunctionIdentity {
    FunctionIdentity(path: use.place.path, type: use.scopeType, function: use.function)
  }

  /// The item that a query is about, as far as the source shows. What it doesn't show is nil, and
  /// groups with nil.
  private func identity(of use: KeychainUse) -> ItemIdentity {
    ItemIdentity(
      itemClass: use.itemClass, service: use.service.map(text), account: use.account.map(text))
  }

  /// A string, or an expression in angle brackets.
  ///
  /// The brackets keep an expression `service` apart from a service with that name.
  private func text(of key: KeyFact) -> String {
    index.value(of: key) ?? "<\(name(of: key))>"
  }

  /// A keychain item, by its class, service and account.
  ///
  /// The places include the constants in its queries, on whose lines P27 and P30 report, so that
  /// their findings join the item.
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
    // One query in which all that is set is known is enough; the others are about the same item.
    item.isNameKnown = uses.contains { use in
      [use.service, use.account].allSatisfy { $0.map { index.value(of: $0) != nil } ?? true }
    }
    item.isSynced = keychain.isSynced
    item.writeCount = uses.count { [.add, .update].contains($0.operation) }
    item.readCount = uses.count { $0.operation == .read }
    return item
  }

  /// The Codable values that go to a keychain through a wrapper, by their type.
  ///
  /// Without a type the property's name stands for it, and without that the function's.
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
