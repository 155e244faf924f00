import Foundation
import SteadFiles

// How a vault notices that its file was changed, and that it was rolled back: an old copy of a vault is
// authentic, too. Each revision that is read is compared with the newest one that this object has seen, and
// with the newest that any program of the user has recorded in the witness. If it is behind one of them,
// reading throws `.rolledBack`.
extension Vault {
  /// The number of times that the file may be replaced while it is being read.
  static let replacementLimit = 1_000

  /// The contents, as new as the file. Requires the vault's lock; without it, see ``currentForReading()``.
  func current() throws(SecretError) -> VaultSnapshot {
    guard let snapshot = cache.withLock({ $0.snapshot }), snapshot.isCurrent(try file.status())
    else { return try reload() }
    return snapshot
  }

  /// The contents for a caller that does not hold the vault's lock.
  ///
  /// Reports problems with the witness, which must not be done under the lock: the handler may use the vault.
  func currentForReading() throws(SecretError) -> VaultSnapshot {
    defer { VaultProblems.reportPending() }
    return try current()
  }

  /// Reads the file again, until it is one that may be used.
  private func reload() throws(SecretError) -> VaultSnapshot {
    for _ in 0..<Self.replacementLimit {
      // Before the file is read, which is at least as new then. In the other order a write in between would
      // look like a rollback, and cost another reading.
      let recorded = witness.revision()
      let snapshot = try read()
      if try isUsable(snapshot, recorded) {
        install(snapshot, recorded)
        return snapshot
      }
    }
    throw SecretError(
      code: .failed,
      message: "The vault \(file.path) was replaced repeatedly while it was read. Try again.")
  }

  /// Installs the contents that were read to open the vault, if they are still the file's.
  func install(opened snapshot: VaultSnapshot) throws(SecretError) {
    let recorded = witness.revision()
    if snapshot.isCurrent(try file.status()), try isUsable(snapshot, recorded) {
      install(snapshot, recorded)
    } else {
      _ = try reload()
    }
  }

  /// Reads and authenticates the file. It must be the same vault; another one with the same key isn't.
  private func read() throws(SecretError) -> VaultSnapshot {
    guard let opened = try file.open() else { throw file.missing }
    // From the descriptor whose status was taken: the file at the path may be another one by now.
    let (data, header) = try file.read(opened)
    guard header.id == id else { throw file.exchanged }
    return try VaultSnapshot(data, of: opened, header: header, root: root)
  }

  /// Whether a snapshot may be used; false when the file was replaced since it was read.
  ///
  /// - Throws: ``SecretError``: `.rolledBack`.
  private func isUsable(
    _ snapshot: VaultSnapshot, _ recorded: VaultRevision?
  ) throws(SecretError) -> Bool {
    let known = [cache.withLock { $0.newestSeen }, recorded].compactMap(\.self)
    guard known.contains(where: { snapshot.header.revision.isBehind($0) }) else { return true }
    // Another thread may have written since the file was read, and this object has seen its revision. Then the file
    // at the path is another one by now. Only the current file can be a rollback.
    guard snapshot.isCurrent(try file.status()) else { return false }
    throw SecretError(
      code: .rolledBack,
      message:
        "The vault \(file.path) is older than one that was seen before. If you restored a "
        + "copy on purpose, call Vault.acceptRollback(at:key:); otherwise restore the newest one.")
  }

  /// Caches a snapshot, unless a newer one is cached, and raises the witness if it is behind.
  ///
  /// Readers raise the witness, too: a writer that is killed after the rename does not.
  ///
  /// - Parameter recorded: What the witness has; nil raises it in any case.
  func install(_ snapshot: VaultSnapshot, _ recorded: VaultRevision?) {
    let revision = snapshot.header.revision
    // The old snapshot is released outside of the lock: its SecretBytes take the allocator's lock.
    let old = cache.withLock { cache -> VaultSnapshot? in
      if let newestSeen = cache.newestSeen, revision.generation < newestSeen.generation {
        // Another thread has installed a newer one while this one was read.
        return nil
      }
      cache.newestSeen = revision
      defer { cache.snapshot = snapshot }
      return cache.snapshot
    }
    withExtendedLifetime(old) {}
    if (recorded?.generation ?? 0) < revision.generation { witness.raise(to: revision) }
  }
}

// MARK: - Accepting an older vault

extension Vault {
  /// Accepts a vault that was restored from a copy, or that has replaced another one, so that it opens again.
  ///
  /// Its contents are written with a generation above all that were recorded, so that every program treats it as
  /// the newest. A vault that was not rolled back is also written, without any other change. Call it when a
  /// person has confirmed that the older contents are wanted: an attacker who can replace files wants the
  /// same, to restore a password that was changed.
  ///
  /// - Parameters:
  ///   - url: The vault's file.
  ///   - key: The key that opens it.
  ///   - environment: The process's environment, or a test's substitute.
  /// - Throws: ``SecretError`` as opening and writing do, except for `.rolledBack` and `.anotherVault`.
  public static func acceptRollback(
    at url: URL, key: VaultKey,
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws(SecretError) {
    let file = try VaultFile(url)
    // The lock's file would be created even without a vault, or in a directory of other users.
    guard try file.open() != nil else { throw file.missing }
    try file.locked { () throws(SecretError) in
      guard let (root, snapshot) = try file.openIfPresent(key, environment, expecting: nil) else {
        throw file.missing
      }
      let witness = VaultWitness(of: snapshot.header.id, root: root, environment: environment)
      var draft = try VaultDraft(after: snapshot)
      if let recorded = witness.revision() {
        // Above what is recorded, or every program would go on to refuse it.
        draft.generation = max(draft.generation, try recorded.generation.nextGeneration())
      }
      let (data, header) = try draft.file(root: root)
      try file.replace(snapshot, with: data)
      // After the file: a witness that is ahead of the vault would report a rollback. One that is behind is raised by
      // the next reader.
      witness.raise(to: header.revision)
      file.pin(environment).record(header.id)
    }
  }
}
