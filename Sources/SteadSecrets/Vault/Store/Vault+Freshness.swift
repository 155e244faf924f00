import SteadFiles

extension Vault {
  /// How often the file may be replaced while it is being read.
  static let replacementLimit = 1_000

  /// The contents, as new as the file. Requires the vault's lock; without it, see ``currentForReading()``.
  func current() throws(SecretError) -> VaultSnapshot {
    guard let snapshot = memory.withLock({ $0.snapshot }), snapshot.isCurrent(try file.status())
    else { return try reload() }
    return snapshot
  }

  /// The contents for a caller that has no lock, who is told if they cannot be noted for other programs.
  func currentForReading() throws(SecretError) -> VaultSnapshot {
    defer { VaultNotices.deliver() }
    return try current()
  }

  private func reload() throws(SecretError) -> VaultSnapshot {
    for _ in 0..<Self.replacementLimit {
      let noted = witness.mark()
      let snapshot = try read()
      if try isUsable(snapshot, noted) {
        adopt(snapshot, noted)
        return snapshot
      }
    }
    throw SecretError(
      code: .failed,
      message: "The vault \(file.path) was replaced repeatedly while it was read. Try again.")
  }

  /// Adopts the contents read while the vault was opened.
  func adopt(opened snapshot: VaultSnapshot) throws(SecretError) {
    let noted = witness.mark()
    if snapshot.isCurrent(try file.status()), try isUsable(snapshot, noted) {
      adopt(snapshot, noted)
    } else {
      _ = try reload()
    }
  }

  private func read() throws(SecretError) -> VaultSnapshot {
    guard let opened = try file.open() else { throw file.missing }
    let (data, header) = try file.read(opened)
    guard header.id == id else { throw file.exchanged }
    return try VaultSnapshot(data, of: opened, header: header, root: root)
  }

  /// Whether a file may be used; false when it was replaced meanwhile.
  ///
  /// - Throws: ``SecretError``: `.rolledBack`.
  private func isUsable(
    _ snapshot: VaultSnapshot, _ noted: VaultMark?
  ) throws(SecretError) -> Bool {
    let known = [memory.withLock { $0.seen }, noted].compactMap(\.self)
    guard known.contains(where: { snapshot.header.mark.isBehind($0) }) else { return true }
    // The known mark may belong to a write made since the file was read.
    guard snapshot.isCurrent(try file.status()) else { return false }
    throw SecretError(
      code: .rolledBack,
      message: "The vault \(file.path) is older than one that was seen before. If you restored a "
        + "copy on purpose, call Vault.acceptRollback(at:key:); otherwise restore the newest one.")
  }

  /// Uses a snapshot for reading, unless a newer one is in use, and notes it for other programs.
  func adopt(_ snapshot: VaultSnapshot, _ noted: VaultMark?) {
    let mark = snapshot.header.mark
    // The old one is released outside of the lock: its contents have locks of their own.
    let old = memory.withLock { memory -> VaultSnapshot? in
      if let seen = memory.seen, mark.generation < seen.generation { return nil }
      memory.seen = mark
      defer { memory.snapshot = snapshot }
      return memory.snapshot
    }
    withExtendedLifetime(old) {}
    if (noted?.generation ?? 0) < mark.generation { witness.raise(to: mark) }
  }
}
