import Foundation

extension Vault {
  /// Makes a vault that was restored from a copy, or replaced by another one, open again.
  ///
  /// Its contents are written with a generation above all that were noted, so that every program treats it as
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
      if let noted = witness.mark() {
        draft.generation = max(draft.generation, try noted.generation.nextGeneration())
      }
      let (data, header) = try draft.file(root: root)
      try file.replace(snapshot, with: data)
      witness.raise(to: header.mark)
      file.pin(environment).note(header.id)
    }
  }
}
