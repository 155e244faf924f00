import Foundation
import SteadFormats
import SteadRecords
import SteadSQLite

/// Converts a column's value into a record's value.
///
/// Dates, numbers, strings and identifiers are equal in both, and the writer checks whether they fit the property.
/// This handles values with another form.
struct CoreDataValue {
  /// Why a value cannot be converted, to go behind the attribute's name. It never tells the value.
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

  /// JSON of the contents of an archive, a property list or a JSON string.
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

  /// A raw value that was encoded on its own.
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
