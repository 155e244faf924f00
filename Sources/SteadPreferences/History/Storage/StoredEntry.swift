import Foundation
import SteadFiles

/// An entry of a history as it is stored; Documentation/PayloadHistory.md draws it.
struct StoredEntry: Hashable, Sendable {
  enum Body: Hashable, Sendable {
    /// The payload's JSON.
    case json(Data)
    /// A reference to the blob that holds the JSON.
    case blob(String)
    /// A value that isn't an entry, written by another program.
    case other(PropertyList)
  }

  /// The version of the payload's fields; 0 for a value that isn't an entry.
  let version: Int
  let body: Body

  init(version: Int, body: Body) {
    self.version = version
    self.body = body
  }

  init(_ value: PropertyList) {
    if case .array(let parts) = value, parts.count == 2,
      case .integer(let number) = parts[0], let version = Int(exactly: number)
    {
      switch parts[1] {
      case .data(let json): (self.version, body) = (version, .json(json))
      case .string(let reference): (self.version, body) = (version, .blob(reference))
      default: (self.version, body) = (0, .other(value))
      }
      return
    }
    (version, body) = (0, .other(value))
  }

  var propertyList: PropertyList {
    switch body {
    case .json(let json): .array([.integer(Int64(version)), .data(json)])
    case .blob(let reference): .array([.integer(Int64(version)), .string(reference)])
    case .other(let value): value
    }
  }

  /// The reference of the blob that contains the payload.
  var reference: String? {
    if case .blob(let reference) = body { return reference }
    return nil
  }

  /// The size of its JSON in the domain, in bytes, excluding a blob's.
  var byteCount: Int {
    switch body {
    case .json(let json): json.count
    case .blob(let reference): reference.utf8.count
    case .other: 0
    }
  }

  /// Whether these are the bytes of the payload; a blob's name identifies its contents.
  func holds(_ bytes: Data) -> Bool {
    switch body {
    case .json(let json): json == bytes
    case .blob(let reference): SHA256.hexadecimal(bytes) == reference
    case .other(let value): Self.bytes(of: value) == bytes
    }
  }

  /// The bytes for a value that isn't an entry: those of its binary property list.
  static func bytes(of value: PropertyList) -> Data {
    // A file cannot contain a value that does not encode, so the result is never empty.
    (try? PropertyList.dictionary(["value": value]).data(format: .binary)) ?? Data()
  }
}
