import Foundation
import SteadFormats
import SteadPreferences
import SteadRecords
import SteadSQLite

/// Converts a column's value into one of a record.
///
/// Dates, numbers, strings and UUIDs have the same form in both, and the writer checks whether they
/// fit the property. This type converts those of another form.
struct CoreDataValue {
  /// Why a value can't be converted, as the predicate of a sentence about the attribute. It never
  /// has the value.
  struct Problem: Error {
    let reason: String
  }

  /// The first byte of data whose attribute allows external storage.
  private enum Marker {
    /// The data follows.
    static let inline: UInt8 = 1
    /// The name of a file follows.
    static let file: UInt8 = 2
  }

  /// The files of large values.
  let files: CoreDataFiles

  /// Converts a value for an attribute.
  func convert(_ value: SQLValue, _ attribute: CoreDataClassPlan.Attribute) throws -> SQLValue {
    guard value != .null else { return .null }
    var value = value
    if attribute.form == .marked, case .blob(let data) = value { value = try withoutMarker(data) }
    switch (attribute.encoding, value) {
    case (.decimal, .real(let number)): return .text(CoreDataDecimal.text(number))
    // Codable values may be stored as archives, property lists or JSON.
    case (.json, .blob(let data)), (.composite, .blob(let data)):
      return try json(data)
    // A transformer of the app decodes its own bytes.
    case (.opaque, .blob(let data)) where !attribute.hasTransformer: return try json(data)
    case (.url, .blob(let data)): return try url(data)
    case (.text, .blob(let data)), (.integer, .blob(let data)), (.real, .blob(let data)):
      return try scalar(data)
    default: return value
    }
  }

  /// The data that a marker says is inline or in a file.
  private func withoutMarker(_ data: Data) throws -> SQLValue {
    switch data.first {
    case Marker.inline: return .blob(Data(data.dropFirst()))
    case Marker.file:
      do {
        return .blob(try files.read(Data(data.dropFirst())))
      } catch let problem as CoreDataFiles.Problem {
        throw Problem(reason: problem.reason)
      }
    default:
      throw Problem(reason: "does not begin with a byte that says where its data is")
    }
  }

  /// The JSON of an archive, a property list or JSON.
  private func json(_ data: Data) throws -> SQLValue {
    .text(try CoreDataBlob(data).json())
  }

  /// The string of a URL, from an archive or from its `Codable` form.
  private func url(_ data: Data) throws -> SQLValue {
    switch try CoreDataBlob(data).value {
    case let url as URL: return .text(url.absoluteString)
    case let text as String: return .text(text)
    case let fields as [String: Any]:
      // The Codable form of a URL. One with a base isn't a URL by itself.
      guard let text = fields["relative"] as? String, fields["base"] == nil else { break }
      return .text(text)
    default: break
    }
    throw Problem(reason: "holds an archive of something else than a URL")
  }

  /// A raw value that was encoded by itself.
  private func scalar(_ data: Data) throws -> SQLValue {
    switch try CoreDataBlob(data).value {
    case let text as String: return .text(text)
    case let number as NSNumber:
      let real = number.doubleValue
      // Beyond 2^53 a `Double` isn't exact, so both forms have to agree.
      if let integer = Int64(exactly: real), number.int64Value == integer {
        return .integer(integer)
      }
      return .real(real)
    default: throw Problem(reason: "holds data where a text or a number is wanted")
    }
  }
}

// MARK: - Numbers

/// Decimal numbers, which Core Data stores as floating-point numbers if possible.
enum CoreDataDecimal {
  /// The number of digits of any decimal that a `Double` preserves.
  private static let safeDigits = 15
  /// How far off, in units of the last place, Foundation's conversion from decimal to `Double` may
  /// be.
  private static let tolerance = 4.0

  /// The decimal that was stored: the closest one of up to 15 digits, if that is within the
  /// tolerance.
  static func text(_ number: Double) -> String {
    // Any decimal of 15 digits survives the way through a `Double`.
    let short = String(format: "%.\(safeDigits)g", number)
    // Otherwise it is no short decimal, and keeps all of its digits.
    guard let value = Double(short), abs(value - number) <= tolerance * number.ulp else {
      return "\(number)"
    }
    return short
  }
}

// MARK: - Archives and property lists

/// Data with a value of several parts: a keyed archive, a property list, or JSON.
struct CoreDataBlob {
  /// The maximum nesting depth.
  static let depthLimit = 200

  /// The value, of types of Foundation.
  let value: Any

  /// Decodes data; the first bytes determine the format. Objects of other classes than Foundation's
  /// are never instantiated.
  init(_ data: Data) throws {
    if data.starts(with: Data("bplist".utf8)) {
      // An archive is a property list, too, so it is tried first.
      if let value = try? PlainArchive.value(data) {
        self.value = value
      } else if !PlainArchive.isArchive(data), let list = try? PropertyList.parse(data) {
        value = list.anyValue
      } else {
        throw CoreDataValue.Problem(
          reason: "holds an archive that is damaged, or of classes that are not known")
      }
      return
    }
    guard
      let value = try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)
    else {
      throw CoreDataValue.Problem(reason: "holds data that is no archive, property list or JSON")
    }
    self.value = value
  }

  /// The JSON of a store of this package: dates as seconds since 2001, data in Base64.
  func json() throws -> String {
    let plain = try Self.plain(value, depth: 0)
    let data = try JSONSerialization.data(
      withJSONObject: plain, options: [.fragmentsAllowed, .sortedKeys, .withoutEscapingSlashes])
    return String(decoding: data, as: UTF8.self)
  }

  /// A value as types of JSON.
  private static func plain(_ value: Any, depth: Int) throws -> Any {
    guard depth < depthLimit else {
      throw CoreDataValue.Problem(reason: "is nested more than \(depthLimit) deep")
    }
    switch value {
    case let value as String: return value
    case let value as Date: return try number(value.timeIntervalSinceReferenceDate)
    case let value as Data: return value.base64EncodedString()
    case let value as URL: return value.absoluteString
    case let value as UUID: return value.uuidString
    case is NSNull: return value
    case let value as NSNumber: return try number(value)
    case let value as [Any]: return try value.map { try plain($0, depth: depth + 1) }
    // In any order, since a set has none.
    case let value as Set<AnyHashable>:
      return try value.map { try plain($0.base, depth: depth + 1) }
    case let value as [AnyHashable: Any]:
      var result: [String: Any] = [:]
      for (key, value) in value {
        // The count below is then wrong, and the value refused.
        guard let key = key.base as? String else { break }
        result[key] = try plain(value, depth: depth + 1)
      }
      guard result.count == value.count else {
        throw CoreDataValue.Problem(reason: "holds a dictionary with keys that aren't strings")
      }
      return result
    default: throw CoreDataValue.Problem(reason: "holds an object that has no JSON")
    }
  }

  /// A number, unless it isn't finite.
  private static func number(_ value: NSNumber) throws -> Any {
    guard value.doubleValue.isFinite else {
      throw CoreDataValue.Problem(reason: "holds a number that JSON cannot hold")
    }
    return value
  }

  private static func number(_ value: Double) throws -> Any { try number(NSNumber(value: value)) }
}

// MARK: - Fields of structs

/// A field of a Codable struct, from its column to JSON.
enum CoreDataField {
  /// The JSON of a field; nil for NULL.
  static func jsonValue(_ value: SQLValue, _ field: CoreDataClassPlan.Attribute) throws -> Any? {
    let encoding = field.encoding
    switch (encoding, value) {
    case (_, .null): return nil
    // Any other number is no Boolean, and makes the row fail.
    case (.boolean, .integer(let number)) where number == 0 || number == 1: return number == 1
    case (.integer, .integer(let number)), (.unsigned64, .integer(let number)),
      (.real, .integer(let number)), (.date, .integer(let number)),
      (.decimal, .integer(let number)):
      return NSNumber(value: number)
    case (.real, .real(let number)), (.date, .real(let number)), (.decimal, .real(let number)):
      guard number.isFinite else { throw mismatch }
      // With the digits of the `Float`, as the struct itself encodes it. As a `Double` it has more.
      if field.isFloat, Double(Float(number)) == number {
        return NSNumber(value: Double("\(Float(number))") ?? number)
      }
      return isDecimal(encoding)
        ? NSDecimalNumber(string: CoreDataDecimal.text(number)) : NSNumber(value: number)
    case (.text, .text(let text)), (.url, .text(let text)), (.uuid, .text(let text)): return text
    case (.decimal, .text(let text)):
      // Parsed from text, so that no digit is lost in a `Double`.
      let number = NSDecimalNumber(string: text)
      guard number != .notANumber else { throw mismatch }
      return number
    // A UUID's 16 bytes are in the order of its text.
    case (.uuid, .blob(let data)) where data.count == 16:
      return data.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }.uuidString
    case (.data, .blob(let data)), (.external, .blob(let data)): return data.base64EncodedString()
    case (.json, .text(let text)), (.composite, .text(let text)), (.opaque, .text(let text)):
      return try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
    default: throw mismatch
    }
  }

  /// The value of a struct's column, from a JSON object with sorted names.
  static func column(_ object: [String: Any]) throws -> SQLValue {
    let data = try JSONSerialization.data(
      withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes])
    return .text(String(decoding: data, as: UTF8.self))
  }

  /// Whether a field is a decimal.
  private static func isDecimal(_ encoding: _ColumnEncoding) -> Bool {
    if case .decimal = encoding { true } else { false }
  }

  /// The error for a value of another type than the field's.
  private static var mismatch: TransferError {
    TransferError(
      code: .notConverted, message: "A field of a struct holds a value of another type.")
  }
}
