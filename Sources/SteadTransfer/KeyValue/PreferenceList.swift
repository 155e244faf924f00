import Foundation
import SteadFiles
import SteadFormats
import SteadPreferences

/// A stored value, taken apart into elements.
struct PreferenceList {
  /// One element, as it is stored.
  enum Element {
    case stored(PropertyList)
    /// The bytes of an element of a JSON array.
    case json(Data)

    func identity() throws -> String {
      switch self {
      case .stored(let value): try value.digest()
      case .json(let bytes): JSONElements.identity(of: bytes)
      }
    }

    func decoded<Value: Decodable>(as type: Value.Type) throws -> Value {
      switch self {
      case .json(let bytes): return try JSONElements.decode(type, from: bytes)
      // A value by itself, as `JSONEncoder` has written it; unless it is data that is meant.
      case .stored(.data(let bytes)) where type != Data.self:
        if let value = try? PropertyList.data(bytes).decoded(as: type) { return value }
        return try JSONElements.decode(type, from: bytes)
      case .stored(let value): return try value.decoded(as: type)
      }
    }
  }

  private enum Kind { case array, json, jsonText, single }

  let elements: [Element]
  private let kind: Kind

  /// - Parameter splitsData: Whether data or text may hold a JSON array.
  init(_ stored: PropertyList, splitsData: Bool) {
    switch stored {
    case .array(let elements):
      kind = .array
      self.elements = elements.map(Element.stored)
    case .data(let bytes) where splitsData:
      let elements = JSONArraySplitter.elements(of: bytes)
      kind = elements == nil ? .single : .json
      self.elements = elements?.map(Element.json) ?? [.stored(stored)]
    case .string(let text) where splitsData:
      let elements = JSONArraySplitter.elements(of: Data(text.utf8))
      kind = elements == nil ? .single : .jsonText
      self.elements = elements?.map(Element.json) ?? [.stored(stored)]
    default:
      kind = .single
      elements = [.stored(stored)]
    }
  }

  /// Whether the elements have an order of their own.
  var isArray: Bool { kind != .single }

  /// Whether it is data that isn't JSON, about which nothing can be said.
  var isUnreadable: Bool {
    guard kind == .single, case .stored(.data(let bytes))? = elements.first else { return false }
    return !JSONElements.isSingle(bytes)
  }

  /// What to store for the elements that are kept; nil if none are.
  func stored(_ kept: [Element]) -> PropertyList? {
    guard let first = kept.first else { return nil }
    switch kind {
    case .single: return first.value
    case .array: return .array(kept.compactMap(\.value))
    case .json: return .data(JSONElements.array(of: kept.compactMap(\.bytes)))
    case .jsonText:
      let array = JSONElements.array(of: kept.compactMap(\.bytes))
      return .string(String(decoding: array, as: UTF8.self))
    }
  }
}

extension PreferenceList.Element {
  fileprivate var value: PropertyList? {
    if case .stored(let value) = self { value } else { nil }
  }
  fileprivate var bytes: Data? {
    if case .json(let bytes) = self { bytes } else { nil }
  }
}

// MARK: - JSON

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
