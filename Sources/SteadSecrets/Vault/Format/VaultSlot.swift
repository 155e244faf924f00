import Foundation

/// A key slot as stored in the file: the root key, sealed by a key of the user's.
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

  init(from reader: inout VaultReader) throws(SecretError) {
    guard let kind = VaultKeySlot.Kind(rawValue: try reader.number()) else {
      throw .damagedVault("a key slot has an unknown kind")
    }
    self.kind = kind
    let logN = try reader.count(UInt32.self, limit: VaultScrypt.logNLimit)
    let r = try reader.count(UInt32.self, limit: VaultScrypt.rLimit)
    let p = try reader.count(UInt32.self, limit: VaultScrypt.pLimit)
    scrypt = VaultScrypt(logN: logN, r: r, p: p)
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
