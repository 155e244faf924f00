import Foundation
import SteadSQLite

/// A value as SQLite's `quote` writes it.
enum SQLLiteral {
  static func value(_ text: String) -> SQLValue? {
    if text == "NULL" { return .null }
    if text.hasPrefix("'"), text.count >= 2 {
      return .text(String(text.dropFirst().dropLast()).replacing("''", with: "'"))
    }
    if text.hasPrefix("X'") { return blob(text.utf8.dropFirst(2).dropLast()) }
    if let number = Int64(text) { return .integer(number) }
    switch text {
    case "Inf", "9.0e+999", "9e999": return .real(.infinity)
    case "-Inf", "-9.0e+999", "-9e999": return .real(-.infinity)
    default: return Double(text).map { .real($0) }
    }
  }

  private static func blob(_ digits: some Collection<UInt8>) -> SQLValue? {
    var (data, high) = (Data(), UInt8?.none)
    for byte in digits {
      guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue.map(UInt8.init) else {
        return nil
      }
      if let first = high {
        data.append(first << 4 | digit)
        high = nil
      } else {
        high = digit
      }
    }
    return high == nil ? .blob(data) : nil
  }
}
