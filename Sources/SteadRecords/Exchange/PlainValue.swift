import Foundation
import SteadSQLite

/// Values in the forms that stores of other kinds have them in.
enum PlainValue {
  /// The value in the column's own form, nil when it is of another type.
  static func of(
    _ value: SQLValue, as encoding: ColumnEncoding, of entity: EntityLayout, _ property: Int
  ) -> SQLValue? {
    switch (encoding, value) {
    case (.boolean, .integer(let number)): number == 0 || number == 1 ? value : nil
    case (.integer, .integer), (.unsigned64, .integer): value
    case (.integer, .real(let number)), (.unsigned64, .real(let number)):
      Int64(exactly: number).map { .integer($0) }
    case (.unsigned64, .text(let text)):
      UInt64(text).map { number in
        Int64(exactly: number).map { .integer($0) } ?? .text(UnsignedColumn.text(number))
      }
    case (.real, .real), (.date, .real): value
    case (.real, .integer(let number)), (.date, .integer(let number)):
      Double(exactly: number).map { .real($0) }
    case (.real, .text(let text)), (.date, .text(let text)):
      text == RealColumn.notANumber ? value : nil
    case (.decimal, _): decimal(value)
    case (.text, .text): value
    case (.url, .text(let text)): URL(string: text) == nil ? nil : value
    case (.uuid, .blob(let data)): data.count == 16 ? value : nil
    case (.uuid, .text(let text)):
      UUID(uuidString: text).map { uuid in .blob(withUnsafeBytes(of: uuid.uuid) { Data($0) }) }
    case (.data, .blob), (.external, .blob): value
    case (.json, _), (.composite, _): json(value)
    case (.opaque, .blob) where entity.properties[property].transformerName != nil: value
    case (.opaque, _) where entity.properties[property].transformerName == nil: json(value)
    default: nil
    }
  }

  /// Whether two forms represent the same value.
  static func isSame(_ one: SQLValue, _ other: SQLValue, as encoding: ColumnEncoding) -> Bool {
    switch (encoding, one, other) {
    case (.decimal, .text(let one), .text(let other)):
      return canonicalDecimal(one) == canonicalDecimal(other)
    case (.url, .text(let one), .text(let other)):
      return URL(string: one)?.absoluteString == other
    case (.json, .text(let one), .text(let other)), (.composite, .text(let one), .text(let other)),
      (.opaque, .text(let one), .text(let other)):
      return tree(one).flatMap { one in tree(other).map { one.isEqual($0) } } ?? false
    default: return false
    }
  }

  private static func decimal(_ value: SQLValue) -> SQLValue? {
    switch value {
    case .integer(let number): .text(String(number))
    case .real(let number):
      number.isFinite ? Decimal(string: "\(number)").map { .text("\($0)") } : nil
    case .text(let text): canonicalDecimal(text) == nil ? nil : value
    default: nil
    }
  }

  /// The digits and the exponent of a decimal number's string; nil if it isn't a number.
  static func canonicalDecimal(_ text: String) -> String? {
    if text == "NaN" { return text }
    var rest = Substring(text)
    let isNegative = rest.first == "-"
    if rest.first == "-" || rest.first == "+" { rest.removeFirst() }
    let parts = rest.split(
      maxSplits: 1, omittingEmptySubsequences: false, whereSeparator: { $0 == "e" || $0 == "E" })
    guard let mantissa = parts.first, let exponent = parts.count == 2 ? Int(parts[1]) : 0 else {
      return nil
    }
    let halves = mantissa.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    let fraction = halves.count == 2 ? halves[1] : ""
    var digits = Substring(halves[0] + fraction)
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
    var scale = exponent - fraction.count
    while digits.last == "0", digits.count > 1 {
      digits.removeLast()
      scale += 1
    }
    digits = digits.drop { $0 == "0" }
    if digits.isEmpty { return "0" }
    return "\(isNegative ? "-" : "")\(digits)e\(scale)"
  }

  private static func json(_ value: SQLValue) -> SQLValue? {
    switch value {
    case .text: value
    case .blob(let data): String(data: data, encoding: .utf8).map { .text($0) }
    default: nil
    }
  }

  /// The value of a JSON string, without absent values that are written out as null.
  private static func tree(_ text: String) -> NSObject? {
    let data = Data(text.utf8)
    guard let value = try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)
    else { return nil }
    return withoutNulls(value) as? NSObject ?? ["": withoutNulls(value)] as NSDictionary
  }

  private static func withoutNulls(_ value: Any) -> Any {
    if let object = value as? [String: Any] {
      return object.filter { !($0.value is NSNull) }.mapValues(withoutNulls) as NSDictionary
    }
    if let array = value as? [Any] { return array.map(withoutNulls) as NSArray }
    return value
  }
}
