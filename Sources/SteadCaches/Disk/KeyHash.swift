/// SipHash-1-3 of a key, by <https://www.aumasson.jp/siphash/siphash.pdf>, with the salt of the cache's file.
///
/// The salt is random, so that nobody who chooses keys, such as a server that chooses addresses, can give many of them
/// the same hash. Keys are still compared as a whole.
struct KeyHash: Sendable {
  private let salt: (UInt64, UInt64)

  init(salt: (UInt64, UInt64)) { self.salt = salt }

  func callAsFunction(_ bytes: UnsafeRawBufferPointer) -> Int64 {
    var state = State(salt)
    let wholeCount = bytes.count & ~7
    for offset in stride(from: 0, to: wholeCount, by: 8) {
      state.absorb(
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
    }
    var last = UInt64(bytes.count & 0xff) << 56
    for index in wholeCount..<bytes.count {
      last |= UInt64(bytes[index]) << (8 * UInt64(index - wholeCount))
    }
    state.absorb(last)
    return Int64(bitPattern: state.finish())
  }

  private struct State {
    private var v0: UInt64
    private var v1: UInt64
    private var v2: UInt64
    private var v3: UInt64

    init(_ salt: (UInt64, UInt64)) {
      v0 = salt.0 ^ 0x736f_6d65_7073_6575
      v1 = salt.1 ^ 0x646f_7261_6e64_6f6d
      v2 = salt.0 ^ 0x6c79_6765_6e65_7261
      v3 = salt.1 ^ 0x7465_6462_7974_6573
    }

    mutating func absorb(_ word: UInt64) {
      v3 ^= word
      round()
      v0 ^= word
    }

    mutating func finish() -> UInt64 {
      v2 ^= 0xff
      for _ in 0..<3 { round() }
      return v0 ^ v1 ^ v2 ^ v3
    }

    private mutating func round() {
      v0 &+= v1
      v2 &+= v3
      v1 = (v1 << 13 | v1 >> 51) ^ v0
      v3 = (v3 << 16 | v3 >> 48) ^ v2
      v0 = v0 << 32 | v0 >> 32
      v2 &+= v1
      v0 &+= v3
      v1 = (v1 << 17 | v1 >> 47) ^ v2
      v3 = (v3 << 21 | v3 >> 43) ^ v0
      v2 = v2 << 32 | v2 >> 32
    }
  }
}
