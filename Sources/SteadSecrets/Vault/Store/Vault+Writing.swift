import Foundation
import SteadFiles

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
    try file.locked { () throws(SecretError) in
      let snapshot = try current()
      let found = snapshot.position(of: id)
      try check(write.condition, for: id, snapshot, found)
      let old = found.isThere ? snapshot.entries[found.index] : nil
      let entry = VaultEntry(bytes.count, id, write, old: old, at: Date().vaultTime)
      let sealed = try entry.seal(bytes, root: root, vaultID: self.id)
      let range = found.index..<found.index + (found.isThere ? 1 : 0)
      try put(
        VaultDraft(after: snapshot, replacing: range, with: entry, sealed: sealed),
        after: snapshot)
    }
  }

  /// Removes a secret, and returns whether it existed; durable once it returns.
  ///
  /// Copies of the file, and free blocks of the disk, may still contain it, encrypted.
  @discardableResult
  public func remove(_ id: SecretID) throws(SecretError) -> Bool {
    try remove { snapshot in
      let found = snapshot.position(of: id)
      return found.index..<found.index + (found.isThere ? 1 : 0)
    } > 0
  }

  /// Removes all secrets of a service at once, and returns their number.
  @discardableResult
  public func removeAll(service: String) throws(SecretError) -> Int {
    try remove { $0.positions(service: service) }
  }

  private func remove(_ choose: (VaultSnapshot) -> Range<Int>) throws(SecretError) -> Int {
    try file.locked { () throws(SecretError) in
      let snapshot = try current()
      let range = choose(snapshot)
      guard !range.isEmpty else { return 0 }
      try put(VaultDraft(after: snapshot, replacing: range), after: snapshot)
      return range.count
    }
  }

  private func check(
    _ condition: SecretStoreWrite.Condition, for id: SecretID, _ snapshot: VaultSnapshot,
    _ found: (index: Int, isThere: Bool)
  ) throws(SecretError) {
    guard case .always = condition else {
      // A write without a condition decrypts nothing.
      var old: SecretBytes?
      if found.isThere { old = try snapshot.secret(at: found.index, root: root) }
      return try condition.check(old, for: id)
    }
  }

  /// Replaces the vault's file, as a snapshot has it, with a draft. The caller holds the lock.
  func put(_ draft: VaultDraft, after snapshot: VaultSnapshot) throws(SecretError) {
    let (data, header) = try draft.file(root: root)
    try file.replace(snapshot, with: data)
    // From here on the write is done, whatever else fails.
    guard let opened = try? file.open(), opened.begins(with: data.prefix(header.size)) else {
      return
    }
    adopt(VaultSnapshot(writing: data, of: opened, header: header, entries: draft.entries), nil)
  }
}

extension VaultEntry {
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
