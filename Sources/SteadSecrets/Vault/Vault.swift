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
    witness = VaultWitness(of: snapshot.header.id, root: root, environment: environment)
    file.pin(environment).note(id)
    // Read again if it has changed since, and compared with the witness.
    try adopt(opened: snapshot)
    VaultNotices.deliver()
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
