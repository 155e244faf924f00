import Foundation
import SteadEncoding
import SteadFormats

/// The encoding of values without a column type of their own: JSON, with dates as seconds since 2001.
enum JSONColumn {
  /// Decodes a column: the plain forms directly, everything else by `JSONDecoder`.
  ///
  /// - Throws: ``ColumnError/missingValue`` for NULL where the type has no nil, and errors of
  ///   decoding.
  static func decode<T: Codable>(_ type: T.Type, _ row: _RowReader, _ column: Int32) throws -> T {
    if row._isNull(column) {
      // NULL is nil of an optional type, which has no JSON of its own here.
      if let optional = T.self as? any ExpressibleByNilLiteral.Type,
        let value = optional.init(nilLiteral: ()) as? T
      {
        return value
      }
      throw ColumnError.missingValue
    }
    // What the fast reader does not take is not wrong: JSONDecoder decides.
    if let fast = T.self as? any FastJSON.Type,
      let value = row.withText(column, { fast.parse($0) }) as? T
    {
      return value
    }
    return try decoder.decode(T.self, from: Data(row.string(column).utf8))
  }

  /// Binds a value's JSON; NULL for nil.
  static func encode<T: Codable>(_ value: T, _ row: _RowWriter, _ parameter: Int32) throws {
    // A parameter that is not bound is NULL.
    if let optional = value as? any OptionalValue, optional.isNil { return }
    if let fast = value as? any FastJSON {
      row.bind(fast.jsonText, parameter)
      return
    }
    row.bind(try text(value), parameter)
  }

  /// The JSON of a value, with sorted keys: equal values have equal columns, which predicates and unique keys compare.
  ///
  /// - Throws: ``ColumnError/decimalNotANumber``, and errors of encoding.
  static func text<T: Encodable>(_ value: T) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = JSONFloat.encoding
    let data = try encoder.encode(value)
    // JSONEncoder writes `Decimal.nan` as its digits, NaN without quotation marks, which nothing reads as JSON.
    if data.range(of: Data("NaN".utf8)) != nil, JSONReader.value(of: data) == nil {
      throw ColumnError.decimalNotANumber
    }
    return String(decoding: data, as: UTF8.self)
  }

  /// The decoder of what ``text(_:)`` writes.
  static var decoder: JSONDecoder {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = JSONFloat.decoding
    return decoder
  }
}

/// Floating-point numbers that JSON lacks, as the strings that stand for them in columns and snapshots.
enum JSONFloat {
  private static let infinity = "inf"
  private static let negativeInfinity = "-inf"
  private static let notANumber = "nan"

  /// Writes the strings.
  static var encoding: JSONEncoder.NonConformingFloatEncodingStrategy {
    .convertToString(
      positiveInfinity: infinity, negativeInfinity: negativeInfinity, nan: notANumber)
  }

  /// Reads the strings where a number is asked for.
  static var decoding: JSONDecoder.NonConformingFloatDecodingStrategy {
    .convertFromString(
      positiveInfinity: infinity, negativeInfinity: negativeInfinity, nan: notANumber)
  }

  /// The number of a JSON text, which is a number or one of the strings; nil for anything else.
  static func number(_ json: String) -> Double? {
    switch json {
    case "\"\(infinity)\"": Double.infinity
    case "\"\(negativeInfinity)\"": -Double.infinity
    case "\"\(notANumber)\"": Double.nan
    default: Double(json)
    }
  }

  /// The number of a JSON text as a `Float`, rounded once, as JSONDecoder rounds it.
  static func single(_ json: String) -> Float? { Float(json) ?? number(json).map(Float.init) }
}

// MARK: - Arrays of numbers and strings

/// Types whose JSON is read and written without JSONEncoder, which takes 5 to 9 times as long.
///
/// They are written directly as a column's text, without an intermediate `JSONValue`. Only the plainest form is read,
/// which is the one that is written here; JSONDecoder reads any other. So a number's digits are added up while they are
/// found, where a tokenizer would pass over them first.
protocol FastJSON {
  /// The JSON, equivalent to `JSONEncoder`'s with the settings of ``JSONColumn``.
  var jsonText: String { get }
  /// The value, or nil if the string isn't in the plainest form.
  static func parse(_ text: UnsafeBufferPointer<UInt8>) -> Self?
}

extension Array: FastJSON where Element: FastJSONElement {
  /// The elements' JSON between brackets, without spaces, as `JSONEncoder` writes it.
  var jsonText: String {
    var bytes: [UInt8] = [UInt8(ascii: "[")]
    for (index, element) in enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      element.write(to: &bytes)
    }
    bytes.append(UInt8(ascii: "]"))
    return String(decoding: bytes, as: UTF8.self)
  }

  /// nil for spaces, escapes and nested values, which JSONDecoder reads.
  static func parse(_ text: UnsafeBufferPointer<UInt8>) -> [Element]? {
    var rest = text[...]
    guard rest.popFirst() == UInt8(ascii: "[") else { return nil }
    var result: [Element] = []
    if rest.first == UInt8(ascii: "]") { return rest.count == 1 ? [] : nil }
    while let element = Element.read(&rest) {
      result.append(element)
      switch rest.popFirst() {
      case UInt8(ascii: ","): continue
      case UInt8(ascii: "]"): return rest.isEmpty ? result : nil
      default: return nil
      }
    }
    return nil
  }
}

// MARK: - Elements

/// Elements of an array whose JSON is read and written without JSONEncoder.
///
/// `read` takes the element off the front of the text; nil if it is not in the plainest form, and the array is then
/// read by JSONDecoder.
protocol FastJSONElement {
  /// Appends the element's JSON.
  func write(to bytes: inout [UInt8])
  /// Takes the element off the front; nil if it is not in the plainest form.
  static func read(_ text: inout Slice<UnsafeBufferPointer<UInt8>>) -> Self?
}

extension Int: FastJSONElement {
  /// Appends the digits, with a sign if it is negative.
  func write(to bytes: inout [UInt8]) { bytes.append(contentsOf: String(self).utf8) }

  /// Reads the digits of an integer; nil for a number that `Int` does not hold or that has leading zeros, so that
  /// JSONDecoder throws its error.
  static func read(_ text: inout Slice<UnsafeBufferPointer<UInt8>>) -> Int? {
    let negative = text.first == UInt8(ascii: "-")
    if negative { text.removeFirst() }
    let startsWithZero = text.first == UInt8(ascii: "0")
    var value = 0
    var digits = 0
    while let byte = text.first, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") {
      let digit = Int(byte - UInt8(ascii: "0"))
      // Downwards if it is negative, since the least number has no positive counterpart.
      let (product, tooLarge) = value.multipliedReportingOverflow(by: 10)
      let (next, overflow) =
        negative
        ? product.subtractingReportingOverflow(digit) : product.addingReportingOverflow(digit)
      if tooLarge || overflow { return nil }
      value = next
      digits += 1
      text.removeFirst()
    }
    return digits == 1 || digits > 1 && !startsWithZero ? value : nil
  }
}

extension String: FastJSONElement {
  /// Appends the string between quotation marks, with the shortest escapes.
  func write(to bytes: inout [UInt8]) { JSONText.append(self, to: &bytes, .short) }

  /// Reads a string without escapes; one with escapes is left to JSONDecoder.
  static func read(_ text: inout Slice<UnsafeBufferPointer<UInt8>>) -> String? {
    guard text.popFirst() == UInt8(ascii: "\"") else { return nil }
    // A slice has the indices of the whole buffer.
    let bytes = text.base
    var end = JSONText.endOfRun(in: bytes, from: text.startIndex).end
    // JSON forbids control characters, and another program's SQL may have written them.
    while end < bytes.count, bytes[end] < 0x20 {
      end = JSONText.endOfRun(in: bytes, from: end + 1).end
    }
    guard end < bytes.count, bytes[end] == UInt8(ascii: "\"") else { return nil }
    let value = String(decoding: UnsafeBufferPointer(rebasing: text[..<end]), as: UTF8.self)
    text = text[(end + 1)...]
    return value
  }
}
