import Foundation
import SteadFormats
internal import SteadSyncProtocol

/// Property lists on the wire: what JSON lacks is an object of one member, whose name begins with a dollar sign. Data and
/// numbers are as columns have them; `{"$date": seconds since 2001}`, `{"$unsigned": digits}`.
extension PropertyList {
  private static let (dateTag, unsignedTag) = ("$date", "$unsigned")

  var wireValue: SyncValue {
    switch self {
    case .bool(let flag): .bool(flag)
    case .integer(let number): .int(number)
    case .unsignedInteger(let number): .object([Self.unsignedTag: .string(String(number))])
    case .float(let number): ColumnCoding.value(.real(Double(number)))
    case .double(let number): ColumnCoding.value(.real(number))
    case .date(let moment):
      .object([Self.dateTag: ColumnCoding.value(.real(moment.timeIntervalSinceReferenceDate))])
    case .data(let bytes): ColumnCoding.value(.blob(bytes))
    case .string(let text): .string(text)
    case .array(let elements): .array(elements.map(\.wireValue))
    case .dictionary(let fields):
      .object(
        Dictionary(
          fields.map { (Self.escaped($0.key), $0.value.wireValue) },
          uniquingKeysWith: { _, last in last }))
    }
  }

  /// Nil for null, and for values of a later version.
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

  private static func special(_ members: [String: SyncValue]) -> PropertyList? {
    guard members.count == 1, let (name, member) = members.first else { return nil }
    switch name {
    case dateTag:
      guard case .real(let seconds)? = ColumnCoding.column(member) else { return nil }
      return .date(Date(timeIntervalSinceReferenceDate: seconds))
    case unsignedTag: return member.string.flatMap { UInt64($0) }.map { PropertyList($0) }
    default: return plain(.object(members))
    }
  }

  /// Values that a column could have.
  private static func plain(_ value: SyncValue) -> PropertyList? {
    switch ColumnCoding.column(value) {
    case .integer(let number)?: .integer(number)
    case .real(let number)?: .double(number)
    case .text(let text)?: .string(text)
    case .blob(let bytes)?: .data(bytes)
    case .null?, nil: nil
    }
  }

  /// A key that already begins with the sign gets a second one.
  private static func escaped(_ key: String) -> String { key.hasPrefix("$") ? "$" + key : key }

  private static func unescaped(_ name: String) -> String {
    name.hasPrefix("$$") ? String(name.dropFirst()) : name
  }
}
