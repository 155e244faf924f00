import Foundation
import SteadFiles

/// The name of a history's domain: `DOMAIN.history.KEY`.
enum HistoryName {
  private static let marker = ".history."
  /// The number of a digest's digits that replace what does not fit into a file's name.
  private static let digitCount = 32

  static func domain(_ domain: String, key: String) -> String {
    let name = domain + marker + escaped(key)
    guard name.utf8.count > DomainName.limit else { return name }
    // The digest covers the whole, so truncation makes no two names equal.
    let digest = SHA256.hexadecimal(Data((domain + "/" + key).utf8)).prefix(digitCount)
    let room = DomainName.limit - marker.utf8.count - digitCount
    var start = domain
    while start.utf8.count > room { start.removeLast() }
    return start + marker + digest
  }

  /// The key, with `%` and two digits for each byte that a file's name may not contain.
  private static func escaped(_ key: String) -> String {
    var (text, isAfterDot) = ("", true)
    for byte in key.utf8 {
      let isDot = byte == UInt8(ascii: ".")
      if byte.isPlain || isDot && !isAfterDot {
        text.unicodeScalars.append(UnicodeScalar(byte))
      } else {
        text += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
      }
      isAfterDot = isDot
    }
    return text
  }
}

extension UInt8 {
  /// A letter or a digit of ASCII, `-` or `_`.
  fileprivate var isPlain: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
