import Crypto
import Foundation
import Synchronization

/// The keys that sign access tokens, in a file that only its owner may read.
///
/// The newest key signs. Older keys still verify for an hour, four times a token's lifetime.
public final class SigningKeys: Sendable {
  /// How long a superseded key still verifies, in seconds.
  static let grace: Int64 = 3_600

  struct Key: Sendable {
    let name: String
    /// When it was made, in milliseconds since 1970.
    let created: Int64
    let key: Curve25519.Signing.PrivateKey
  }

  private struct Stored: Codable {
    struct Key: Codable {
      var kid: String
      var created: Int64
      var key: String
    }
    var version = 1
    var keys: [Key]
  }

  private let path: String
  private let keys: Mutex<[Key]>

  /// Reads the keys in a directory, or makes the first one.
  ///
  /// Throws ``ServerError`` if others may read the file, or if it is damaged.
  public init(directory: String, clock: ServerClock) throws {
    path = directory + "/signing-keys.json"
    keys = Mutex([])
    if FileManager.default.fileExists(atPath: path) {
      try reload()
    } else {
      try rotate(clock: clock)
    }
  }

  /// Makes a new key, which signs from now on, and drops keys that were superseded long enough ago.
  public func rotate(clock: ServerClock) throws {
    let now = clock.now
    try keys.withLock { keys in
      let fresh = Key(
        name: Secret.identifier(), created: now, key: Curve25519.Signing.PrivateKey())
      // A key is superseded when the one after it is made.
      let kept = keys.enumerated().filter { index, _ in
        index == keys.count - 1 || now - keys[index + 1].created < Self.grace * 1_000
      }
      let changed = kept.map(\.element) + [fresh]
      try Self.write(changed, to: path)
      keys = changed
    }
  }

  /// Reads the file again, after another process has changed it.
  public func reload() throws {
    let fresh = try Self.read(path)
    keys.withLock { $0 = fresh }
  }

  var newest: Key {
    get throws {
      guard let key = keys.withLock({ $0.last }) else { throw Self.damaged }
      return key
    }
  }

  func publicKey(named name: String) -> Curve25519.Signing.PublicKey? {
    keys.withLock { $0.first { $0.name == name }?.key.publicKey }
  }

  // MARK: The file

  private static let damaged = ServerError(
    .failed, "The file of signing keys is damaged.",
    remedy: "Restore signing-keys.json, or remove it: devices then fetch new access tokens.")

  private static func read(_ path: String) throws -> [Key] {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    let mode = (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0o777
    guard mode & 0o077 == 0 else {
      throw ServerError(
        .failed, "Other users may read the file of signing keys.",
        remedy: "Run `chmod 600` on signing-keys.json, then `stead serve rotate-key`.")
    }
    do {
      let stored = try JSONDecoder().decode(
        Stored.self, from: Data(contentsOf: URL(filePath: path)))
      let keys = try stored.keys.map { key in
        guard let bytes = Base64URL.decode(key.key) else { throw damaged }
        return Key(
          name: key.kid, created: key.created,
          key: try Curve25519.Signing.PrivateKey(rawRepresentation: bytes))
      }
      guard stored.version == 1, !keys.isEmpty else { throw damaged }
      return keys
    } catch {
      throw damaged
    }
  }

  private static func write(_ keys: [Key], to path: String) throws {
    let stored = Stored(
      keys: keys.map {
        Stored.Key(
          kid: $0.name, created: $0.created, key: Base64URL.encode($0.key.rawRepresentation))
      })
    try PrivateFile.write(JSONEncoder().encode(stored), to: path)
  }
}
