import Foundation
import SteadFormats
import SteadSQLite
internal import SteadSyncProtocol

/// The values of columns and of property lists on the wire, which is JSON: what JSON lacks is an object of one member,
/// whose name begins with a dollar sign.
///
/// | a column's | is on the wire |
/// |---|---|
/// | NULL | null |
/// | INTEGER | a whole number |
/// | REAL | a number; `{"$real": "inf"}`, `"-inf"` or `"nan"` where it is not finite |
/// | TEXT | a string |
/// | BLOB | `{"$data": …}` in Base64 |
///
/// The attribute defines what a number or a string means: dates are seconds since 2001, UUIDs are 16 bytes, and
/// Codable values are strings of JSON. These forms are permanent: zones and older versions of apps have them.
enum WireCoding {
  private static let (data, real) = ("$data", "$real")

  /// The value of a column on the wire; every column has one.
  static func value(_ column: SQLValue) -> SyncValue {
    switch column {
    case .null: .null
    case .integer(let number): .int(number)
    case .real(let number) where number.isFinite: .double(number)
    case .real(let number):
      .object([real: .string(number.isNaN ? "nan" : number < 0 ? "-inf" : "inf")])
    case .text(let text): .string(text)
    case .blob(let bytes): .object([data: .string(bytes.base64EncodedString())])
    }
  }

  /// The value of a column; nil for a value of a later version, which no column of this one can hold.
  static func column(_ value: SyncValue) -> SQLValue? {
    switch value {
    case .null: return .null
    case .bool(let flag): return .integer(flag ? 1 : 0)
    case .int(let number): return .integer(number)
    case .double(let number): return .real(number)
    case .string(let text): return .text(text)
    case .array: return nil
    // Other objects are large values, counters, or forms of a later version.
    case .object(let members):
      guard members.count == 1, let (name, content) = members.first, let text = content.string
      else { return nil }
      switch (name, text) {
      case (data, _): return Data(base64Encoded: text).map { .blob($0) }
      case (real, "inf"): return .real(.infinity)
      case (real, "-inf"): return .real(-.infinity)
      case (real, "nan"): return .real(.nan)
      default: return nil
      }
    }
  }
}

// MARK: - Attributes with merge rules

// A counter has each device's total on the wire, and their sum in a column. A union is an array, and a column has its
// JSON. Greatest and smallest values have no special form.
extension WireCoding {
  /// The value of an attribute with a merge rule.
  ///
  /// - Parameter known: The record's value; nil for a new record.
  static func value(
    _ column: SQLValue, _ rule: MergeRule, known: SyncValue?, device: DeviceID
  ) -> SyncValue {
    switch (rule, column) {
    case (.counter, .integer(let number)):
      // Wraps around, as the sum of the totals does.
      let added = number &- SyncCounter.total(known ?? .null)
      // Otherwise saving a row would count as an edit of a counter that nobody has changed, and be sent.
      if added == 0, let known, known.object != nil { return known }
      return SyncCounter.adding(added, to: known ?? .null, by: device)
    case (.union, .text(let text)):
      // A column that doesn't have JSON is sent as it is.
      return (try? SyncValue(encoded: text.utf8)) ?? .string(text)
    default: return WireCoding.value(column)
    }
  }

  /// The value of a column with a merge rule; nil for a value that no column of this version can hold.
  static func column(_ value: SyncValue, _ rule: MergeRule) -> SQLValue? {
    switch (rule, value) {
    case (.counter, .object): .integer(SyncCounter.total(value))
    case (.union, .array): .text(String(decoding: value.encoded(), as: UTF8.self))
    default: WireCoding.column(value)
    }
  }
}

// MARK: - Property lists

/// Property lists on the wire. Data and numbers are as columns have them; dates are `{"$date": seconds since 2001}`,
/// and numbers beyond 63 bits `{"$unsigned": "digits"}`. A dictionary's key that begins with a dollar sign has a second
/// one.
extension PropertyList {
  private static let (dateTag, unsignedTag) = ("$date", "$unsigned")

  /// The property list on the wire. A number with single precision becomes a double, which holds the same value.
  var wireValue: SyncValue {
    switch self {
    case .bool(let flag): .bool(flag)
    case .integer(let number): .int(number)
    case .unsignedInteger(let number): .object([Self.unsignedTag: .string(String(number))])
    case .float(let number): WireCoding.value(.real(Double(number)))
    case .double(let number): WireCoding.value(.real(number))
    case .date(let moment):
      .object([Self.dateTag: WireCoding.value(.real(moment.timeIntervalSinceReferenceDate))])
    case .data(let bytes): WireCoding.value(.blob(bytes))
    case .string(let text): .string(text)
    case .array(let elements): .array(elements.map(\.wireValue))
    case .dictionary(let fields):
      .object(
        Dictionary(
          fields.map { (Self.escaped($0.key), $0.value.wireValue) },
          uniquingKeysWith: { _, last in last }))
    }
  }

  /// Reads a value of the wire; nil for null, and for values of a later version. Those are also left out of arrays and
  /// dictionaries, so an app that changes such an array and sets it removes them.
  init?(wire value: SyncValue) {
    switch value {
    case .bool(let flag): self = .bool(flag)
    case .array(let values): self = .array(values.compactMap { PropertyList(wire: $0) })
    case .object(let members):
      if let special = Self.special(members) {
        self = special
        return
      }
      self = .dictionary(
        Fields(
          members.compactMap { name, member in
            PropertyList(wire: member).map { Fields.Field(Self.unescaped(name), $0) }
          }))
    case .null, .int, .double, .string:
      guard let plain = Self.plain(value) else { return nil }
      self = plain
    }
  }

  /// The value of an object that stands for what JSON lacks; nil for a dictionary.
  private static func special(_ members: [String: SyncValue]) -> PropertyList? {
    guard members.count == 1, let (name, member) = members.first else { return nil }
    switch name {
    case dateTag:
      guard case .real(let seconds)? = WireCoding.column(member) else { return nil }
      return .date(Date(timeIntervalSinceReferenceDate: seconds))
    case unsignedTag: return member.string.flatMap { UInt64($0) }.map { PropertyList($0) }
    default: return plain(.object(members))
    }
  }

  /// Values that a column could have.
  private static func plain(_ value: SyncValue) -> PropertyList? {
    switch WireCoding.column(value) {
    case .integer(let number)?: .integer(number)
    case .real(let number)?: .double(number)
    case .text(let text)?: .string(text)
    case .blob(let bytes)?: .data(bytes)
    case .null?, nil: nil
    }
  }

  /// A dictionary's key, told apart from the tags.
  private static func escaped(_ key: String) -> String { key.hasPrefix("$") ? "$" + key : key }

  private static func unescaped(_ name: String) -> String {
    name.hasPrefix("$$") ? String(name.dropFirst()) : name
  }
}
