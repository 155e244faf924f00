/// A key's UTF-8 stored inline: a separately allocated string would cost another memory access, which takes
/// longer than the rest of a look-up.
///
/// Up to 40 bytes are stored in words, padded with zeros. Of a longer key only its number is stored here; its
/// string is in the table's list of long keys.
struct DomainKey: Sendable {
  static let inlineLimit = 40
  private static let longMark = UInt8.max

  private var words: (UInt64, UInt64, UInt64, UInt64, UInt64)
  private let mark: UInt8

  /// A key with at most ``inlineLimit`` bytes.
  @inline(__always)
  init(_ bytes: UnsafeRawBufferPointer) {
    words =
      switch bytes.count {
      case ..<8: (bytes.shortWord, 0, 0, 0, 0)
      case ...16: (bytes.word(at: 0), bytes.lastWord(endingAt: 16), 0, 0, 0)
      case ...24: (bytes.word(at: 0), bytes.word(at: 8), bytes.lastWord(endingAt: 24), 0, 0)
      case ...32:
        (bytes.word(at: 0), bytes.word(at: 8), bytes.word(at: 16), bytes.lastWord(endingAt: 32), 0)
      default:
        (
          bytes.word(at: 0), bytes.word(at: 8), bytes.word(at: 16), bytes.word(at: 24),
          bytes.lastWord(endingAt: 40)
        )
      }
    mark = UInt8(truncatingIfNeeded: bytes.count)
  }

  init(longKey number: Int) {
    words = (UInt64(number), 0, 0, 0, 0)
    mark = Self.longMark
  }

  var isLong: Bool { mark == Self.longMark }

  /// The index in the list of long keys.
  var number: Int { Int(words.0) }

  /// The string of a key that is stored inline.
  var text: String {
    withUnsafeBytes(of: words) { bytes in
      String(decoding: UnsafeRawBufferPointer(rebasing: bytes[..<Int(mark)]), as: UTF8.self)
    }
  }

  @inline(__always)
  static func == (left: DomainKey, right: DomainKey) -> Bool {
    let difference =
      (left.words.0 ^ right.words.0) | (left.words.1 ^ right.words.1)
      | (left.words.2 ^ right.words.2) | (left.words.3 ^ right.words.3)
      | (left.words.4 ^ right.words.4)
    return difference == 0 && left.mark == right.mark
  }
}

extension DomainKey {
  // Odd numbers without a pattern: the first digits of square roots of primes.
  private static let factors: (UInt64, UInt64, UInt64, UInt64, UInt64) = (
    0x6A09_E667_F3BC_C909, 0xBB67_AE85_84CA_A73B, 0x3C6E_F372_FE94_F82B, 0xA54F_F53A_5F1D_36F1,
    0x510E_527F_ADE6_82D1
  )
  private static let lastFactor: UInt64 = 0x9B05_688C_2B3E_6C1F

  /// The words are multiplied in parallel. Keys come from the program, not from strangers.
  @inline(__always)
  var hash: UInt32 {
    let sum =
      words.0 &* Self.factors.0 &+ words.1 &* Self.factors.1 &+ words.2 &* Self.factors.2
      &+ words.3 &* Self.factors.3 &+ words.4 &* Self.factors.4
    return Self.mix(sum &+ UInt64(mark))
  }

  /// The hash of a key longer than ``inlineLimit``.
  static func longHash(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
    var state = UInt64(truncatingIfNeeded: bytes.count)
    for offset in stride(from: 0, to: bytes.count - 8, by: 8) {
      state = (state ^ bytes.word(at: offset)) &* factors.0
      state ^= state >> 32
    }
    state = (state ^ bytes.word(at: bytes.count - 8)) &* factors.0
    return mix(state)
  }

  @inline(__always)
  private static func mix(_ sum: UInt64) -> UInt32 {
    UInt32(truncatingIfNeeded: ((sum ^ (sum >> 29)) &* lastFactor) >> 32)
  }
}

extension UnsafeRawBufferPointer {
  @inline(__always)
  fileprivate func word(at offset: Int) -> UInt64 {
    loadUnaligned(fromByteOffset: offset, as: UInt64.self)
  }

  /// The word that ends at `end`, at most 8 bytes after the bytes' end, padded with zeros. Requires at least
  /// eight bytes.
  @inline(__always)
  fileprivate func lastWord(endingAt end: Int) -> UInt64 {
    (UInt64(littleEndian: word(at: count - 8)) >> UInt64(8 * (end - count))).littleEndian
  }

  /// All of up to seven bytes, padded with zeros. A byte that is read twice is the same both times.
  @inline(__always)
  fileprivate var shortWord: UInt64 {
    if count >= 4 {
      let first = UInt32(littleEndian: loadUnaligned(as: UInt32.self))
      let last = UInt32(littleEndian: loadUnaligned(fromByteOffset: count - 4, as: UInt32.self))
      return (UInt64(first) | UInt64(last) << UInt64(8 * (count - 4))).littleEndian
    }
    guard count > 0 else { return 0 }
    let (middle, last) = (count / 2, count - 1)
    let word =
      UInt64(self[0]) | UInt64(self[middle]) << UInt64(8 * middle)
      | UInt64(self[last]) << UInt64(8 * last)
    return word.littleEndian
  }
}
