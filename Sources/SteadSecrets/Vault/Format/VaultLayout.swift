import Foundation

/// Offsets, sizes and limits of the vault file.
///
/// ```
///     0  header          readable: identity, generation, key slots, digest     VaultHeader, VaultSlot
///     H  index           sealed: names, labels, attributes, lengths            VaultIndex, VaultEntry
/// H + I  values          each sealed separately, in the order of the index     VaultSnapshot, VaultDraft
/// ```
///
/// Nothing follows the values. Numbers are little-endian and unsigned. "Sealed" means AES-256-GCM with a tag
/// of 16 bytes after the ciphertext (``VaultCipher``). Documentation/VaultFile.md describes the file to the
/// byte, with what it protects from; the tests have an independent reader in Python, written from that page.
///
/// A file may come from an attacker. So every length is checked against a limit before memory is allocated
/// for it or it is computed with. `Scripts/fuzz` feeds the files of this folder, which therefore depend on
/// little else.
enum VaultLayout {
  /// The beginning of the file.
  static let magic = Array("SteadVlt".utf8)
  /// The only version so far.
  static let version: UInt32 = 1

  /// Magic and version, which every later format will have at this offset.
  static let signatureSize = 12
  /// The part that never changes in the life of a vault: signature and vault id.
  static let prologueSize = 32
  /// The header up to the slots.
  static let fixedSize = 96
  static let digestSize = 32
  static let saltSize = 32
  static let idSize = 16
  static let tagSize = 16
  static let rootKeySize = 32

  static let slotSize = 152
  /// The part of a slot that precedes the sealed root key, and is authenticated with it.
  static let slotFieldsSize = 104

  /// A sealed index is longer than a multiple of this by one tag.
  static let indexStep = 256
  /// A sealed value is longer than a multiple of this by one tag.
  static let valueStep = 64
  /// The digest and the number of items.
  static let indexFieldsSize = 36
  /// An item without its strings.
  static let itemFieldsSize = 60

  /// The largest file.
  static let fileLimit = 64 << 20
  /// The longest sealed index.
  static let indexLimit = 16 << 20
  /// The longest secret.
  static let secretLimit = 16 << 20
  static let itemLimit = 65_536
  static let slotLimit = 16
  /// The longest name of a service, an account or an attribute.
  static let nameLimit = 1024
  /// The longest label, and the longest value of an attribute.
  static let textLimit = 4096
  static let attributeLimit = 64

  /// The length of the header with a number of slots, including its digest.
  static func headerSize(slots: Int) -> Int { fixedSize + slots * slotSize + digestSize }

  /// The length that a secret of a length has in the file: padded, at least one step, and with a tag.
  static func sealedSize(ofSecret length: Int) -> Int {
    max(rounded(length, to: valueStep), valueStep) + tagSize
  }

  static func rounded(_ length: Int, to step: Int) -> Int { (length + step - 1) / step * step }
}

extension Date {
  /// Makes a date from microseconds since 1970.
  init(vaultTime: UInt64) { self.init(timeIntervalSince1970: Double(vaultTime) / 1e6) }

  /// The date in microseconds since 1970; earlier dates count as 1970.
  var vaultTime: UInt64 {
    UInt64(exactly: (max(timeIntervalSince1970, 0) * 1e6).rounded()) ?? 0
  }
}

// MARK: - Reader

/// Reads numbers, bytes and strings from a vault's bytes in sequence.
///
/// Never beyond the end, whatever the bytes are: they may come from an attacker. All failures are `.corrupt`.
struct VaultReader {
  private let bytes: UnsafeRawBufferPointer
  private(set) var offset = 0

  /// The memory must not change while the reader is used.
  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  /// The number of bytes that have not been read.
  var rest: Int { bytes.count - offset }

  /// The next bytes, in place.
  mutating func take(_ count: Int) throws(SecretError) -> UnsafeRawBufferPointer {
    // Compared with the rest and not as an end: `offset + count` could overflow.
    guard count >= 0, count <= rest else { throw .damagedVault("it is shorter than declared") }
    defer { offset += count }
    return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
  }

  mutating func array(_ count: Int) throws(SecretError) -> [UInt8] { Array(try take(count)) }

  mutating func number<Number: FixedWidthInteger>(
    _: Number.Type = Number.self
  ) throws(SecretError) -> Number {
    let bytes = try take(MemoryLayout<Number>.size)
    // Unaligned: strings of any length are between the numbers.
    return Number(littleEndian: bytes.loadUnaligned(as: Number.self))
  }

  /// A number up to a limit, so that it is safe to compute with.
  mutating func count<Number: FixedWidthInteger>(
    _: Number.Type, limit: Int
  ) throws(SecretError) -> Int {
    guard let count = Int(exactly: try number(Number.self)), (0...limit).contains(count) else {
      throw .damagedVault("a length is beyond its limit")
    }
    return count
  }

  /// A string of valid UTF-8.
  mutating func text(_ count: Int) throws(SecretError) -> String {
    let bytes = try take(count)
    // Decoding repairs invalid UTF-8, so the result differs from the bytes then. With the comparison, this is
    // several times as fast as `String(validating:as:)`.
    var text = String(decoding: bytes, as: UTF8.self)
    let isSame = text.withUTF8 { text in
      guard let start = text.baseAddress, let other = bytes.baseAddress else { return count == 0 }
      return text.count == count && memcmp(start, other, count) == 0
    }
    guard isSame else { throw .damagedVault("a string isn't UTF-8") }
    return text
  }

  /// A string that isn't empty and contains no NUL.
  mutating func name(_ count: Int) throws(SecretError) -> String {
    let start = bytes.baseAddress.map { $0 + offset }
    let name = try text(count)
    guard let start, count > 0, memchr(start, 0, count) == nil else {
      throw .damagedVault("a name is empty or contains a NUL")
    }
    return name
  }

  /// Zeros up to the end.
  mutating func zeros() throws(SecretError) {
    guard try take(rest).allSatisfy({ $0 == 0 }) else {
      throw .damagedVault("its padding isn't zero")
    }
  }
}

extension SecretError {
  /// The error for a file that isn't a vault as it was written.
  static func damagedVault(_ problem: String) -> SecretError {
    SecretError(
      code: .corrupt,
      message:
        "The vault's file is damaged: \(problem). It was left unchanged; replace it with "
        + "a good copy.")
  }
}

// MARK: - Writer

/// Writes numbers, bytes and strings in sequence to memory of a known size.
struct VaultWriter {
  private let memory: UnsafeMutableRawBufferPointer
  private(set) var offset = 0

  /// The memory must exist while the writer is used, and be large enough for everything written.
  init(_ memory: UnsafeMutableRawBufferPointer) { self.memory = memory }

  mutating func put(_ bytes: UnsafeRawBufferPointer) {
    // The slice is checked, so that a size that was computed wrong traps instead of writing beyond the memory.
    UnsafeMutableRawBufferPointer(rebasing: memory[offset..<offset + bytes.count])
      .copyMemory(from: bytes)
    offset += bytes.count
  }

  mutating func put(_ bytes: [UInt8]) { bytes.withUnsafeBytes { put($0) } }

  mutating func put(_ number: some FixedWidthInteger) {
    withUnsafeBytes(of: number.littleEndian) { put($0) }
  }

  mutating func put(_ text: String) {
    var text = text
    text.withUTF8 { put(UnsafeRawBufferPointer($0)) }
  }
}
