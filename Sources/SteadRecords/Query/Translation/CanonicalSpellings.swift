import Foundation
import SteadSQLite

/// All spellings of a string that are equal in Swift, if they are few.
///
/// Only three ASCII characters are also what another character normalises to: K (the Kelvin sign), the semicolon (the
/// Greek question mark) and the grave accent (the Greek varia). A string of other ASCII characters equals only its own
/// bytes, so SQLite's own comparison, and an index, work.
enum CanonicalSpellings {
  /// The collation compares strings with more such characters than this.
  static let limit = 3

  private static func twin(of byte: UInt8) -> Unicode.Scalar? {
    switch byte {
    case UInt8(ascii: "K"): "\u{212A}"
    case UInt8(ascii: ";"): "\u{037E}"
    case UInt8(ascii: "`"): "\u{1FEF}"
    default: nil
    }
  }

  static func all(of text: String) -> [String]? {
    var twins = 0
    for byte in text.utf8 {
      if byte >= 0x80 { return nil }
      if twin(of: byte) != nil { twins += 1 }
    }
    if twins == 0 { return [text] }
    guard twins <= limit else { return nil }
    var spellings = [""]
    for byte in text.utf8 {
      let character = Unicode.Scalar(byte)
      if let twin = twin(of: byte) {
        spellings = spellings.map { $0 + String(character) } + spellings.map { $0 + String(twin) }
      } else {
        for index in spellings.indices { spellings[index].unicodeScalars.append(character) }
      }
    }
    return spellings
  }
}
