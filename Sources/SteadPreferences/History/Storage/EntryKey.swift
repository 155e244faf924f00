import Foundation
import SteadFiles

/// The name of an entry's key: its sequence number as 16 hexadecimal digits, so that names sort like the numbers.
enum EntryKey {
  /// No sequence number is higher, so a next one always exists. A key with a higher number is left alone.
  static let limit: UInt64 = 1 << 62
  private static let width = 16

  static func text(_ sequence: UInt64) -> String {
    String(unsafeUninitializedCapacity: width) { bytes in
      for place in 0..<width {
        let digit = UInt8(truncatingIfNeeded: sequence >> UInt64(4 * (width - 1 - place))) & 15
        bytes[place] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
      }
      return width
    }
  }

  /// The sequence number; nil for a key that isn't an entry's.
  static func sequence(_ text: String) -> UInt64? {
    let isPlain = text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    guard text.utf8.count == width, isPlain else { return nil }
    return UInt64(text, radix: 16).flatMap { $0 <= limit ? $0 : nil }
  }
}
