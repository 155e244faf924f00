import Foundation

extension ServiceCall {
  /// The number of searches for an item that disappears between the search and the read.
  private static let attemptLimit = 3

  /// The properties of an item when it was read.
  struct FoundItem {
    let path: String
    let label: String
    let attributes: [String: String]
    let created: UInt64
    let modified: UInt64

    /// Whether another item of the same name takes precedence: the one changed later.
    ///
    /// Times are in seconds. Within one second the item created later counts: services number their paths
    /// upwards, and of two numbers the one with more digits is larger.
    func isOlder(than other: FoundItem) -> Bool {
      (modified, path.utf8.count, path) < (other.modified, other.path.utf8.count, other.path)
    }

    /// The attributes that this package's user set besides service and account.
    var ownAttributes: [String: String] {
      attributes.filter { !SecretStoreWrite.reservedNames.contains($0.key) }
    }

    func item(_ service: String, _ account: String) -> SecretItem {
      func date(_ seconds: UInt64) -> Date? {
        seconds == 0 ? nil : Date(timeIntervalSince1970: Double(seconds))
      }
      return SecretItem(
        service: service, account: account, label: label, attributes: ownAttributes,
        created: date(created), modified: date(modified))
    }
  }

  /// The paths of the items that have all of these attributes, locked ones included.
  ///
  /// An empty result doesn't mean that the item is missing; see ``checkUnlocked()``.
  func search(_ attributes: [String: String]) throws(SecretError) -> [String] {
    let first = try path
    do throws(SecretError) {
      return try searchOnce(attributes)
    } catch  where error.code == .notInitialized {
      // The cached alias may stand for a collection that was deleted. If it resolves to the same path again, the
      // collection is missing indeed.
      guard try resolvePathAgain() != first else { throw error }
      return try searchOnce(attributes)
    }
  }

  private func searchOnce(_ attributes: [String: String]) throws(SecretError) -> [String] {
    try withCollection { path throws(SecretError) in
      let reply = try call(
        path, ServiceName.collection, "SearchItems", [.strings(attributes)])
      return try require(reply[0]?.strings)
    }
  }

  func search(_ id: SecretID) throws(SecretError) -> [String] {
    try search(["service": id.service, "account": id.account])
  }

  /// Loads the properties of the item at a path, not its secret; nil when it has disappeared.
  ///
  /// - Throws: ``SecretError``: `.locked` when the collection is locked, since the attributes are hashes
  ///   then. If only the item is locked, they are the item's own.
  func load(_ path: String) throws(SecretError) -> FoundItem? {
    do throws(SecretError) {
      let reply = try call(
        path, ServiceName.properties, "GetAll", [.string(ServiceName.item)])
      let properties = try require(reply[0]?.properties)
      // The item's own property costs no message; the collection is asked only if it says so.
      if properties["Locked"]?.boolean == true { try checkUnlocked() }
      return FoundItem(
        path: path, label: properties["Label"]?.string ?? "",
        attributes: try require(properties["Attributes"]?.dictionary),
        created: properties["Created"]?.uint64 ?? 0, modified: properties["Modified"]?.uint64 ?? 0)
    } catch  where error.busKind == .noObject {
      return nil
    }
  }

  /// The item of a name that takes precedence over others of that name; nil when the collection is open and
  /// has none.
  func newest(_ id: SecretID) throws(SecretError) -> FoundItem? {
    var newest: FoundItem?
    for path in try search(id) {
      // Nil is an item that disappeared since the search, and no error.
      guard let found = try load(path) else { continue }
      if newest?.isOlder(than: found) ?? true { newest = found }
    }
    if newest == nil { try checkUnlocked() }
    return newest
  }

  /// Reads the secret of the item at a path.
  func secret(at path: String) throws(SecretError) -> SecretBytes {
    try recordingLockedItem(path) { () throws(SecretError) in
      let reply = try call(
        path, ServiceName.item, "GetSecret", [.path(connection.session.path)])
      return try decode(require(reply[0]))
    }
  }

  /// The secret of a name; nil when the collection is open and has none.
  ///
  /// An item that disappears between the search and the read is searched again: programs that replace a secret by
  /// removing it and creating another one would otherwise make reads fail.
  func bytes(_ id: SecretID) throws(SecretError) -> SecretBytes? {
    for _ in 0..<Self.attemptLimit {
      let paths = try search(id)
      // Usually there is one item, and its properties are not needed to read it.
      let path = paths.count == 1 ? paths[0] : try newest(id)?.path
      guard let path else { return nil }
      do throws(SecretError) {
        return try secret(at: path)
      } catch  where error.busKind == .noObject {
        continue
      }
    }
    throw SecretError(BusFailure(.noObject))
  }

  /// The items with these attributes that have a service and an account, the newest of each name, sorted by the
  /// UTF-8 of their names.
  func items(_ attributes: [String: String]) throws(SecretError) -> [SecretItem] {
    var all: [SecretID: FoundItem] = [:]
    for path in try search(attributes) {
      renewDeadline()
      // Other programs' services and accounts may be names that this package cannot use.
      guard let found = try load(path), let service = found.attributes["service"],
        let account = found.attributes["account"],
        let id = try? SecretID(service: service, account: account)
      else { continue }
      if all[id]?.isOlder(than: found) ?? true { all[id] = found }
    }
    if all.isEmpty { try checkUnlocked() }
    return all.map { $1.item($0.service, $0.account) }.sorted { $0.precedes($1) }
  }
}

// MARK: - Writing

extension ServiceCall {
  /// Stores a secret. Requires the writers' lock.
  ///
  /// An existing item is changed in place, so that its path, its creation date and the references of other programs
  /// stay valid. Of several items of the name only the newest changes.
  func write(
    _ secret: SecretBytes, for id: SecretID, _ write: SecretStoreWrite
  ) throws(SecretError) {
    try resolvePathAgain()
    let old = try newest(id)
    try write.condition.check(expected(write.condition, old), for: id)
    guard let old else { return try create(secret, for: id, write) }
    try recordingLockedItem(old.path) { () throws(SecretError) in
      // The secret last: if the process is killed in between, no new secret has an old description.
      if let attributes = write.attributes {
        let schema = old.attributes[ServiceName.schemaAttribute]
        // `Set` replaces all attributes, so those that name the item go with them.
        try setProperty(
          old.path, ServiceName.item, "Attributes",
          .strings(Self.attributes(id, attributes, schema)))
      }
      if let label = write.label {
        try setProperty(old.path, ServiceName.item, "Label", .string(label))
      }
      try call(old.path, ServiceName.item, "SetSecret", [encode(secret)])
    }
  }

  /// The secret to compare with a condition, which is read only if it matters.
  private func expected(
    _ condition: SecretStoreWrite.Condition, _ old: FoundItem?
  ) throws(SecretError) -> SecretBytes? {
    guard let old else { return nil }
    // Otherwise only its existence counts, and reading it could prompt the user.
    if case .ifHolding = condition { return try self.secret(at: old.path) }
    return SecretBytes(copying: UnsafeRawBufferPointer(start: nil, count: 0))
  }

  /// Creates an item of the generic schema.
  private func create(
    _ secret: SecretBytes, for id: SecretID, _ write: SecretStoreWrite
  ) throws(SecretError) {
    let properties: [String: BusValue] = [
      "\(ServiceName.item).Label": .string(write.label ?? id.defaultLabel),
      "\(ServiceName.item).Attributes": .strings(
        Self.attributes(id, write.attributes ?? [:], ServiceName.schema)),
    ]
    let reply = try withCollection { path throws(SecretError) in
      try call(
        path, ServiceName.collection, "CreateItem",
        // True replaces an item with the same attributes, which another program may have created meanwhile.
        [.properties(properties), encode(secret), .boolean(true)])
    }
    try complete(prompt: require(reply[1]?.string))
  }

  /// All attributes of an item. The schema stays that of the program that created the item.
  private static func attributes(
    _ id: SecretID, _ attributes: [String: String], _ schema: String?
  ) -> [String: String] {
    var all = attributes
    all["service"] = id.service
    all["account"] = id.account
    all[ServiceName.schemaAttribute] = schema
    return all
  }

  /// Removes all items of a name, not only the newest, which would bring back an older secret. Requires the
  /// writers' lock.
  func remove(_ id: SecretID) throws(SecretError) -> Bool {
    try resolvePathAgain()
    let paths = try search(id)
    if paths.isEmpty { try checkUnlocked() }
    var count = 0
    for path in paths where try remove(path) { count += 1 }
    // Of what was removed and not of what was found: another program may have been faster.
    return count > 0
  }

  /// Removes all items of a service that have an account, and returns the number of accounts. Requires the writers'
  /// lock.
  func removeAll(_ service: String) throws(SecretError) -> Int {
    try resolvePathAgain()
    // By account, so that items of the service without one, which other programs have made, stay.
    let accounts = try items(["service": service]).map(\.account)
    for account in accounts {
      renewDeadline()
      for path in try search(["service": service, "account": account]) { _ = try remove(path) }
    }
    return accounts.count
  }

  /// Returns whether the item existed.
  private func remove(_ path: String) throws(SecretError) -> Bool {
    let prompt: String
    do throws(SecretError) {
      prompt = try require(call(path, ServiceName.item, "Delete")[0]?.string)
    } catch  where error.busKind == .noObject {
      return false
    }
    try complete(prompt: prompt)
    return true
  }
}
