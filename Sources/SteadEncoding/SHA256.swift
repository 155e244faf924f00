import CSteadEncoding

/// SHA-256 as specified by FIPS 180-4, for the names of blobs and for names that every device computes alike.
///
/// A dependency on a cryptography package would cost every user of this package a minute of building. This
/// implementation is enough for naming and checking contents; it makes no promise against timing attacks, so
/// don't use it for keys. A megabyte takes 0.8 ms where the processor has SHA-256 instructions, otherwise 4
/// ms; a debug build takes ten times as long.
///
/// A file that also imports Crypto has to write `Crypto.SHA256` or `SteadEncoding.SHA256`.
package enum SHA256 {
  /// The size of a digest, in bytes.
  package static let byteCount = 32
  private static let blockSize = 64

  /// Processes whole blocks into a state.
  typealias Blocks = (UnsafeMutablePointer<UInt32>, UnsafeRawPointer, Int) -> Void

  /// Lower-case hexadecimal digits: all 64 of the digest, or those of its first bytes.
  ///
  /// Bytes that aren't contiguous are copied. Those of `Data`, arrays and strings' `utf8` are.
  package static func hexadecimal(
    _ bytes: some Collection<UInt8>, byteCount: Int = byteCount
  ) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    text.reserveCapacity(2 * byteCount)
    for byte in digest(of: bytes).prefix(byteCount) {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The 32 bytes of the digest. Costs one pass over the bytes; those that aren't contiguous are copied. Thread-safe.
  package static func digest(of bytes: some Collection<UInt8>) -> [UInt8] {
    digest(of: bytes, by: stead_sha256_blocks)
  }

  /// The digest by a given implementation of the compression function: tests compare the processor's with the
  /// portable one.
  static func digest(of bytes: some Collection<UInt8>, by absorb: Blocks) -> [UInt8] {
    bytes.withContiguousStorageIfAvailable { digest(of: UnsafeRawBufferPointer($0), absorb) }
      ?? Array(bytes).withUnsafeBytes { digest(of: $0, absorb) }
  }

  /// Processes the whole blocks in place, and then the padded rest. Only the rest is copied.
  private static func digest(of bytes: UnsafeRawBufferPointer, _ absorb: Blocks) -> [UInt8] {
    var state = initialState
    // An empty buffer may have no address.
    if let start = bytes.baseAddress { absorb(&state, start, bytes.count / blockSize) }
    padding(of: bytes).withUnsafeBytes { tail in
      if let start = tail.baseAddress { absorb(&state, start, tail.count / blockSize) }
    }
    return state.flatMap { word in
      (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) }
    }
  }

  /// The bytes after the last whole block, padded as FIPS 180-4 requires in section 5.1.1: a one bit, zeros, and the
  /// length in bits as 64 bits. That is one block, or two if the length doesn't fit into the first.
  private static func padding(of bytes: UnsafeRawBufferPointer) -> [UInt8] {
    var tail = [UInt8](bytes.suffix(bytes.count % blockSize))
    tail.append(0x80)
    while tail.count % blockSize != blockSize - 8 { tail.append(0) }
    // No buffer has 2^61 bytes, so this can't overflow.
    let bitCount = UInt64(bytes.count) * 8
    tail += (0..<8).map { UInt8(truncatingIfNeeded: bitCount >> (56 - 8 * UInt64($0))) }
    return tail
  }

  /// The first 32 bits of the fractions of the square roots of the first 8 primes (FIPS 180-4, section 5.3.3).
  private static let initialState: [UInt32] = [
    0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a,
    0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
  ]
}
