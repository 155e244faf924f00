import CSteadFiles
import CSteadSQLite
import Foundation
import SteadSQLite

/// A row of the table `contents`, with verified checksums.
struct StoredEntry: Sendable {
  /// Properties of an entry, as bits of its rows.
  struct Form: OptionSet, Sendable {
    let rawValue: Int64
    /// The value is in a separate file.
    static let file = Form(rawValue: 1)
    /// Rows of the table `tags` name the entry.
    static let tags = Form(rawValue: 2)
    /// A use lets the entry live longer.
    static let idle = Form(rawValue: 4)
  }

  /// The valid range of sizes and counts: a damaged file may hold anything, and sums of these don't overflow.
  static let sizes = 0...Int64(1) << 50
  /// What numbers of the file's sequence can be.
  static let numbers = 0...Int64(1) << 62

  /// When the entry was last used, as a number of the file's sequence.
  var used: Int64 = 0
  var id: Int64
  var stored: Int64
  var expires: Int64
  var form: Form
  /// The value's bytes.
  var length: Int
  /// The value's CRC-32C.
  var body: UInt32
  var key: Data
  var tags: TagList
  var metadata: Data
  /// The value; nil when it is in a file.
  var value: Data?

  /// What the entry counts for in the cache's size.
  var size: Int { key.count + tags.bytes.count + metadata.count + length }

  /// Whether the entry is valid at a moment. One that was stored later was stored by a clock that was wrong.
  func isValid(at moment: Int64, evenIfStoredLater: Bool) -> Bool {
    (evenIfStoredLater || stored <= moment) && moment < expires
  }

  /// The CRC-32C of everything but the value, with the value's in it.
  var head: UInt32 {
    Self.head(
      numbers: (id, stored, expires, form.rawValue, Int64(length), Int64(body)),
      parts: (key, tags.bytes, metadata))
  }

  private static func head(
    numbers: (Int64, Int64, Int64, Int64, Int64, Int64), parts: (Data, Data, Data)
  ) -> UInt32 {
    var fields = (
      numbers.0.littleEndian, numbers.1.littleEndian, numbers.2.littleEndian,
      numbers.3.littleEndian, numbers.4.littleEndian, numbers.5.littleEndian,
      Int64(parts.0.count).littleEndian, Int64(parts.1.count).littleEndian,
      Int64(parts.2.count).littleEndian
    )
    var sum = withUnsafeBytes(of: &fields) { stead_crc32c(0, $0.baseAddress!, $0.count) }
    for part in [parts.0, parts.1, parts.2] where !part.isEmpty { sum = part.checksum(after: sum) }
    return sum
  }
}

extension Data {
  /// The CRC-32C of these bytes, continued from the checksum of others.
  func checksum(after sum: UInt32 = 0) -> UInt32 {
    withUnsafeBytes { bytes in
      bytes.baseAddress.map { stead_crc32c(sum, $0, bytes.count) } ?? sum
    }
  }
}
