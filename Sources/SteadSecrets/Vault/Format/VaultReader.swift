import Foundation

/// Reads numbers, bytes and strings from a vault's bytes in sequence, and never beyond their end.
struct VaultReader {
  private let bytes: UnsafeRawBufferPointer
  private(set) var offset = 0

  /// The memory must not change while the reader is used.
  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  var rest: Int { bytes.count - offset }

  /// The next bytes, in place.
  mutating func take(_ count: Int) throws(SecretError) -> UnsafeRawBufferPointer {
    guard count >= 0, count <= rest else { throw .damagedVault("it is shorter than declared") }
    defer { offset += count }
    return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
  }

  mutating func array(_ count: Int) throws(SecretError) -> [UInt8] { Array(try take(count)) }

  mutating func number<Number: FixedWidthInteger>(
    _: Number.Type = Number.self
  ) throws(SecretError) -> Number {
    let bytes = try take(MemoryLayout<Number>.size)
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

  mutating func text(_ count: Int) throws(SecretError) -> String {
    let bytes = try take(count)
    // Several times as fast as `String(validating:as:)`. Invalid UTF-8 is repaired, and so differs.
    var text = String(decoding: bytes, as: UTF8.self)
    let isSame = text.withUTF8 { text in
      guard let start = text.baseAddress, let other = bytes.baseAddress else { return count == 0 }
      return text.count == count && memcmp(start, other, count) == 0
    }
    guard isSame else { throw .damagedVault("a string isn't UTF-8") }
    return text
  }

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
