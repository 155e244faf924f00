import Foundation
import SteadFiles

/// Secrets in one encrypted file.
///
/// ```swift
/// let vault = try Vault(at: file, key: .passphrase(SecretBytes(passphrase)), opening: .openOrCreate)
/// let secrets = try Secrets(service: "com.example.mail", store: vault)
/// ```
///
/// Names, labels and attributes are encrypted as the secrets are. Programs of one user may use a vault
/// at the same time, and see each other's writes at once. A write replaces the whole file, and is
/// durable when it returns: it costs as much as the file is long, and two syncs. A read costs a few
/// microseconds, a look at the file's status among them. The file is drawn to the byte in
/// Documentation/VaultFile.md, which also says what a vault protects from and what not.
///
/// The vault, its directory and its key file must be the user's own and closed to others; they are
/// made so, and refused when they are not. A file that is damaged, or not authentic, is never written
/// over. The child of a fork may go on using the object.
public final class Vault: SecretStore {
  /// What to do when the file is there, and when it is not.
  public enum Opening: Hashable, Sendable, CaseIterable {
    /// Open the vault, or throw `.notInitialized`.
    case open
    /// Make a new vault, or throw `.duplicateItem`.
    case create
    /// Open the vault, or make a new one; throw `.notInitialized` where one existed before and is gone.
    case openOrCreate
  }

  /// The largest secret that it takes, 16 MiB. The whole file has at most 64 MiB.
  public static let sizeLimit = VaultLayout.secretLimit
  /// How many keys a vault has at most.
  public static let keyLimit = VaultLayout.slotLimit

  struct Memory: Sendable {
    var snapshot: VaultSnapshot?
    /// The highest version that this object has seen.
    var seen: VaultMark?
  }

  let file: VaultFile
  let root: VaultRoot
  let id: [UInt8]
  let witness: VaultWitness
  let environment: [String: String]
  let memory = ForkSafeLock(Memory())

  /// Opens or makes a vault.
  ///
  /// A passphrase takes the time and the memory of its cost, every other key about a millisecond. A
  /// vault that is made gets a directory of mode 0700 and a file of mode 0600.
  ///
  /// - Parameters:
  ///   - url: The vault's file, in a directory that is the user's own and has mode 0700.
  ///   - key: What opens it; for a new vault, the only key at first.
  ///   - opening: What to do when the file exists, and when it does not. By default none is made.
  ///   - environment: The process's environment, or what a test wants it to be. `XDG_STATE_HOME` tells
  ///     where to remember the vault's identity and generation, `CREDENTIALS_DIRECTORY` where systemd's are.
  /// - Throws: ``SecretError``: `.wrongKey`, `.corrupt`, `.newerVersion`, `.anotherVault` and `.rolledBack` (see
  ///   ``acceptRollback(at:key:environment:)``), `.accessDenied`, `.notFound` when the key is not where
  ///   it should be, `.notInitialized` or `.duplicateItem` as `opening` says.
  public init(
    at url: URL, key: VaultKey, opening: Opening = .open,
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws(SecretError) {
    file = try VaultFile(url)
    self.environment = environment
    let (root, snapshot) = try file.open(key, opening, environment)
    (self.root, id) = (root, snapshot.header.id)
    witness = VaultWitness(of: snapshot.header.id, root: root, environment: environment)
    file.pin(environment).note(id)
    // Read anew if it has changed since, and held against the witness.
    try adopt(opened: snapshot)
  }

  /// The vault's file.
  public var storeDescription: SecretStoreDescription {
    SecretStoreDescription(kind: .vault, location: file.path, reason: "The caller named the vault.")
  }
  /// Labels and attributes are encrypted, and the secrets outlive the process.
  public var features: Set<SecretStoreFeature> { [.encryptedAttributes, .persistence] }
  /// The largest secret that it takes, in bytes.
  public var sizeLimit: Int { Self.sizeLimit }

  /// Whether the file is there; that it can be read is seen, too.
  ///
  /// - Throws: ``SecretError`` as reading does.
  public func state() throws(SecretError) -> SecretStoreState {
    do throws(SecretError) {
      _ = try current()
      return .ready
    } catch  where error.code == .notInitialized {
      return .notInitialized
    }
  }
}
