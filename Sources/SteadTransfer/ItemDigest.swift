import Foundation
import SteadFiles

/// What tells contents of items apart: the first 128 bits of their SHA-256.
///
/// A receipt has two for each item, so that half of them is saved. That two contents share one by chance is as
/// unlikely as that a disk returns them wrong unnoticed.
enum ItemDigest {
  static let byteCount = 16
  static let digitCount = 2 * byteCount

  /// The digest in lower-case hexadecimal digits.
  static func text(of data: Data) -> String {
    SHA256.hexadecimal(data, byteCount: byteCount)
  }

  /// The digest of several strings. Each is preceded by its length, so that no two lists give the same bytes.
  static func text(of texts: some Sequence<String>) -> String {
    var bytes: [UInt8] = []
    for var text in texts {
      text.withUTF8 { utf8 in
        withUnsafeBytes(of: UInt64(utf8.count).littleEndian) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: utf8)
      }
    }
    return self.text(of: Data(bytes))
  }
}
