import Crypto

/// The schedule of a key of AES-256 (FIPS 197), made in the memory that is given, and nowhere else.
enum AESSchedule {
  /// Fifteen round keys of sixteen bytes.
  static let size = 240

  static func expand(_ key: SymmetricKey, into schedule: UnsafeMutableRawBufferPointer) {
    key.withUnsafeBytes { schedule.copyMemory(from: $0) }
    var constant: UInt8 = 1
    for word in 8..<60 {
      for byte in 0..<4 {
        var previous = schedule[word * 4 - 4 + byte]
        if word % 8 == 0 {
          previous = box[Int(schedule[word * 4 - 4 + (byte + 1) % 4])]
          if byte == 0 { previous ^= constant }
        } else if word % 8 == 4 {
          previous = box[Int(previous)]
        }
        schedule[word * 4 + byte] = schedule[word * 4 - 32 + byte] ^ previous
      }
      if word % 8 == 0 { constant = doubled(constant) }
    }
  }

  private static func doubled(_ byte: UInt8) -> UInt8 {
    byte & 0x80 == 0 ? byte << 1 : byte << 1 ^ 0x1B
  }

  /// The S-box: the inverse in the field of 256 elements, and bits that are mixed.
  private static let box: [UInt8] = {
    var box = [UInt8](repeating: 0x63, count: 256)
    var (element, inverse): (UInt8, UInt8) = (1, 1)
    repeat {
      // Times 3, and divided by 3.
      element ^= doubled(element)
      for shift in [1, 2, 4] { inverse ^= inverse << shift }
      if inverse & 0x80 != 0 { inverse ^= 0x09 }
      var mixed = inverse
      for rotation in 1...4 { mixed ^= inverse << rotation | inverse >> (8 - rotation) }
      box[Int(element)] = mixed ^ 0x63
    } while element != 1
    return box
  }()
}
