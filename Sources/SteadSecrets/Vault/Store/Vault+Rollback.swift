import Foundation

extension Vault {
  /// Makes a vault that was put back from a copy, or another one in its place, one that opens again.
  ///
  /// Its contents are written with a generation above all that was noted, so that every program takes
  /// it for the newest. A vault that was not rolled back is written, too, and nothing else changes.
  /// Call it when a person has said that the older contents are wanted: an attacker who can put files
  /// in place wants the same, to bring back a password that was changed.
  ///
  /// - Parameters:
  ///   - url: The vault's file.
  ///   - key: What opens it.
  ///   - environment: The process's environment, or what a test wants it to be.
  /// - Throws: ``SecretError`` as opening and writing do, except for `.rolledBack` and `.anotherVault`.
  public static func acceptRollback(
    at url: URL, key: VaultKey,
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws(SecretError) {
    let file = try VaultFile(url)
    // The lock's file would be made even where there is no vault, or in a directory of others.
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
      try file.replace(with: data)
      witness.raise(to: header.mark)
      file.pin(environment).note(header.id)
    }
  }
}
