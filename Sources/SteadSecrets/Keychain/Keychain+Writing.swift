#if canImport(Security)
  import Foundation
  import Security
  import SteadFiles

  // Not run on this project's machines.

  extension Keychain {
    /// Stores a secret, if the write's condition holds.
    ///
    /// The Keychain itself creates new items one at a time. For everything else a lock in the app's own
    /// temporary directory synchronizes the app's processes; other apps of an access group are not excluded,
    /// and can write between the check of an item and its change.
    ///
    /// A requirement also changes an existing item: it gets the accessibility, moves to the access group or
    /// starts being synchronized. A later write without requirements reverts none of these.
    ///
    /// - Throws: ``SecretError``: `.duplicateItem`, `.notFound` or `.changed` when the condition does not
    ///   hold, `.tooLarge` above ``sizeLimit-swift.type.property``, `.unsupported` for a requirement that the
    ///   login keychain lacks, and for a secret that should both go to other devices and never leave this
    ///   one.
    public func write(
      _ bytes: SecretBytes, for id: SecretID, _ write: SecretStoreWrite
    ) throws(SecretError) {
      try check(bytes, write)
      let changes = try attributes(of: write)
      try withWriteLock { () throws(SecretError) in
        for _ in 0..<Self.attemptLimit {
          if case .ifHolding = write.condition {
            try write.condition.check(self.bytes(for: id), for: id)
          }
          switch write.condition {
          case .ifAbsent:
            if try add(bytes, id, changes) { return }
            throw SecretError(keychain: errSecDuplicateItem, doing: "add the item")
          case .ifPresent, .ifHolding:
            if try update(bytes, id, changes) { return }
            try SecretStoreWrite.Condition.ifPresent.check(nil, for: id)
          case .always:
            if try update(bytes, id, changes) { return }
            if try add(bytes, id, changes) { return }
          }
        }
        throw SecretError(
          code: .failed, message: "Other apps keep adding and removing the item. Try again.")
      }
    }

    /// The attributes that a write sets besides the secret.
    private func attributes(of write: SecretStoreWrite) throws(SecretError) -> [String: Any] {
      var attributes: [String: Any] = [:]
      if let label = write.label { attributes[kSecAttrLabel as String] = label }
      if let further = write.attributes {
        do {
          attributes[kSecAttrGeneric as String] = try JSONEncoder().encode(further)
        } catch {
          throw SecretError(
            code: .notDecodable, message: "The attributes cannot be encoded.", cause: error)
        }
      }
      let requirements = write.requirements
      if let accessibility = requirements.accessibility {
        guard !(requirements.isSynchronizable && accessibility.staysOnDevice) else {
          throw SecretError(
            code: .unsupported,
            message: "A secret cannot both stay on this device and go to others. Choose one.",
            feature: .synchronization)
        }
        attributes[kSecAttrAccessible as String] = accessibility.keychainValue
      }
      if let group = requirements.accessGroup {
        attributes[kSecAttrAccessGroup as String] = group
      }
      if requirements.isSynchronizable { attributes[kSecAttrSynchronizable as String] = true }
      return attributes
    }

    /// False when such an item already exists.
    private func add(
      _ bytes: SecretBytes, _ id: SecretID, _ changes: [String: Any]
    ) throws(SecretError) -> Bool {
      var item = query(id)
      // "Any" is for queries; an added item needs one value or the other.
      item[kSecAttrSynchronizable as String] = nil
      item[kSecAttrLabel as String] = id.defaultLabel
      item.merge(changes) { $1 }
      let status = bytes.withData { data in
        item[kSecValueData as String] = data
        return SecItemAdd(item as CFDictionary, nil)
      }
      if status == errSecDuplicateItem { return false }
      guard status == errSecSuccess else {
        throw SecretError(keychain: status, doing: "add the item")
      }
      return true
    }

    /// False when no such item exists.
    private func update(
      _ bytes: SecretBytes, _ id: SecretID, _ changes: [String: Any]
    ) throws(SecretError) -> Bool {
      var changes = changes
      let status = bytes.withData { data in
        changes[kSecValueData as String] = data
        return SecItemUpdate(query(id) as CFDictionary, changes as CFDictionary)
      }
      if status == errSecItemNotFound { return false }
      guard status == errSecSuccess else {
        throw SecretError(keychain: status, doing: "change the item")
      }
      return true
    }

    func withWriteLock<Result>(
      _ body: () throws(SecretError) -> Result
    ) throws(SecretError) -> Result {
      try SecretError.files {
        let directories = try AppDirectories(id: "stead")
        try directories.create(\.runtime)
        let lock = FileLock(directories.runtime.appending(path: "keychain.lock"))
        return try lock.withLock { try body() }
      }
    }
  }

  extension SecretBytes {
    /// Calls `body` with data that isn't a copy, and must not be used after it returns.
    fileprivate func withData<Result>(_ body: (Data) -> Result) -> Result {
      withBytes { (bytes) throws(Never) in
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return body(Data()) }
        return body(
          Data(
            bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: bytes.count,
            deallocator: .none))
      }
    }
  }

  extension SecretRequirements.Accessibility {
    fileprivate var keychainValue: CFString {
      switch self {
      case .whenUnlocked: kSecAttrAccessibleWhenUnlocked
      case .whenUnlockedThisDeviceOnly: kSecAttrAccessibleWhenUnlockedThisDeviceOnly
      case .afterFirstUnlock: kSecAttrAccessibleAfterFirstUnlock
      case .afterFirstUnlockThisDeviceOnly: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
      case .whenPasscodeSetThisDeviceOnly: kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly
      }
    }

    fileprivate var staysOnDevice: Bool {
      switch self {
      case .whenUnlocked, .afterFirstUnlock: false
      case .whenUnlockedThisDeviceOnly, .afterFirstUnlockThisDeviceOnly,
        .whenPasscodeSetThisDeviceOnly:
        true
      }
    }
  }
#endif
