import Foundation

extension Vault {
  /// The keys that open the vault, in the order in which they are tried.
  ///
  /// - Throws: ``SecretError`` as reading does.
  public var keySlots: [VaultKeySlot] {
    get throws(SecretError) { try currentForReading().header.slots.map(\.keySlot) }
  }

  /// Adds another key that opens the vault; no secret is encrypted again.
  ///
  /// A missing key file, or key in another store, is created.
  ///
  /// - Returns: The new slot, which can be passed to ``removeKey(_:)``.
  /// - Throws: ``SecretError``: `.tooLarge` when the vault has ``keyLimit`` keys, or its passphrases together
  ///   would cost more than ``VaultScrypt/totalWorkLimit``; and the errors of opening a vault with the key
  ///   and of writing.
  @discardableResult
  public func addKey(_ key: VaultKey) throws(SecretError) -> VaultKeySlot {
    let slot = try seal(key, creatingIfAbsent: true)
    // The slot seals the root key, which never changes. So it can be made before the lock is taken, whatever is
    // written meanwhile.
    try changeSlots { (slots) throws(SecretError) in
      guard slots.count < Self.keyLimit else {
        throw SecretError(
          code: .tooLarge,
          message: "The vault already has \(Self.keyLimit) keys. Remove one first.")
      }
      slots.append(slot)
    }
    return slot.keySlot
  }

  /// Removes a key, which no longer opens the vault; no secret is encrypted again.
  ///
  /// Anyone who had the key and a copy of the vault may have kept the root key: against them, move the items
  /// to a new vault. Objects that have the vault open stay open.
  ///
  /// - Parameter id: The key's identifier in ``keySlots``.
  /// - Throws: ``SecretError``: `.notFound` when the slot does not exist, `.failed` for the last key, and the
  ///   errors of writing.
  public func removeKey(_ id: VaultKeySlot.ID) throws(SecretError) {
    try changeSlots { (slots) throws(SecretError) in
      guard let index = slots.firstIndex(where: { $0.keySlot.id == id }) else {
        throw SecretError(
          code: .notFound, message: "The vault has no such key. Choose one of its keySlots.")
      }
      guard slots.count > 1 else {
        throw SecretError(
          code: .failed,
          message:
            "This is the vault's last key, without which nobody could open it. Add another first.")
      }
      slots.remove(at: index)
    }
  }

  /// Replaces an old passphrase with a new one; no secret is encrypted again.
  ///
  /// It takes the time of both costs. The warning of ``removeKey(_:)`` about anyone who had the old one applies.
  ///
  /// - Parameters:
  ///   - old: The passphrase that will no longer open the vault.
  ///   - new: The passphrase that will open it instead.
  ///   - cost: The cost of trying the new one; nil means the cost of the old one.
  /// - Throws: ``SecretError``: `.wrongKey` when the old passphrase opens no slot, `.changed` when its slot
  ///   was removed meanwhile, `.tooLarge` above ``VaultScrypt/totalWorkLimit``, and the errors of writing.
  public func changePassphrase(
    from old: SecretBytes, to new: SecretBytes, cost: VaultScrypt? = nil
  ) throws(SecretError) {
    let header = try currentForReading().header
    let material = try VaultKey.passphrase(old).material(creatingIfAbsent: false, environment)
    guard let (_, found) = try header.root(for: .passphrase, by: material) else {
      throw header.wrongKey(.passphrase, file.path)
    }
    let slot = try seal(
      .passphrase(new, cost ?? found.scrypt ?? .standard), creatingIfAbsent: false)
    try changeSlots { (slots) throws(SecretError) in
      guard let index = slots.firstIndex(of: found) else {
        // Compared as a whole: another program may have replaced the slot while the new one was derived.
        throw SecretError(
          code: .changed,
          message: "The passphrase was removed or changed meanwhile. Check the keySlots.")
      }
      slots[index] = slot
    }
  }

  /// Makes a slot for a key. Called outside of the vault's lock: scrypt takes time, and other programs wait
  /// for the lock.
  private func seal(
    _ key: VaultKey, creatingIfAbsent isNew: Bool
  ) throws(SecretError) -> VaultSlot {
    try VaultSlot.sealing(
      root, of: id, kind: key.kind, scrypt: key.scrypt,
      material: try key.material(creatingIfAbsent: isNew, environment))
  }

  /// Writes the vault with other slots, which seal the same root key. The items' values are copied as they are.
  private func changeSlots(
    _ change: (inout [VaultSlot]) throws(SecretError) -> Void
  ) throws(SecretError) {
    try file.locked { () throws(SecretError) in
      let snapshot = try current()
      var draft = try VaultDraft(after: snapshot)
      try change(&draft.slots)
      guard VaultSlot.work(of: draft.slots) <= VaultScrypt.totalWorkLimit else {
        throw SecretError(
          code: .tooLarge,
          message:
            "The vault's passphrases together would cost too much, since each may be tried in "
            + "turn. Choose a smaller cost, or remove one first.")
      }
      // The whole file is written: the header, which has the slots, is authenticated with the index.
      try commit(draft, after: snapshot)
    }
  }
}
