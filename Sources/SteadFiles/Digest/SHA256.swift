import CSteadFiles
import Foundation

/// SHA-256 as specified by FIPS 180-4, for the names of blobs.
///
/// A dependency on a cryptography package would cost every user of this package a minute of building. This
/// implementation is enough for naming and checking contents; it makes no promise against timing attacks, so
/// don't use it for keys. A megabyte takes 0.8 ms where the processor has SHA-256 instructions, otherwise 4
/// ms; a debug build takes ten times as long.
package enum SHA256 {
  package static let byteCount = 32
  private static let blockSize = 64

  /// Processes whole blocks into a state.
  typealias Blocks = (UnsafeMutablePointer<UInt32>, UnsafeRawPointer, Int) -> Void

  /// Lower-case hexadecimal digits: all 64 of the digest, or those of its first bytes.
  package static func hexadecimal(_ data: Data, byteCount: Int = byteCount) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    text.reserveCapacity(2 * byteCount)
    for byte in digest(data).prefix(byteCount) {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The 32 bytes of the digest.
  package static func digest(of data: Data) -> Data { Data(digest(data)) }

  static func digest(_ data: Data, by absorb: Blocks = stead_sha256_blocks) -> [UInt8] {
    var state = initialState
    let tail = padding(of: data)
    data.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return }
      absorb(&state, start, bytes.count / blockSize)
    }
    tail.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return }
      absorb(&state, start, bytes.count / blockSize)
    }
    return state.flatMap { word in
      (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) }
    }
  }

  /// The bytes after the last whole block, padded as the standard requires: a one bit, zeros, the length.
  private static func padding(of data: Data) -> [UInt8] {
    var tail = [UInt8](data.suffix(data.count % blockSize))
    tail.append(0x80)
    while tail.count % blockSize != blockSize - 8 { tail.append(0) }
    let bitCount = UInt64(data.count) * 8
    tail += (0..<8).map { UInt8(truncatingIfNeeded: bitCount >> (56 - 8 * UInt64($0))) }
    return tail
  }

  /// The first 32 bits of the fractions of the square roots of the first 8 primes.
  private static let initialState: [UInt32] = [
    0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a,
    0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
  ]
}
