import BenchmarkHarness

/// Keys in the order in which they are asked for, made before the clock starts: as strings for Swift,
/// and as bytes in one piece of memory for the interfaces of C.
///
/// Half of them are short enough for Swift to keep them in place, half are not.
final class Keys {
  let names: [String]
  let bytes: [UnsafeRawBufferPointer]
  private let arena: UnsafeMutableRawBufferPointer

  /// All keys of a store with so many.
  convenience init(all count: Int) {
    self.init((0..<count).map(Self.name))
  }

  /// So many look-ups of keys that are there, in an order that is random and always the same.
  convenience init(_ operations: Int, of count: Int) {
    var random = FixedRandom()
    self.init((0..<operations).map { _ in Self.name(Int.random(in: 0..<count, using: &random)) })
  }

  init(_ names: [String]) {
    self.names = names
    arena = .allocate(byteCount: names.reduce(0) { $0 + $1.utf8.count }, alignment: 8)
    var bytes: [UnsafeRawBufferPointer] = []
    var offset = 0
    for name in names {
      let count = name.utf8.count
      let place = UnsafeMutableRawBufferPointer(rebasing: arena[offset..<offset + count])
      place.copyBytes(from: name.utf8)
      bytes.append(UnsafeRawBufferPointer(place))
      offset += count
    }
    self.bytes = bytes
  }

  deinit { arena.deallocate() }

  static func name(_ number: Int) -> String {
    number.isMultiple(of: 2) ? "item.\(number)" : "window.toolbar.item.\(number)"
  }
}

/// Xorshift: the same numbers in each run, for all peers.
private struct FixedRandom: RandomNumberGenerator {
  private var state: UInt64 = 0x2545_F491_4F6C_DD1D

  mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state
  }
}
