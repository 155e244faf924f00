import Foundation

/// One of the keys that open a vault, as described in the vault's file.
public struct VaultKeySlot: Hashable, Sendable, Identifiable {
  /// The kinds of keys.
  public enum Kind: UInt32, Hashable, Sendable, CaseIterable {
    /// Something that a person knows.
    case passphrase = 1
    /// A file with random bytes.
    case keyFile = 2
    /// A credential that systemd gives to a service.
    case systemdCredential = 3
    /// A key in another store.
    case stored = 4
  }

  /// Distinguishes it from the vault's other slots.
  public let id: UUID
  /// The kind of key that opens it.
  public let kind: Kind
  /// When it was created.
  public let created: Date
}

// MARK: - Slot in the file

/// A key slot as stored in the file: the root key, sealed by a key of the user's.
///
/// | offset | bytes | holds |
/// |---|---|---|
/// | 0 | 4 | kind |
/// | 4 | 12 | log2 N, r and p of scrypt, 4 bytes each; 0 for other kinds |
/// | 16 | 16 | slot id |
/// | 32 | 8 | when it was created, in microseconds since 1970 |
/// | 40 | 32 | salt |
/// | 72 | 32 | check |
/// | 104 | 48 | the root key, sealed |
///
/// The check tells whether a key is the slot's, before the slot is opened; see ``root(of:by:)``.
struct VaultSlot: Hashable, Sendable {
  var kind: VaultKeySlot.Kind
  /// Nil for all kinds except passphrases.
  var scrypt: VaultScrypt?
  var id: [UInt8]
  var created: UInt64
  var salt: [UInt8]
  var check: [UInt8]
  var sealedRoot: [UInt8]

  init(
    kind: VaultKeySlot.Kind, scrypt: VaultScrypt?, id: [UInt8], created: UInt64, salt: [UInt8],
    check: [UInt8] = [], sealedRoot: [UInt8] = []
  ) {
    (self.kind, self.scrypt, self.id, self.created) = (kind, scrypt, id, created)
    (self.salt, self.check, self.sealedRoot) = (salt, check, sealedRoot)
  }

  /// Parses a slot.
  ///
  /// - Throws: ``SecretError``: `.corrupt` for a kind that does not exist, or a cost beyond its limits.
  init(from reader: inout VaultReader) throws(SecretError) {
    guard let kind = VaultKeySlot.Kind(rawValue: try reader.number()) else {
      // Not skipped: a write would have to copy a slot that this version does not understand.
      throw .damagedVault("a key slot has an unknown kind")
    }
    self.kind = kind
    let logN = try reader.count(UInt32.self, limit: VaultScrypt.logNLimit)
    let r = try reader.count(UInt32.self, limit: VaultScrypt.rLimit)
    let p = try reader.count(UInt32.self, limit: VaultScrypt.pLimit)
    scrypt = VaultScrypt(logN: logN, r: r, p: p)
    // The initializer checks the products: each number may be within its limit, and their cost
    // minutes or gigabytes.
    guard kind == .passphrase ? scrypt != nil : (logN, r, p) == (0, 0, 0) else {
      throw .damagedVault("the cost of a passphrase exceeds its limit")
    }
    id = try reader.array(VaultLayout.idSize)
    created = try reader.number()
    salt = try reader.array(VaultLayout.saltSize)
    check = try reader.array(VaultLayout.digestSize)
    sealedRoot = try reader.array(VaultLayout.rootKeySize + VaultLayout.tagSize)
  }

  /// The part before the sealed root key.
  func writeFields(to writer: inout VaultWriter) {
    writer.put(kind.rawValue)
    for number in [scrypt?.logN, scrypt?.r, scrypt?.p] {
      writer.put(UInt32(truncatingIfNeeded: number ?? 0))
    }
    writer.put(id)
    writer.put(created)
    writer.put(salt)
    writer.put(check)
  }

  func write(to writer: inout VaultWriter) {
    writeFields(to: &writer)
    writer.put(sealedRoot)
  }

  /// The bytes that are authenticated with the sealed root key, without the vault's prologue.
  var fields: [UInt8] {
    [UInt8](unsafeUninitializedCapacity: VaultLayout.slotFieldsSize) { memory, count in
      var writer = VaultWriter(UnsafeMutableRawBufferPointer(memory))
      writeFields(to: &writer)
      count = writer.offset
    }
  }

  /// The cost of trying a passphrase on all slots, as N times r times p of scrypt.
  static func work(of slots: [VaultSlot]) -> Int { slots.reduce(0) { $0 + ($1.scrypt?.work ?? 0) } }

  /// The slot's description for the user.
  var keySlot: VaultKeySlot {
    VaultKeySlot(id: UUID(bytes: id), kind: kind, created: Date(vaultTime: created))
  }
}

extension UUID {
  /// The first 16 bytes; missing ones count as zero.
  init(bytes: [UInt8]) {
    var id: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    withUnsafeMutableBytes(of: &id) { $0.copyBytes(from: bytes.prefix($0.count)) }
    self.init(uuid: id)
  }
}
