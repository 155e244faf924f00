#if Server
import Crypto
import Foundation
import Synchronization

/// The Ed25519 keys that sign access tokens, in the file `signing-keys.json`, which only its owner may read.
///
/// The newest key signs. A rotation keeps the older keys for ``grace``, four times a token's lifetime, so it refuses
/// no token that is valid. Only a rotation removes keys, and the clock doesn't: the key before the newest verifies
/// until the next rotation.
///
/// The file is JSON: `{"version":1,"keys":[{"kid","created","key"}]}`, oldest key first, with the 32 bytes of each
/// private key in base64url. Thread-safe: one mutex guards the keys in memory, and a reader never waits for the disk
/// except while this process rotates.
package final class SigningKeys: Sendable {
  /// How long a superseded key still verifies at least, in seconds.
  static let grace: Int64 = 3_600

  /// A key pair with its name.
  struct Key: Sendable {
    /// The key's name: `kid` in a token's header.
    let name: String
    /// When it was made, in milliseconds since 1970.
    let created: Int64
    let key: Curve25519.Signing.PrivateKey
  }

  /// The JSON of the file.
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

  /// Reads the keys in a directory, or makes the first one. Reads or writes the disk.
  ///
  /// - Throws: ``ServerError`` with the code `failed` if others may read the file, if it is damaged, or if it can't
  ///   be written.
  package init(directory: String, clock: ServerClock) throws {
    path = directory + "/signing-keys.json"
    keys = Mutex([])
    if FileManager.default.fileExists(atPath: path) {
      try reload()
    } else {
      try rotate(clock: clock)
    }
  }

  /// Makes a new key, which signs from now on, and drops keys that were superseded more than ``grace`` ago.
  ///
  /// The file is durable before the key signs: otherwise a crash could leave tokens that no key verifies. Other
  /// processes use the new key after ``reload()``.
  package func rotate(clock: ServerClock) throws {
    let now = clock.now
    try keys.withLock { keys in
      let fresh = Key(
        name: Secret.identifier(), created: now, key: Curve25519.Signing.PrivateKey())
      // A key is superseded when the one after it is made.
      let kept = keys.enumerated().filter { index, _ in
        index == keys.count - 1 || now - keys[index + 1].created < Self.grace * 1_000
      }
      // The newest is last: ``newest`` and the order of the file rely on it.
      let changed = kept.map(\.element) + [fresh]
      // Before it is used: a token must not be signed with a key that a crash can take away.
      try Self.write(changed, to: path)
      keys = changed
    }
  }

  /// Reads the file again, after another process has changed it. The keys in memory stay as they are if that throws.
  package func reload() throws {
    let fresh = try Self.read(path)
    keys.withLock { $0 = fresh }
  }

  /// The key that signs.
  var newest: Key {
    get throws {
      guard let key = keys.withLock({ $0.last }) else { throw Self.damaged }
      return key
    }
  }

  /// The key that verifies tokens with this `kid`; nil for one that this server doesn't have.
  func publicKey(named name: String) -> Curve25519.Signing.PublicKey? {
    keys.withLock { $0.first { $0.name == name }?.key.publicKey }
  }

  // MARK: The file

  private static let damaged = ServerError(
    .failed, "The file of signing keys is damaged.",
    remedy: "Restore signing-keys.json, or remove it: devices then fetch new access tokens.")

  /// Reads the file, which has at least one key.
  ///
  /// Any error in it is reported as damage, without its cause: a decoding error may quote what it could not read,
  /// here a private key.
  private static func read(_ path: String) throws -> [Key] {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    // A mode that can't be read counts as open to everybody.
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

  /// Replaces the file, durably.
  private static func write(_ keys: [Key], to path: String) throws {
    let stored = Stored(
      keys: keys.map {
        Stored.Key(
          kid: $0.name, created: $0.created, key: Base64URL.encode($0.key.rawRepresentation))
      })
    try PrivateFile.write(JSONEncoder().encode(stored), to: path)
  }
}

/// A file that only its owner may read or write.
enum PrivateFile {
  /// Replaces the file's contents as a whole: after a crash, the file has either the old or the new contents.
  ///
  /// The temporary file is made with `O_EXCL` and mode 0600, so no other user can read the bytes at any moment, or
  /// put a link where they are written. Costs two calls of fsync: one for the file and one for its directory.
  static func write(_ data: Data, to path: String) throws {
    // Next to the file, since rename(2) works only within one file system. The random part keeps two processes apart.
    let temporary = path + ".\(Secret.identifier())"
    let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw failure("be created") }
    do {
      // Closes the descriptor also if a write throws.
      let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
      try handle.write(contentsOf: data)
      try handle.synchronize()
      try handle.close()
      guard rename(temporary, path) == 0 else { throw failure("be replaced") }
      // The rename is durable only once the directory is.
      try synchronizeDirectory(of: path)
    } catch {
      // After the rename there is nothing to remove, and unlink fails without harm.
      unlink(temporary)
      throw error
    }
  }

  /// Makes the entries of a file's directory durable, as after rename(2).
  static func synchronizeDirectory(of path: String) throws {
    let directory = open(
      URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false), O_RDONLY)
    guard directory >= 0 else { throw failure("be synchronized") }
    defer { close(directory) }
    guard fsync(directory) == 0 else { throw failure("be synchronized") }
  }

  /// The error for an action that has just failed; has its errno.
  private static func failure(_ action: String) -> ServerError {
    ServerError(
      .failed, "A file in the data directory can't \(action) (errno \(errno)).",
      remedy: "Check the directory's owner, its mode and the free space.")
  }
}

/// Base64 with the URL-safe alphabet and without padding. Reading is strict: each sequence of bytes has one spelling.
enum Base64URL {
  /// The text of bytes: with `-` and `_`, without padding.
  static func encode(_ bytes: some Sequence<UInt8>) -> String {
    String(decoding: spelling(of: Data(bytes)), as: UTF8.self)
  }

  /// The bytes; nil unless the text is the spelling that ``encode(_:)`` gives them. A lenient reader would accept
  /// several texts for one token, which ``VerifiedTokens`` would store several times.
  static func decode(_ text: some StringProtocol) -> [UInt8]? {
    let spelling = Array(text.utf8)
    var standard: [UInt8] = []
    standard.reserveCapacity(spelling.count + 3)
    for byte in spelling {
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        standard.append(byte)
      case UInt8(ascii: "-"): standard.append(UInt8(ascii: "+"))
      case UInt8(ascii: "_"): standard.append(UInt8(ascii: "/"))
      default: return nil
      }
    }
    // Foundation reads only padded Base64.
    while standard.count % 4 != 0 { standard.append(UInt8(ascii: "=")) }
    guard let data = Data(base64Encoded: Data(standard)) else { return nil }
    // The last character may hold bits that belong to no byte.
    return self.spelling(of: data) == spelling ? Array(data) : nil
  }

  /// The characters of ``encode(_:)``, from Foundation's Base64.
  private static func spelling(of data: Data) -> [UInt8] {
    data.base64EncodedData().compactMap { byte in
      switch byte {
      case UInt8(ascii: "+"): UInt8(ascii: "-")
      case UInt8(ascii: "/"): UInt8(ascii: "_")
      case UInt8(ascii: "="): nil
      default: byte
      }
    }
  }
}
#endif
