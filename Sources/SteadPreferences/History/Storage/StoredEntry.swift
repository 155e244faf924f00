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

/// The name of an entry's key: its sequence number in 16 hexadecimal digits, so that names sort as the
/// numbers do.
enum EntryKey {
  /// No sequence number is higher, so that there is always a next one. What a higher number would be is
  /// left alone.
  static let limit: UInt64 = 1 << 62
  private static let width = 16

  static func text(_ sequence: UInt64) -> String {
    String(unsafeUninitializedCapacity: width) { bytes in
      for place in 0..<width {
        let digit = UInt8(truncatingIfNeeded: sequence >> UInt64(4 * (width - 1 - place))) & 15
        bytes[place] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
      }
      return width
    }
  }

  /// The sequence number; nil for a key that is no entry's.
  static func sequence(_ text: String) -> UInt64? {
    let isPlain = text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    guard text.utf8.count == width, isPlain else { return nil }
    return UInt64(text, radix: 16).flatMap { $0 <= limit ? $0 : nil }
  }
}
