import Foundation

extension Vault {
  /// The keys that open the vault, in the order in which they are tried.
  public var keySlots: [VaultKeySlot] {
    get throws(SecretError) { try current().header.slots.map(\.keySlot) }
  }

  /// Lets another key open the vault, too; no secret is encrypted anew.
  ///
  /// A key file, or a key in another store, is made if it is not there.
  ///
  /// - Returns: The new slot, which is what ``removeKey(_:)`` asks for.
  /// - Throws: ``SecretError``: `.failed` when the vault has ``keyLimit`` keys, or its passphrases would cost
  ///   more than ``VaultScrypt/totalWorkLimit`` together; and what opening a vault by the key and writing
  ///   throw.
  @discardableResult
  public func addKey(_ key: VaultKey) throws(SecretError) -> VaultKeySlot {
    let slot = try seal(key, makingIfAbsent: true)
    try changeSlots { (slots) throws(SecretError) in
      guard slots.count < Self.keyLimit else {
        throw SecretError(
          code: .failed,
          message: "The vault has \(Self.keyLimit) keys already. Remove one first.")
      }
      slots.append(slot)
    }
    return slot.keySlot
  }

  /// Lets a key no longer open the vault; no secret is encrypted anew.
  ///
  /// Who had the key and a copy of the vault may have kept what it led to: against them, move the items
  /// to a new vault. Objects that have the vault open stay open.
  ///
  /// - Parameter id: Which key, as ``keySlots`` has it.
  /// - Throws: ``SecretError``: `.notFound` when there is no such slot, `.failed` for the last key, and
  ///   what writing throws.
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
            "This is the vault's last key, and nobody could open it again. Add another first.")
      }
      slots.remove(at: index)
    }
  }

  /// Puts a new passphrase in the place of an old one; no secret is encrypted anew.
  ///
  /// It takes the time of both costs. What ``removeKey(_:)`` says of whoever had the old one holds here.
  ///
  /// - Parameters:
  ///   - old: The passphrase that is to open the vault no longer.
  ///   - new: The one that is to.
  ///   - cost: What it is to cost to try the new one; nil means what the old one costs.
  /// - Throws: ``SecretError``: `.wrongKey` when the old passphrase opens no slot, `.changed` when its
  ///   slot was removed meanwhile, `.failed` above ``VaultScrypt/totalWorkLimit``, and what writing throws.
  public func changePassphrase(
    from old: SecretBytes, to new: SecretBytes, cost: VaultScrypt? = nil
  ) throws(SecretError) {
    let header = try current().header
    let material = try VaultKey.passphrase(old).material(makingIfAbsent: false, environment)
    guard let (_, found) = try header.root(for: .passphrase, by: material) else {
      throw header.wrongKey(.passphrase, file.path)
    }
    let slot = try seal(.passphrase(new, cost ?? found.scrypt ?? .standard), makingIfAbsent: false)
    try changeSlots { (slots) throws(SecretError) in
      guard let index = slots.firstIndex(of: found) else {
        throw SecretError(
          code: .changed,
          message: "The passphrase was removed or changed meanwhile. Look at the keySlots.")
      }
      slots[index] = slot
    }
  }

  private func seal(
    _ key: VaultKey, makingIfAbsent isNew: Bool
  ) throws(SecretError) -> VaultSlot {
    try VaultSlot.sealing(
      root, of: id, kind: key.kind, scrypt: key.scrypt,
      material: try key.material(makingIfAbsent: isNew, environment))
  }

  private func changeSlots(
    _ change: (inout [VaultSlot]) throws(SecretError) -> Void
  ) throws(SecretError) {
    try file.locked { () throws(SecretError) in
      var draft = try VaultDraft(after: try current())
      try change(&draft.slots)
      guard VaultSlot.work(of: draft.slots) <= VaultScrypt.totalWorkLimit else {
        throw SecretError(
          code: .failed,
          message:
            "The vault's passphrases would cost too much together, since each may be tried in "
            + "turn. Choose a smaller cost, or remove one first.")
      }
      try put(draft)
    }
  }
}
