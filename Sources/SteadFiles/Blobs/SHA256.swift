import Foundation

/// SHA-256 as FIPS 180-4 has it, for the names of blobs.
///
/// A dependency on a cryptography package would cost every user of this package a minute of building.
/// This is enough for naming and checking contents; it makes no promise against timing attacks, so it
/// is not for keys.
package enum SHA256 {
  static let byteCount = 32

  /// The 64 lower-case hexadecimal digits of the digest.
  package static func hexadecimal(_ data: Data) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    text.reserveCapacity(2 * byteCount)
    for byte in digest(data) {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }

  static func digest(_ data: Data) -> [UInt8] {
    var state = initialState
    let tail = padding(of: data)
    state.withUnsafeMutableBufferPointer { state in
      roundConstants.withUnsafeBufferPointer { constants in
        data.withUnsafeBytes { absorb($0, into: state, constants) }
        tail.withUnsafeBytes { absorb($0, into: state, constants) }
      }
    }
    return state.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) }
    }
  }

  /// The bytes after the last whole block, closed as the standard says: a one bit, zeros, the length.
  private static func padding(of data: Data) -> [UInt8] {
    var tail = [UInt8](data.suffix(data.count % 64))
    tail.append(0x80)
    while tail.count % 64 != 56 { tail.append(0) }
    let bitCount = UInt64(data.count) * 8
    tail += (0..<8).map { UInt8(truncatingIfNeeded: bitCount >> (56 - 8 * UInt64($0))) }
    return tail
  }

  private static func absorb(
    _ bytes: UnsafeRawBufferPointer, into state: UnsafeMutableBufferPointer<UInt32>,
    _ constants: UnsafeBufferPointer<UInt32>
  ) {
    guard let start = bytes.baseAddress else { return }
    withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { schedule in
      var offset = 0
      while offset + 64 <= bytes.count {
        expand(start + offset, into: schedule)
        compress(schedule, into: state, constants)
        offset += 64
      }
    }
  }

  /// The 64 words of a block's message schedule.
  @inline(__always)
  private static func expand(
    _ block: UnsafeRawPointer, into schedule: UnsafeMutableBufferPointer<UInt32>
  ) {
    var index = 0
    while index < 16 {
      schedule[index] = UInt32(
        bigEndian: block.loadUnaligned(fromByteOffset: index &* 4, as: UInt32.self))
      index &+= 1
    }
    while index < 64 {
      let early = schedule[index &- 15]
      let late = schedule[index &- 2]
      let first = rotate(early, 7) ^ rotate(early, 18) ^ (early &>> 3)
      let second = rotate(late, 17) ^ rotate(late, 19) ^ (late &>> 10)
      schedule[index] = schedule[index &- 16] &+ first &+ schedule[index &- 7] &+ second
      index &+= 1
    }
  }

  @inline(__always)
  private static func compress(
    _ schedule: UnsafeMutableBufferPointer<UInt32>,
    into state: UnsafeMutableBufferPointer<UInt32>, _ constants: UnsafeBufferPointer<UInt32>
  ) {
    var (a, b, c, d) = (state[0], state[1], state[2], state[3])
    var (e, f, g, h) = (state[4], state[5], state[6], state[7])
    var index = 0
    while index < 64 {
      let sumE = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
      let choice = (e & f) ^ (~e & g)
      let first = h &+ sumE &+ choice &+ constants[index] &+ schedule[index]
      let sumA = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
      let majority = (a & b) ^ (a & c) ^ (b & c)
      (h, g, f, e) = (g, f, e, d &+ first)
      (d, c, b, a) = (c, b, a, first &+ sumA &+ majority)
      index &+= 1
    }
    state[0] &+= a
    state[1] &+= b
    state[2] &+= c
    state[3] &+= d
    state[4] &+= e
    state[5] &+= f
    state[6] &+= g
    state[7] &+= h
  }

  @inline(__always)
  private static func rotate(_ word: UInt32, _ count: UInt32) -> UInt32 {
    (word &>> count) | (word &<< (32 &- count))
  }

  /// The first 32 bits of the fractions of the square roots of the first 8 primes.
  private static let initialState: [UInt32] = [
    0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a,
    0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
  ]

  /// The first 32 bits of the fractions of the cube roots of the first 64 primes.
  private static let roundConstants: [UInt32] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5,
    0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
    0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3,
    0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
    0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc,
    0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7,
    0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
    0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13,
    0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
    0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3,
    0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5,
    0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208,
    0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
  ]
}
