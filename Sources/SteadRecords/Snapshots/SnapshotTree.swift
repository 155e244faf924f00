import Foundation

/// A value whose type is not known, as it was decoded: it is encoded as it was.
enum SnapshotTree: Codable {
  case null
  case flag(Bool)
  case integer(Int64)
  case unsigned(UInt64)
  case real(Double)
  /// A number with more digits than a `Double` holds.
  case decimal(Decimal)
  case text(String)
  case list([SnapshotTree])
  case fields([String: SnapshotTree])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let flag = try? container.decode(Bool.self) {
      self = .flag(flag)
    } else if let number = try? container.decode(Int64.self) {
      self = .integer(number)
    } else if let number = try? container.decode(UInt64.self) {
      self = .unsigned(number)
    } else if let text = try? container.decode(String.self) {
      self = .text(text)
    } else if let number = try? container.decode(Double.self) {
      let exact = try? container.decode(Decimal.self)
      self =
        if let exact, exact != Decimal(string: "\(number)") { .decimal(exact) } else {
          .real(number)
        }
    } else if let list = try? container.decode([SnapshotTree].self) {
      self = .list(list)
    } else {
      self = .fields(try container.decode([String: SnapshotTree].self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .flag(let flag): try container.encode(flag)
    case .integer(let number): try container.encode(number)
    case .unsigned(let number): try container.encode(number)
    case .real(let number): try container.encode(number)
    case .decimal(let number): try container.encode(number)
    case .text(let text): try container.encode(text)
    case .list(let list): try container.encode(list)
    case .fields(let fields): try container.encode(fields)
    }
  }
}
