import Foundation
import SteadRecords
import SteadSQLite

/// A field of a Codable struct, from its column to JSON.
enum CoreDataField {
  /// Nil for NULL.
  static func plain(_ value: SQLValue, _ field: CoreDataClassPlan.Attribute) throws -> Any? {
    let encoding = field.encoding
    switch (encoding, value) {
    case (_, .null): return nil
    case (.boolean, .integer(let number)) where number == 0 || number == 1: return number == 1
    case (.integer, .integer(let number)), (.unsigned64, .integer(let number)),
      (.real, .integer(let number)), (.date, .integer(let number)),
      (.decimal, .integer(let number)):
      return NSNumber(value: number)
    case (.real, .real(let number)), (.date, .real(let number)), (.decimal, .real(let number)):
      guard number.isFinite else { throw unfit }
      // With the digits of a `Float`, as the struct writes it: it has more of them as a `Double`.
      if field.isFloat, Double(Float(number)) == number {
        return NSNumber(value: Double("\(Float(number))") ?? number)
      }
      return isDecimal(encoding)
        ? NSDecimalNumber(string: CoreDataDecimal.text(number)) : NSNumber(value: number)
    case (.text, .text(let text)), (.url, .text(let text)), (.uuid, .text(let text)): return text
    case (.decimal, .text(let text)):
      let number = NSDecimalNumber(string: text)
      guard number != .notANumber else { throw unfit }
      return number
    case (.uuid, .blob(let data)) where data.count == 16:
      return data.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }.uuidString
    case (.data, .blob(let data)), (.external, .blob(let data)): return data.base64EncodedString()
    case (.json, .text(let text)), (.composite, .text(let text)), (.opaque, .text(let text)):
      return try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
    default: throw unfit
    }
  }

  /// What the column of a struct's property holds.
  static func column(_ object: [String: Any]) throws -> SQLValue {
    let data = try JSONSerialization.data(
      withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes])
    return .text(String(decoding: data, as: UTF8.self))
  }

  private static func isDecimal(_ encoding: _ColumnEncoding) -> Bool {
    if case .decimal = encoding { true } else { false }
  }

  private static var unfit: TransferError {
    TransferError(
      code: .notConverted, message: "A field of a struct holds a value of another type.")
  }
}
