import Foundation
import SteadFiles

/// An entry of a history as it is stored; Documentation/PayloadHistory.md draws it.
struct StoredEntry: Hashable, Sendable {
  enum Body: Hashable, Sendable {
    /// The payload's JSON.
    case json(Data)
    /// A reference to the blob that holds the JSON.
    case blob(String)
    /// What is no entry: somebody else has put it there.
    case other(PropertyList)
  }

  /// The version of the payload's fields; 0 for what is no entry.
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

  /// The reference of the blob that the payload is in.
  var reference: String? {
    if case .blob(let reference) = body { return reference }
    return nil
  }

  /// How many bytes of JSON the domain holds for it; those of a blob are not among them.
  var byteCount: Int {
    switch body {
    case .json(let json): json.count
    case .blob(let reference): reference.utf8.count
    case .other: 0
    }
  }

  /// Whether these are the bytes of the payload; a blob's name says what is in it.
  func holds(_ bytes: Data) -> Bool {
    switch body {
    case .json(let json): json == bytes
    case .blob(let reference): SHA256.hexadecimal(bytes) == reference
    case .other(let value): Self.bytes(of: value) == bytes
    }
  }

  /// The bytes that stand for a value which is no entry: those of its binary property list.
  static func bytes(of value: PropertyList) -> Data {
    // A file cannot hold what does not encode, so there is always something.
    (try? PropertyList.dictionary(["value": value]).data(format: .binary)) ?? Data()
  }
}
