extension ServiceCall {
  /// Stores a secret; the caller holds the writers' lock.
  func write(
    _ secret: SecretBytes, for id: SecretID, _ write: SecretStoreWrite
  ) throws(SecretError) {
    try askForPath()
    let old = try newest(id)
    try write.condition.check(expected(write.condition, old), for: id)
    guard let old else { return try create(secret, for: id, write) }
    try item(old.path) { () throws(SecretError) in
      // The secret last: once it is stored, so is its description.
      if let attributes = write.attributes {
        let schema = old.attributes[ServiceName.schemaAttribute]
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
    _ condition: SecretStoreWrite.Condition, _ old: Found?
  ) throws(SecretError) -> SecretBytes? {
    guard let old else { return nil }
    if case .ifHolding = condition { return try self.secret(at: old.path) }
    return SecretBytes(copying: UnsafeRawBufferPointer(start: nil, count: 0))
  }

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
        [.properties(properties), encode(secret), .boolean(true)])
    }
    try finish(prompt: need(reply[1]?.string))
  }

  private static func attributes(
    _ id: SecretID, _ attributes: [String: String], _ schema: String?
  ) -> [String: String] {
    var all = attributes
    all["service"] = id.service
    all["account"] = id.account
    all[ServiceName.schemaAttribute] = schema
    return all
  }

  /// Removes all items of a name; the caller holds the writers' lock.
  func remove(_ id: SecretID) throws(SecretError) -> Bool {
    try askForPath()
    let paths = try search(id)
    if paths.isEmpty { try checkUnlocked() }
    var count = 0
    for path in paths where try remove(path) { count += 1 }
    return count > 0
  }

  /// Removes all items of a service that have an account, and returns the number of accounts.
  func removeAll(_ service: String) throws(SecretError) -> Int {
    try askForPath()
    let accounts = try all(["service": service]).map(\.account)
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
      prompt = try need(call(path, ServiceName.item, "Delete")[0]?.string)
    } catch  where error.busKind == .noObject {
      return false
    }
    try finish(prompt: prompt)
    return true
  }
}
