extension SecretService {
  /// The secret of a name, or nil when there is none.
  ///
  /// - Throws: ``SecretError``: `.locked`, `.notInitialized` or `.unavailable`.
  public func bytes(for id: SecretID) throws(SecretError) -> SecretBytes? {
    try unlocking { call throws(SecretError) in try call.bytes(id) }
  }

  /// What is known of a secret without reading it, or nil when there is none.
  ///
  /// - Throws: ``SecretError``: `.locked`, `.notInitialized` or `.unavailable`.
  public func item(for id: SecretID) throws(SecretError) -> SecretItem? {
    try unlocking { call throws(SecretError) in
      try call.newest(id)?.item(id.service, id.account)
    }
  }

  /// What is known of all secrets of a service, in the order of their accounts' UTF-8.
  ///
  /// It costs a message for each. Items of others that name the service and no account are left out.
  ///
  /// - Throws: ``SecretError``: `.locked`, `.notInitialized` or `.unavailable`.
  public func items(service: String) throws(SecretError) -> [SecretItem] {
    try SecretID.check(service, "service")
    return try unlocking { call throws(SecretError) in
      try call.all(["service": service])
    }
  }

  /// What is known of the secrets of all services that have these attributes, in the order of their services' and
  /// accounts' UTF-8.
  ///
  /// It costs a message for each. Items of others that name no service or no account are left out.
  ///
  /// - Throws: ``SecretError``: `.locked`, `.notInitialized` or `.unavailable`.
  public func items(matching attributes: [String: String]) throws(SecretError) -> [SecretItem] {
    for (name, value) in attributes where (name + value).utf8.contains(0) {
      throw SecretError(
        code: .invalidName, message: "No attribute has a NUL. Search for one that exists.")
    }
    return try unlocking { call throws(SecretError) in try call.all(attributes) }
  }

  /// Keeps a secret, if the write's condition holds among the programs that use this package.
  ///
  /// What describes an item is changed before its secret, in messages of their own: a process that is
  /// killed in between leaves the new label with the old secret.
  ///
  /// - Throws: ``SecretError``: `.duplicateItem`, `.notFound` or `.changed` when the condition does not
  ///   hold, `.tooLarge` above ``sizeLimit-swift.type.property``, `.unsupported` for every requirement,
  ///   `.locked`, `.notInitialized`, `.interactionRequired` or `.unavailable`.
  public func write(
    _ bytes: SecretBytes, for id: SecretID, _ write: SecretStoreWrite
  ) throws(SecretError) {
    try check(bytes, write)
    try unlocking { call throws(SecretError) in
      try writersLock.hold(until: call.deadline) { () throws(SecretError) in
        try call.write(bytes, for: id, write)
      }
    }
  }

  /// Removes a secret, and returns whether there was one.
  ///
  /// - Throws: ``SecretError``: `.locked`, `.notInitialized`, `.interactionRequired` or `.unavailable`.
  @discardableResult
  public func remove(_ id: SecretID) throws(SecretError) -> Bool {
    try unlocking { call throws(SecretError) in
      try writersLock.hold(until: call.deadline) { () throws(SecretError) in try call.remove(id) }
    }
  }

  /// Removes all secrets of a service, and returns how many there were.
  ///
  /// - Throws: ``SecretError`` as ``remove(_:)`` does; some may have been removed then.
  @discardableResult
  public func removeAll(service: String) throws(SecretError) -> Int {
    try SecretID.check(service, "service")
    return try unlocking { call throws(SecretError) in
      try writersLock.hold(until: call.deadline) { () throws(SecretError) in
        try call.removeAll(service)
      }
    }
  }

  /// Calls `body`, and once more after the item that it needs, or the user's collection, has been unlocked.
  private func unlocking<Result>(
    _ body: (ServiceCall) throws(SecretError) -> Result
  ) throws(SecretError) -> Result {
    var lockedItem: String?
    do throws(SecretError) {
      return try perform { call throws(SecretError) in
        defer { lockedItem = call.lockedItem }
        return try body(call)
      }
    } catch  where error.code == .locked {
      if let lockedItem, try unlock(item: lockedItem) { return try perform(body) }
      guard case .allowed(let time) = prompts else { throw error }
      try unlock(until: Deadline(in: time), ServiceCall.Cancellation())
      return try perform(body)
    }
  }

  /// Unlocks an item of a collection that is open, with a prompt where that needs one and may be shown; false
  /// when the collection is locked.
  ///
  /// KeePassXC asks its user about each program that reads a secret, and calls the item locked until then.
  private func unlock(item path: String) throws(SecretError) -> Bool {
    try perform { call throws(SecretError) in
      if try call.isLocked { return false }
      let reply = try call.call(
        ServiceName.path, ServiceName.service, "Unlock", [.paths([path])])
      try call.finish(prompt: call.need(reply[1]?.string))
      return true
    }
  }
}
