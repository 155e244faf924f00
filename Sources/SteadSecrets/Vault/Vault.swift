import Foundation
import SteadFiles

/// Secrets in one encrypted file.
///
/// ```swift
/// let vault = try Vault(at: file, key: .passphrase(SecretBytes(passphrase)), opening: .openOrCreate)
/// let secrets = try Secrets(service: "com.example.mail", store: vault)
/// ```
///
/// Names, labels and attributes are encrypted like the secrets. Programs of one user may use a vault at the
/// same time, and immediately see each other's writes. A write replaces the whole file, and is durable when
/// it returns: it costs time in proportion to the file's length, and two syncs. A read costs a few
/// microseconds, including a check of the file's status. Documentation/VaultFile.md draws the file to the
/// byte, and explains what a vault protects from and what not.
///
/// The vault, its directory and its key file must belong to the user and be closed to others; they are
/// created so, and refused otherwise. A file that is damaged, or not authentic, is never overwritten. The
/// child of a fork may continue to use the object.
public final class Vault: SecretStore {
  /// What to do when the file exists, and when it does not.
  public enum Opening: Hashable, Sendable, CaseIterable {
    /// Open the vault, or throw `.notInitialized`.
    case open
    /// Create a new vault, or throw `.duplicateItem`.
    case create
    /// Open the vault, or create a new one; throw `.notInitialized` if one existed before and has disappeared.
    case openOrCreate
  }

  /// The largest secret that it accepts, 16 MiB. The whole file has at most 64 MiB.
  public static let sizeLimit = VaultLayout.secretLimit
  /// The maximum number of a vault's keys.
  public static let keyLimit = VaultLayout.slotLimit

  struct Cache: Sendable {
    /// The contents as last read or written; current if the file's status is still the same.
    var snapshot: VaultSnapshot?
    /// The revision of the highest generation that this object has seen; a file that is behind it was rolled back.
    var newestSeen: VaultRevision?
  }

  let file: VaultFile
  let root: VaultRoot
  let id: [UInt8]
  let witness: VaultWitness
  let environment: [String: String]
  let cache = ForkSafeLock(Cache())

  /// Opens or creates a vault.
  ///
  /// A passphrase takes the time and the memory of its cost, every other key about a millisecond. A new vault
  /// gets a directory of mode 0700 and a file of mode 0600.
  ///
  /// - Parameters:
  ///   - url: The vault's file, in a directory that belongs to the user and has mode 0700.
  ///   - key: The key that opens it; for a new vault, the only key at first.
  ///   - opening: What to do when the file exists, and when it does not. By default none is created.
  ///   - environment: The process's environment, or a test's substitute. `XDG_STATE_HOME` is where the
  ///     vault's identity and generation are remembered, `CREDENTIALS_DIRECTORY` where systemd's credentials
  ///     are.
  /// - Throws: ``SecretError``: `.wrongKey`, `.corrupt`, `.newerVersion`, `.anotherVault` and `.rolledBack`
  ///   (see ``acceptRollback(at:key:environment:)``), `.accessDenied`, `.notFound` when the key isn't where
  ///   it should be, `.notInitialized` or `.duplicateItem` according to `opening`.
  public init(
    at url: URL, key: VaultKey, opening: Opening = .open,
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws(SecretError) {
    file = try VaultFile(url)
    self.environment = environment
    let (root, snapshot) = try file.open(key, opening, environment)
    (self.root, id) = (root, snapshot.header.id)
    // Its key is derived from the root key, so that only those who can open the vault can write records.
    witness = VaultWitness(of: snapshot.header.id, root: root, environment: environment)
    // Before the rollback is checked: the pin says which vault is here, and not which version.
    file.pin(environment).record(id)
    // Only now is the root key known, without which the witness's record cannot be verified.
    try install(opened: snapshot)
    VaultProblems.reportPending()
  }

  /// The vault's file.
  public var storeDescription: SecretStoreDescription {
    SecretStoreDescription(kind: .vault, location: file.path, reason: "The caller named the vault.")
  }
  /// Labels and attributes are encrypted, and the secrets outlive the process.
  public var features: Set<SecretStoreFeature> { [.encryptedAttributes, .persistence] }
  /// The largest secret that it accepts, in bytes.
  public var sizeLimit: Int { Self.sizeLimit }

  /// Whether the file exists; also checks that it can be read.
  ///
  /// - Throws: ``SecretError`` as reading does.
  public func state() throws(SecretError) -> SecretStoreState {
    do throws(SecretError) {
      _ = try currentForReading()
      return .ready
    } catch  where error.code == .notInitialized {
      return .notInitialized
    }
  }
}

// MARK: - Reading

extension Vault {
  /// The secret of a name, or nil if none exists.
  ///
  /// - Throws: ``SecretError``: `.notInitialized` when the file has disappeared, `.corrupt`, `.rolledBack`
  ///   and others when the file in its place does not open.
  public func bytes(for id: SecretID) throws(SecretError) -> SecretBytes? {
    let snapshot = try currentForReading()
    let found = snapshot.search(for: id)
    return found.isPresent ? try snapshot.secret(at: found.index, root: root) : nil
  }

  /// A secret's metadata, or nil if none exists; the secret itself isn't decrypted.
  ///
  /// - Throws: ``SecretError`` as ``bytes(for:)`` does.
  public func item(for id: SecretID) throws(SecretError) -> SecretItem? {
    let snapshot = try currentForReading()
    let found = snapshot.search(for: id)
    return found.isPresent ? snapshot.entries[found.index].item : nil
  }

  /// The metadata of all secrets of a service, sorted by their accounts' UTF-8.
  ///
  /// - Throws: ``SecretError`` as ``bytes(for:)`` does.
  public func items(service: String) throws(SecretError) -> [SecretItem] {
    let snapshot = try currentForReading()
    return snapshot.entries[snapshot.indices(service: service)].map(\.item)
  }

  /// The metadata of the secrets of all services that have these attributes, sorted by the UTF-8 of their
  /// services and accounts.
  ///
  /// `service` and `account` count as attributes, too. Without a service it looks at every entry.
  ///
  /// - Throws: ``SecretError`` as ``bytes(for:)`` does.
  public func items(matching attributes: [String: String]) throws(SecretError) -> [SecretItem] {
    let snapshot = try currentForReading()
    let service = attributes["service"]
    // Entries are sorted by service, so a search within one doesn't look at the others.
    let range = service.map { snapshot.indices(service: $0) } ?? snapshot.entries.indices
    return snapshot.entries[range].map(\.item).filter { $0.matches(attributes) }
  }
}

extension VaultEntry {
  var item: SecretItem {
    var names: [String: String] = [:]
    for attribute in attributes { names[attribute.name] = attribute.value }
    return SecretItem(
      service: service, account: account, label: label, attributes: names,
      created: .init(vaultTime: created), modified: .init(vaultTime: modified))
  }
}

// MARK: - Writing

extension Vault {
  /// Stores a secret, if the write's condition holds; durable once it returns.
  ///
  /// - Throws: ``SecretError``: `.duplicateItem`, `.notFound` or `.changed` when the condition does not hold,
  ///   `.tooLarge` for a secret above ``sizeLimit-swift.type.property`` and when the vault is full,
  ///   `.unsupported` for every requirement, `.noSpace`; and the errors of reading.
  public func write(
    _ bytes: SecretBytes, for id: SecretID, _ write: SecretStoreWrite
  ) throws(SecretError) {
    try check(bytes, write)
    // Everything from the reading on is under the lock: the condition is checked against what the write replaces.
    try file.locked { () throws(SecretError) in
      let snapshot = try current()
      let found = snapshot.search(for: id)
      try check(write.condition, for: id, snapshot, found)
      let old = found.isPresent ? snapshot.entries[found.index] : nil
      let entry = VaultEntry(bytes.count, id, write, old: old, at: Date().vaultTime)
      // A new salt each time the block runs: `locked` repeats it after a conflict, and a key must not seal two
      // messages.
      let sealed = try entry.seal(bytes, root: root, vaultID: self.id)
      let range = found.index..<found.index + (found.isPresent ? 1 : 0)
      try commit(
        VaultDraft(after: snapshot, replacing: range, with: entry, sealed: sealed),
        after: snapshot)
    }
  }

  /// Removes a secret, and returns whether it existed; durable once it returns.
  ///
  /// Copies of the file, and free blocks of the disk, may still contain it, encrypted.
  ///
  /// - Throws: ``SecretError``: `.noSpace` and `.accessDenied`, since the whole file is written again;
  ///   `.unavailable` when other processes held the vault's lock for ten seconds; `.failed` when others wrote the
  ///   vault at each attempt; and the errors of reading.
  @discardableResult
  public func remove(_ id: SecretID) throws(SecretError) -> Bool {
    try remove { snapshot in
      let found = snapshot.search(for: id)
      return found.index..<found.index + (found.isPresent ? 1 : 0)
    } > 0
  }

  /// Removes all secrets of a service at once, and returns their number.
  ///
  /// One write, so that a process that is killed has removed all of them or none.
  ///
  /// - Throws: ``SecretError`` as ``remove(_:)`` does.
  @discardableResult
  public func removeAll(service: String) throws(SecretError) -> Int {
    try remove { $0.indices(service: service) }
  }

  /// Removes the entries with the indices that a closure chooses, and returns their number.
  private func remove(_ choose: (VaultSnapshot) -> Range<Int>) throws(SecretError) -> Int {
    try file.locked { () throws(SecretError) in
      let snapshot = try current()
      let range = choose(snapshot)
      // Without a write: a removal of nothing costs no sync, and no generation.
      guard !range.isEmpty else { return 0 }
      try commit(VaultDraft(after: snapshot, replacing: range), after: snapshot)
      return range.count
    }
  }

  /// Throws unless a write's condition holds for the entry that was found.
  private func check(
    _ condition: SecretStoreWrite.Condition, for id: SecretID, _ snapshot: VaultSnapshot,
    _ found: (index: Int, isPresent: Bool)
  ) throws(SecretError) {
    guard case .always = condition else {
      // Only here is a secret decrypted; a write without a condition needs none.
      var old: SecretBytes?
      if found.isPresent { old = try snapshot.secret(at: found.index, root: root) }
      return try condition.check(old, for: id)
    }
  }

  /// Replaces the vault's file with a draft, if it still is the file of a snapshot. Requires the vault's lock.
  ///
  /// The rename is the commit. What follows only saves the next read from reading the file again, so it throws
  /// nothing: an error would report a write as failed that was made.
  func commit(_ draft: VaultDraft, after snapshot: VaultSnapshot) throws(SecretError) {
    let (data, header) = try draft.file(root: root)
    try file.replace(snapshot, with: data)
    // Another writer may have replaced the file since, if somebody removed the lock's file. The header has a random
    // salt, so equal headers are the same write.
    guard let opened = try? file.open(), opened.begins(with: data.prefix(header.size)) else {
      return
    }
    // Also records the generation: from now on an older copy of the file is noticed.
    install(VaultSnapshot(writing: data, of: opened, header: header, entries: draft.entries), nil)
  }
}

extension VaultEntry {
  /// Makes the entry that a write produces: what the write leaves out stays as in the old entry.
  ///
  /// The salt is always new. It gives the value a key of its own, which the fixed nonce requires.
  init(_ length: Int, _ id: SecretID, _ write: SecretStoreWrite, old: VaultEntry?, at now: UInt64) {
    (service, account, self.length) = (id.service, id.account, length)
    label = write.label ?? old?.label ?? id.defaultLabel
    attributes = write.attributes.map(Attribute.sorted) ?? old?.attributes ?? []
    (created, modified) = (old?.created ?? now, now)
    salt = .random(count: VaultLayout.saltSize)
  }
}

extension VaultEntry.Attribute {
  fileprivate static func sorted(_ attributes: [String: String]) -> [Self] {
    attributes.map { Self(name: $0.key, value: $0.value) }
      .sorted { $0.name.byteOrder(beside: $1.name) < 0 }
  }
}

// MARK: - Keys

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
