import Foundation
import SteadFiles
import SteadFormats

/// The elements of a JSON array by their own bytes, which are never written in another way.
enum JSONElements {
  static func identity(of bytes: Data) -> String { ItemDigest.text(of: bytes) }

  /// Dates may be numbers of seconds since 2001, or text of ISO 8601.
  static func decode<Value: Decodable>(_ type: Value.Type, from bytes: Data) throws -> Value {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .custom { try ISO8601Date.date(from: $0) }
    return try decoder.decode(type, from: bytes)
  }

  static func array(of elements: [Data]) -> Data {
    var data = Data("[".utf8)
    for (index, element) in elements.enumerated() {
      if index > 0 { data.append(contentsOf: ",".utf8) }
      data.append(element)
    }
    data.append(contentsOf: "]".utf8)
    return data
  }

  /// Whether the bytes are one JSON value that isn't an array.
  static func isSingle(_ bytes: Data) -> Bool {
    // Foundation reads arrays that are none, such as one with a comma behind its last element.
    let first = bytes.first { !" \t\r\n".utf8.contains($0) }
    guard first != UInt8(ascii: "[") else { return false }
    return (try? JSONSerialization.jsonObject(with: bytes, options: .fragmentsAllowed)) != nil
  }
}
