import CSteadSecrets
import Crypto
import Foundation

/// AES-256-GCM with a nonce of zeros, which is safe since every key here seals only one message.
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
    defer { coverTraces() }
    do {
      let box = try AES.GCM.seal(bytes, using: key, nonce: zeros, authenticating: additional)
      return box.ciphertext + box.tag
    } catch {
      throw SecretError(
        code: .failed, message: "The cryptographic library could not encrypt.", cause: error)
    }
  }

  /// The plaintext, or its first bytes; nil when the tag does not match, or the input is too short.
  static func open(
    _ sealed: Data, by key: SymmetricKey, with additional: some DataProtocol,
    keeping count: Int? = nil
  ) -> SecretBytes? {
    guard sealed.count >= VaultLayout.tagSize else { return nil }
    defer { coverTraces() }
    var combined = Data(capacity: nonceSize + sealed.count)
    combined.append(contentsOf: repeatElement(0, count: nonceSize))
    combined.append(sealed)
    // The library's memory is zeroed here, where nobody else has it: with a second reference the data would
    // first copy itself, and the copy would be zeroed.
    guard let box = try? AES.GCM.SealedBox(combined: combined),
      var plain = try? AES.GCM.open(box, using: key, authenticating: additional)
    else { return nil }
    defer { plain.wipe() }
    let count = count ?? plain.count
    guard count <= plain.count else { return nil }
    return plain.withUnsafeBytes { SecretBytes(copying: .init(rebasing: $0[..<count])) }
  }

  /// Overwrites what the library and the processor retain of the last key.
  ///
  /// The library frees a key's schedule, from which the key can be derived, without wiping it; the schedule
  /// of the next key gets the same memory. Vector registers keep their contents until they are reused, and go
  /// to the stack and into core dumps with the others.
  private static func coverTraces() {
    if let nonce = try? zeros { _ = try? AES.GCM.seal([UInt8](), using: dummy, nonce: nonce) }
    stead_clear_vectors()
  }
}
