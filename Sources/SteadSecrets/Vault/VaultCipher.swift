import CSteadSecrets
import Crypto
import CryptoExtras
import Foundation

/// AES-256-GCM with a nonce of zeros.
///
/// GCM loses all security if a key seals two messages with one nonce. Here every key seals a single message: it is
/// derived with 32 random bytes that are drawn for that message (``VaultRoot``). Keep it so.
enum VaultCipher {
  private static let nonceSize = 12
  private static let dummy = SymmetricKey(
    data: [UInt8](repeating: 0, count: VaultLayout.rootKeySize))
  private static var zeros: AES.GCM.Nonce {
    get throws { try AES.GCM.Nonce(data: [UInt8](repeating: 0, count: nonceSize)) }
  }

  /// The ciphertext and the tag.
  static func seal(
    _ bytes: UnsafeRawBufferPointer, by key: SymmetricKey, with additional: [UInt8]
  ) throws(SecretError) -> Data {
    defer { overwriteKeySchedule() }
    do {
      let box = try AES.GCM.seal(bytes, using: key, nonce: zeros, authenticating: additional)
      return box.ciphertext + box.tag
    } catch {
      throw SecretError(
        code: .failed, message: "The cryptographic library could not encrypt.", cause: error)
    }
  }

  /// The plaintext, or its first bytes without the padding; nil when the tag does not match, or the input is
  /// too short.
  static func open(
    _ sealed: Data, by key: SymmetricKey, with additional: some DataProtocol,
    keeping count: Int? = nil
  ) -> SecretBytes? {
    guard sealed.count >= VaultLayout.tagSize else { return nil }
    // On every way out, also when the tag doesn't match: the library has expanded the key by then.
    defer { overwriteKeySchedule() }
    var combined = Data(capacity: nonceSize + sealed.count)
    combined.append(contentsOf: repeatElement(0, count: nonceSize))
    combined.append(sealed)
    // `plain` is wiped in this function, which has the only reference to its buffer. With a second reference, the
    // mutation would first copy the buffer, and wipe the copy.
    guard let box = try? AES.GCM.SealedBox(combined: combined),
      var plain = try? AES.GCM.open(box, using: key, authenticating: additional)
    else { return nil }
    defer { plain.wipe() }
    let count = count ?? plain.count
    // The length is of the index, and the value of another part of the file: a slice beyond the end would trap.
    guard count <= plain.count else { return nil }
    return plain.withUnsafeBytes { SecretBytes(copying: .init(rebasing: $0[..<count])) }
  }

  /// Overwrites what the library and the processor retain of the last key.
  ///
  /// The library frees a key's schedule, from which the key can be derived, without wiping it. Sealing
  /// nothing by a dummy key makes another schedule of the same size, which the allocator puts into the same
  /// memory. Vector registers keep their contents until they are reused, and are saved on the stack and in
  /// core dumps with the others. VaultKeyLeakTests searches the memory of the process for both.
  private static func overwriteKeySchedule() {
    if let nonce = try? zeros { _ = try? AES.GCM.seal([UInt8](), using: dummy, nonce: nonce) }
    stead_clear_vectors()
  }
}

// MARK: - Root key

/// A vault's root key, and the keys derived from it.
///
/// The root key is random and never changes, so that keys and passphrases can be changed without sealing the values
/// again. It seals nothing itself; HKDF-Expand makes a key for each message from it.
struct VaultRoot: Sendable {
  let bytes: SecretBytes

  init(_ bytes: SecretBytes) { self.bytes = bytes }

  /// Generates a new root key.
  static func random() -> VaultRoot {
    VaultRoot(.random(count: VaultLayout.rootKeySize))
  }

  /// The key of the index. The write salt is drawn for each write.
  func indexKey(_ writeSalt: [UInt8]) -> SymmetricKey { key("index", writeSalt) }
  /// The key of one item's secret. The item's salt is drawn whenever the secret is written.
  func valueKey(_ salt: [UInt8]) -> SymmetricKey { key("value", salt) }
  /// The key that authenticates the witness's records.
  func witnessKey(_ vaultID: [UInt8]) -> SymmetricKey { key("witness", vaultID) }

  private func key(_ purpose: StaticString, _ salt: [UInt8]) -> SymmetricKey {
    bytes.withBytes { root in
      HKDF<Crypto.SHA256>.expand(
        pseudoRandomKey: root, info: Array("stead vault 1 \(purpose)".utf8) + salt,
        outputByteCount: VaultLayout.rootKeySize)
    }
  }
}

// MARK: - Slots

extension VaultSlot {
  /// Makes a new slot, which seals the root key by a key's bytes.
  static func sealing(
    _ root: VaultRoot, of vaultID: [UInt8], kind: VaultKeySlot.Kind, scrypt: VaultScrypt?,
    material: SecretBytes, id: [UInt8] = .random(count: VaultLayout.idSize),
    salt: [UInt8] = .random(count: VaultLayout.saltSize), created: UInt64 = Date().vaultTime
  ) throws(SecretError) -> VaultSlot {
    var slot = VaultSlot(kind: kind, scrypt: scrypt, id: id, created: created, salt: salt)
    // The salt is new, so the wrapping key is, too, and seals this one message.
    let keys = try slot.keys(from: material)
    slot.check = keys.check
    // After the check is set, which is one of the authenticated fields. The vault's id keeps a slot from being moved
    // into another vault.
    let additional = VaultHeader.prologue(id: vaultID) + slot.fields
    slot.sealedRoot = try root.bytes.withBytes { (bytes) throws(SecretError) in
      Array(try VaultCipher.seal(bytes, by: keys.wrapping, with: additional))
    }
    return slot
  }

  /// The root key; nil when the bytes are not those of this slot's key.
  ///
  /// The check comes first. AES-GCM does not commit to a key: a ciphertext can be made that many keys open. A
  /// slot like that would tell an attacker, by the error or its absence, whether the user's passphrase is one
  /// of many guesses.
  func root(of vaultID: [UInt8], by material: SecretBytes) throws(SecretError) -> VaultRoot? {
    let keys = try keys(from: material)
    guard keys.check == check else { return nil }
    let additional = VaultHeader.prologue(id: vaultID) + fields
    let opened = VaultCipher.open(Data(sealedRoot), by: keys.wrapping, with: additional)
    guard let opened, opened.count == VaultLayout.rootKeySize else {
      // The key was right, so it is the file that was changed.
      throw .damagedVault("a key slot isn't authentic")
    }
    return VaultRoot(opened)
  }

  /// Derives the key that seals the root key, and the check that the file has in the clear.
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
      // Two independent halves: the check, which everyone can read, tells nothing of the wrapping key.
      (SymmetricKey(data: bytes.prefix(half)), Array(bytes.suffix(half)))
    }
  }
}

extension VaultSlot {
  /// The extract step of HKDF, taken apart from the other one to overwrite the hash's state in between.
  private func extract(_ material: SecretBytes) -> HashedAuthenticationCode<Crypto.SHA256> {
    var hash = HMAC<Crypto.SHA256>(key: SymmetricKey(data: salt))
    material.withBytes { hash.update(data: $0) }
    let code = hash.finalize()
    // The key's last bytes, which did not fill a block, are still in the hash's buffer, which is freed
    // without being wiped. Another block overwrites them; the code is computed already.
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
