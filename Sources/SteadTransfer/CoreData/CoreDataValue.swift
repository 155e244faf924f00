import Foundation
import SteadFormats
import SteadRecords
import SteadSQLite

/// Turns what a column of a store holds into what a record holds.
///
/// Dates, numbers, texts and identifiers are the same in both, and whether they fit the property is
/// checked where they are written. This deals with what has another form.
struct CoreDataValue {
  /// Why a value cannot be converted, to go behind the attribute's name. It never tells the value.
  struct Problem: Error {
    let reason: String
  }

  let files: CoreDataFiles

  func convert(_ value: SQLValue, _ attribute: CoreDataClassPlan.Attribute) throws -> SQLValue {
    guard value != .null else { return .null }
    var value = value
    if attribute.form == .marked, case .blob(let data) = value { value = try unmarked(data) }
    switch (attribute.encoding, value) {
    case (.decimal, .real(let number)): return .text(CoreDataDecimal.text(number))
    case (.json, .blob(let data)), (.composite, .blob(let data)):
      return try json(data)
    case (.opaque, .blob(let data)) where !attribute.hasTransformer: return try json(data)
    case (.url, .blob(let data)): return try url(data)
    case (.text, .blob(let data)), (.integer, .blob(let data)), (.real, .blob(let data)):
      return try scalar(data)
    default: return value
    }
  }

  /// The data behind the byte that says where it is.
  private func unmarked(_ data: Data) throws -> SQLValue {
    switch data.first {
    case CoreDataMarker.inline: return .blob(Data(data.dropFirst()))
    case CoreDataMarker.file:
      do {
        return .blob(try files.read(Data(data.dropFirst())))
      } catch let problem as CoreDataFiles.Problem {
        throw Problem(reason: problem.reason)
      }
    default:
      throw Problem(reason: "does not begin with a byte that says where its data is")
    }
  }

  /// JSON of what an archive, a property list or a JSON text holds.
  private func json(_ data: Data) throws -> SQLValue {
    .text(try CoreDataTree(data).json())
  }

  private func url(_ data: Data) throws -> SQLValue {
    switch try CoreDataTree(data).value {
    case let url as URL: return .text(url.absoluteString)
    case let text as String: return .text(text)
    case let fields as [String: Any]:
      guard let text = fields["relative"] as? String, fields["base"] == nil else { break }
      return .text(text)
    default: break
    }
    throw Problem(reason: "holds an archive of something else than a URL")
  }

  /// A raw value that was encoded by itself.
  private func scalar(_ data: Data) throws -> SQLValue {
    switch try CoreDataTree(data).value {
    case let text as String: return .text(text)
    case let number as NSNumber:
      let real = number.doubleValue
      if let integer = Int64(exactly: real), number.int64Value == integer {
        return .integer(integer)
      }
      return .real(real)
    default: throw Problem(reason: "holds data where a text or a number is wanted")
    }
  }
}

/// Decimal numbers, which Core Data keeps as floating point where that holds them.
enum CoreDataDecimal {
  /// The digits that a floating-point number holds of any decimal.
  private static let safeDigits = 15
  /// How far off, in units of its last place, Foundation makes the floating-point number of a decimal.
  private static let tolerance = 4.0

  /// The decimal number that was stored: the one of few digits next to it, where there is one.
  static func text(_ number: Double) -> String {
    let short = String(format: "%.\(safeDigits)g", number)
    guard let value = Double(short), abs(value - number) <= tolerance * number.ulp else {
      return "\(number)"
    }
    return short
  }
}

/// The first byte of data whose attribute allows external storage.
enum CoreDataMarker {
  /// The data follows.
  static let inline: UInt8 = 1
  /// The name of a file follows.
  static let file: UInt8 = 2
}

/// What is in data that holds a value of several parts: a keyed archive, a property list, or JSON.
struct CoreDataTree {
  /// How deep values may be nested.
  static let depthLimit = 200

  let value: Any

  init(_ data: Data) throws {
    if data.starts(with: Data("bplist".utf8)) {
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

  /// As a store of this package has it: dates as seconds since 2001, data in Base64.
  func json() throws -> String {
    let plain = try Self.plain(value, depth: 0)
    let data = try JSONSerialization.data(
      withJSONObject: plain, options: [.fragmentsAllowed, .sortedKeys, .withoutEscapingSlashes])
    return String(decoding: data, as: UTF8.self)
  }

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
    case let value as Set<AnyHashable>:
      return try value.map { try plain($0.base, depth: depth + 1) }
    case let value as [AnyHashable: Any]:
      var result: [String: Any] = [:]
      for (key, value) in value {
        guard let key = key.base as? String else { break }
        result[key] = try plain(value, depth: depth + 1)
      }
      guard result.count == value.count else {
        throw CoreDataValue.Problem(reason: "holds a dictionary whose keys are not all texts")
      }
      return result
    default: throw CoreDataValue.Problem(reason: "holds an object that has no JSON")
    }
  }

  private static func number(_ value: NSNumber) throws -> Any {
    guard value.doubleValue.isFinite else {
      throw CoreDataValue.Problem(reason: "holds a number that JSON cannot hold")
    }
    return value
  }

  private static func number(_ value: Double) throws -> Any { try number(NSNumber(value: value)) }
}
