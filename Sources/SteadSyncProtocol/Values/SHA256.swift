/// SHA-256 of a few bytes (FIPS 180-4), for names that must be the same on every device.
///
/// Slow compared with a library's; meant for keys, not for blobs.
enum SHA256 {
  private static let constants: [UInt32] = {
    // The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
    primes(64).map { fraction(of: $0, root: 3) }
  }()

  private static let start: [UInt32] = primes(8).map { fraction(of: $0, root: 2) }

  private static func primes(_ count: Int) -> [UInt64] {
    var found: [UInt64] = []
    var candidate: UInt64 = 2
    while found.count < count {
      if found.allSatisfy({ candidate % $0 != 0 }) { found.append(candidate) }
      candidate += 1
    }
    return found
  }

  /// The greatest `r` with `r^root <= number * 2^(32 * root)`, without its whole part.
  private static func fraction(of number: UInt64, root: Int) -> UInt32 {
    var (low, high): (UInt64, UInt64) = (0, 1 << 37)
    let target = UInt128(number) << UInt128(32 * root)
    while high - low > 1 {
      let middle = (low + high) / 2
      let power = (0..<root).reduce(UInt128(1)) { product, _ in product * UInt128(middle) }
      if power <= target { low = middle } else { high = middle }
    }
    return UInt32(truncatingIfNeeded: low)
  }

  /// 64 lowercase hexadecimal digits.
  static func hex(_ message: some Collection<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    for word in words(message) {
      for shift in stride(from: 28, through: 0, by: -4) {
        text.append(digits[Int(word >> UInt32(shift)) & 15])
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static func words(_ message: some Collection<UInt8>) -> [UInt32] {
    var bytes = Array(message)
    let bits = UInt64(bytes.count) * 8
    bytes.append(0x80)
    while bytes.count % 64 != 56 { bytes.append(0) }
    for shift in stride(from: 56, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: bits >> UInt64(shift)))
    }
    var state = start
    for block in stride(from: 0, to: bytes.count, by: 64) {
      mix(bytes[block..<(block + 64)], into: &state)
    }
    return state
  }

  private static func mix(_ block: ArraySlice<UInt8>, into state: inout [UInt32]) {
    var schedule: [UInt32] = []
    for index in stride(from: block.startIndex, to: block.endIndex, by: 4) {
      schedule.append(block[index..<(index + 4)].reduce(0) { $0 << 8 | UInt32($1) })
    }
    for index in 16..<64 {
      let (first, second) = (schedule[index - 15], schedule[index - 2])
      let small = turned(first, 7) ^ turned(first, 18) ^ first >> 3
      let great = turned(second, 17) ^ turned(second, 19) ^ second >> 10
      schedule.append(schedule[index - 16] &+ small &+ schedule[index - 7] &+ great)
    }
    var s = state
    for index in 0..<64 {
      let great = turned(s[4], 6) ^ turned(s[4], 11) ^ turned(s[4], 25)
      let choice = s[4] & s[5] ^ ~s[4] & s[6]
      let one = s[7] &+ great &+ choice &+ constants[index] &+ schedule[index]
      let small = turned(s[0], 2) ^ turned(s[0], 13) ^ turned(s[0], 22)
      let two = small &+ (s[0] & s[1] ^ s[0] & s[2] ^ s[1] & s[2])
      s = [one &+ two, s[0], s[1], s[2], s[3] &+ one, s[4], s[5], s[6]]
    }
    for index in 0..<8 { state[index] = state[index] &+ s[index] }
  }

  private static func turned(_ word: UInt32, _ count: UInt32) -> UInt32 {
    word >> count | word << (32 - count)
  }
}
