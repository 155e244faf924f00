import Crypto
import CryptoExtras
import Foundation

extension VaultSlot {
  /// Makes a new slot, which seals the root key by a key's bytes.
  static func sealing(
    _ root: VaultRoot, of vaultID: [UInt8], kind: VaultKeySlot.Kind, scrypt: VaultScrypt?,
    material: SecretBytes, id: [UInt8] = .random(count: VaultLayout.idSize),
    salt: [UInt8] = .random(count: VaultLayout.saltSize), created: UInt64 = Date().vaultTime
  ) throws(SecretError) -> VaultSlot {
    var slot = VaultSlot(kind: kind, scrypt: scrypt, id: id, created: created, salt: salt)
    let keys = try slot.keys(from: material)
    slot.check = keys.check
    let additional = VaultHeader.prologue(id: vaultID) + slot.fields
    slot.sealedRoot = try root.bytes.withBytes { (bytes) throws(SecretError) in
      Array(try VaultCipher.seal(bytes, by: keys.wrapping, with: additional))
    }
    return slot
  }

  /// The root key; nil when the bytes are not those of this slot's key.
  func root(of vaultID: [UInt8], by material: SecretBytes) throws(SecretError) -> VaultRoot? {
    let keys = try keys(from: material)
    guard keys.check == check else { return nil }
    let additional = VaultHeader.prologue(id: vaultID) + fields
    let opened = VaultCipher.open(Data(sealedRoot), by: keys.wrapping, with: additional)
    guard let opened, opened.count == VaultLayout.rootKeySize else {
      throw .damagedVault("a key slot isn't authentic")
    }
    return VaultRoot(opened)
  }

  private func keys(
    from material: SecretBytes
  ) throws(SecretError) -> (wrapping: SymmetricKey, check: [UInt8]) {
    let half = VaultLayout.rootKeySize
    let derived =
      if let scrypt { try scrypt.derive(material, salt: salt, count: 2 * half) } else {
        HKDF<Crypto.SHA256>.expand(
          pseudoRandomKey: extract(material), info: Array("stead vault 1 slot".utf8),
          outputByteCount: 2 * half)
      }
    return derived.withUnsafeBytes { bytes in
      (SymmetricKey(data: bytes.prefix(half)), Array(bytes.suffix(half)))
    }
  }
}

extension VaultSlot {
  /// The first step of HKDF.
  private func extract(_ material: SecretBytes) -> HashedAuthenticationCode<Crypto.SHA256> {
    var hash = HMAC<Crypto.SHA256>(key: SymmetricKey(data: salt))
    material.withBytes { hash.update(data: $0) }
    let code = hash.finalize()
    // A partial block would remain in the library's state, which is freed without being wiped.
    hash.update(data: [UInt8](repeating: 0, count: Crypto.SHA256.blockByteCount))
    return code
  }
}

extension VaultScrypt {
  /// Derives bytes from a passphrase; it takes the memory and the time of the cost.
  func derive(_ passphrase: SecretBytes, salt: [UInt8], count: Int) throws(SecretError)
    -> SymmetricKey
  {
    do {
      return try passphrase.withBytes { bytes in
        try KDF.Scrypt.deriveKey(
          from: bytes, salt: salt, outputByteCount: count, rounds: 1 << logN, blockSize: r,
          parallelism: p)
      }
    } catch {
      throw SecretError(
        code: .failed,
        message:
          "The key could not be derived from the passphrase. There may be too little memory: "
          + "\((128 * r) << (logN - 10)) KiB are needed.",
        cause: error)
    }
  }
}
