import Foundation

extension SecretService {
  /// The secret of a name, or nil if none exists.
  ///
  /// - Throws: ``SecretError``: `.locked`, `.notInitialized` or `.unavailable`.
  public func bytes(for id: SecretID) throws(SecretError) -> SecretBytes? {
    try unlocking { call throws(SecretError) in try call.bytes(id) }
  }

  /// A secret's metadata, or nil if none exists; the secret itself isn't read.
  ///
  /// - Throws: ``SecretError``: `.locked`, `.notInitialized` or `.unavailable`.
  public func item(for id: SecretID) throws(SecretError) -> SecretItem? {
    try unlocking { call throws(SecretError) in
      try call.newest(id)?.item(id.service, id.account)
    }
  }

  /// The metadata of all secrets of a service, sorted by their accounts' UTF-8.
  ///
  /// It costs a message for each. Other programs' items with the service but no account are omitted.
  ///
  /// - Throws: ``SecretError``: `.locked`, `.notInitialized` or `.unavailable`.
  public func items(service: String) throws(SecretError) -> [SecretItem] {
    try SecretID.check(service, "service")
    return try unlocking { call throws(SecretError) in
      try call.items(["service": service])
    }
  }

  /// The metadata of the secrets of all services that have these attributes, sorted by the UTF-8 of their
  /// services and accounts.
  ///
  /// It costs a message for each. Other programs' items without a service or an account are omitted.
  ///
  /// - Throws: ``SecretError``: `.locked`, `.notInitialized` or `.unavailable`.
  public func items(matching attributes: [String: String]) throws(SecretError) -> [SecretItem] {
    for (name, value) in attributes where (name + value).utf8.contains(0) {
      // GLib's strings end at a NUL: the search would be for a shorter text, and find other items.
      throw SecretError(
        code: .invalidName, message: "An attribute cannot contain a NUL. Search without one.")
    }
    return try unlocking { call throws(SecretError) in try call.items(attributes) }
  }

  /// Stores a secret, if the write's condition holds among the programs that use this package.
  ///
  /// The item's description is changed before its secret, in separate messages: a process that is killed in
  /// between leaves the new label with the old secret.
  ///
  /// - Throws: ``SecretError``: `.duplicateItem`, `.notFound` or `.changed` when the condition does not
  ///   hold, `.tooLarge` above ``sizeLimit-swift.type.property``, `.unsupported` for every requirement,
  ///   `.locked`, `.notInitialized`, `.interactionRequired` or `.unavailable`.
  public func write(
    _ bytes: SecretBytes, for id: SecretID, _ write: SecretStoreWrite
  ) throws(SecretError) {
    try check(bytes, write)
    try unlocking { call throws(SecretError) in
      // The lock within `unlocking`: no other program waits for it while a person unlocks the collection.
      try writersLock.hold(until: call.deadline) { () throws(SecretError) in
        try call.write(bytes, for: id, write)
      }
    }
  }

  /// Removes a secret, and returns whether it existed.
  ///
  /// - Throws: ``SecretError``: `.locked`, `.notInitialized`, `.interactionRequired` or `.unavailable`.
  @discardableResult
  public func remove(_ id: SecretID) throws(SecretError) -> Bool {
    try unlocking { call throws(SecretError) in
      try writersLock.hold(until: call.deadline) { () throws(SecretError) in try call.remove(id) }
    }
  }

  /// Removes all secrets of a service, and returns their number.
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

  /// Calls `body`. If it finds the collection or an item locked, unlocks what is locked, as far as that is allowed,
  /// and calls `body` once more.
  ///
  /// Each attempt has the whole ``timeout``, since the time of a prompt counts separately.
  private func unlocking<Result>(
    _ body: (ServiceCall) throws(SecretError) -> Result
  ) throws(SecretError) -> Result {
    var lockedItem: String?
    do throws(SecretError) {
      return try perform { call throws(SecretError) in
        // Also when `body` throws, which is when it matters.
        defer { lockedItem = call.lockedItem }
        return try body(call)
      }
    } catch  where error.code == .locked {
      if let lockedItem, try unlock(item: lockedItem) { return try perform(body) }
      guard case .allowed(let time) = prompts else { throw error }
      // The deadline is the person's, and not the one of the call.
      try unlock(until: Deadline(in: time), ServiceCall.Cancellation())
      return try perform(body)
    }
  }

  /// Unlocks an item of an open collection, with a prompt if that is needed and allowed; false when the
  /// collection itself is locked.
  ///
  /// KeePassXC asks its user about each program that reads a secret, and reports the item as locked until the
  /// user has agreed. Unlocking the collection has no effect on that.
  private func unlock(item path: String) throws(SecretError) -> Bool {
    try perform { call throws(SecretError) in
      if try call.isLocked { return false }
      let reply = try call.call(
        ServiceName.path, ServiceName.service, "Unlock", [.paths([path])])
      try call.complete(prompt: call.require(reply[1]?.string))
      return true
    }
  }
}

// MARK: - Locking

extension SecretService {
  /// The label of a default collection that `unlock` creates.
  static let newLabel = "Default keyring"

  /// Whether the collection is open, locked, or missing.
  ///
  /// - Throws: ``SecretError``: `.unavailable` when the service cannot be reached.
  public func state() throws(SecretError) -> SecretStoreState {
    do throws(SecretError) {
      return try perform { call throws(SecretError) in
        // A cached path could be that of a collection that is no longer the default.
        try call.resolvePathAgain()
        return try call.isLocked
      } ? .locked : .ready
    } catch  where error.code == .notInitialized {
      return .notInitialized
    }
  }

  /// Asks the user to unlock the collection, regardless of ``prompts``, and waits for that.
  ///
  /// If no default collection exists, the user is asked for the password of a new one. The task's
  /// cancellation dismisses the prompt. The wait takes place on a separate thread.
  ///
  /// - Throws: ``SecretError``: `.cancelled` when the user dismissed the prompt or the task was cancelled,
  ///   `.interactionRequired` when nothing here can show a prompt, `.unavailable` after the timeout,
  ///   `.notInitialized` when a named collection does not exist, `.unsupported` for the session's collection.
  public func unlock(timeout: Duration) async throws(SecretError) {
    try checkHasLock()
    // A thread of its own, since the wait for a person blocks: on a thread of the concurrency pool it would keep
    // other tasks from running.
    let cancellation = ServiceCall.Cancellation()
    let outcome: Result<Void, SecretError> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        Thread.detachNewThread {
          let outcome = Result { () throws(SecretError) in
            try self.unlock(until: Deadline(in: timeout), cancellation)
          }
          continuation.resume(returning: outcome)
        }
      }
    } onCancel: {
      cancellation.cancel()
    }
    try outcome.get()
  }

  /// Locks the collection, for all programs that use it.
  ///
  /// - Throws: ``SecretError``: `.notInitialized`, `.unavailable`, `.interactionRequired`, or
  ///   `.unsupported` for the session's collection.
  public func lock() throws(SecretError) {
    try checkHasLock()
    try perform { call throws(SecretError) in
      let reply = try call.call(
        ServiceName.path, ServiceName.service, "Lock", [.paths([call.resolvePathAgain()])])
      try call.complete(prompt: call.require(reply[1]?.string))
    }
  }

  /// Unlocks the collection, with a prompt if necessary; creates the default collection if it is missing.
  func unlock(until deadline: Deadline, _ cancellation: ServiceCall.Cancellation)
    throws(SecretError)
  {
    try perform { call throws(SecretError) in
      // Before the first message: no prompt may appear for a task that was cancelled.
      if cancellation.isCancelled { throw SecretError(BusFailure(.cancelled)) }
      do throws(SecretError) {
        let reply = try call.call(
          ServiceName.path, ServiceName.service, "Unlock", [.paths([call.resolvePathAgain()])])
        try call.run(prompt: call.require(reply[1]?.string), until: deadline, cancellation)
      } catch  where error.code == .notInitialized && collection == .default {
        let reply = try call.call(
          ServiceName.path, ServiceName.service, "CreateCollection",
          [
            .properties(["\(ServiceName.collection).Label": .string(Self.newLabel)]),
            .string("\(collection)"),
          ])
        try call.run(prompt: call.require(reply[1]?.string), until: deadline, cancellation)
      }
    }
  }

  /// - Throws: ``SecretError`` `.unsupported` for the session's collection, which services never lock.
  private func checkHasLock() throws(SecretError) {
    guard features.contains(.locking) else {
      throw SecretError(
        code: .unsupported,
        message: "The session's collection has no lock. Use it as it is.", feature: .locking)
    }
  }
}
