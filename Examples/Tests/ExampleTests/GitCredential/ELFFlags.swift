import Foundation

/// What a 64-bit program of Linux tells the dynamic linker, little-endian.
struct ELFFlags {
  /// Whether all functions are found before the program starts.
  let bindsNow: Bool

  private static let (header, entry) = (56, 16)
  private static let dynamicSegment: UInt32 = 2
  /// DT_FLAGS with DF_BIND_NOW, DT_FLAGS_1 with DF_1_NOW.
  private static let flags: [UInt64: UInt64] = [30: 8, 0x6FFF_FFFB: 1]

  /// Nil for what is no such program.
  init?(_ program: Data) {
    let program = [UInt8](program)
    func number(_ offset: Int, _ size: Int) -> UInt64? {
      guard offset >= 0, offset + size <= program.count else { return nil }
      return program[offset..<offset + size].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
    guard program.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2, 1]), let first = number(32, 8),
      let count = number(56, 2)
    else { return nil }
    let start = (0..<Int(count)).lazy.map { Int(first) + $0 * Self.header }
      .first { number($0, 4) == UInt64(Self.dynamicSegment) }
    guard let start, let place = number(start + 8, 8), let size = number(start + 32, 8) else {
      return nil
    }
    bindsNow = stride(from: Int(place), to: Int(place + size), by: Self.entry).contains { offset in
      guard let tag = number(offset, 8), let value = number(offset + 8, 8) else { return false }
      return Self.flags[tag].map { value & $0 != 0 } ?? false
    }
  }
}
