import SteadFormats
import Foundation
import SteadPreferences
import SteadRecords
import SteadSQLite

/// The contents of data with a value of several parts: a keyed archive, a property list, or JSON.
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
        throw CoreDataValue.Problem(reason: "holds a dictionary with keys that aren't strings")
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
