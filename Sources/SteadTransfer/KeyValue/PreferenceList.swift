import Foundation
import SteadFiles
import SteadFormats
import SteadPreferences

/// A stored value, split into elements that can be put back without some of them.
struct PreferenceList {
  /// An element in its stored form.
  enum Element {
    /// A value of a property list.
    case stored(PropertyList)
    /// The bytes of an element of a JSON array.
    case json(Data)

    /// The digest of the stored form.
    func identity() throws -> String {
      switch self {
      case .stored(let value): try value.digest()
      case .json(let bytes): JSONElements.identity(of: bytes)
      }
    }

    /// Decodes the element.
    func decoded<Value: Decodable>(as type: Value.Type) throws -> Value {
      switch self {
      case .json(let bytes): return try JSONElements.decode(type, from: bytes)
      // A single value that `JSONEncoder` has written, unless the caller wants the data itself.
      case .stored(.data(let bytes)) where type != Data.self:
        // The type's own form comes first, and JSON only if that fails.
        do {
          return try Self.decoded(.data(bytes), as: type)
        } catch {
          // Other bytes are data where something else is asked for, and no JSON that is damaged.
          guard JSONElements.isJSON(bytes) else { throw error }
          return try JSONElements.decode(type, from: bytes)
        }
      case .stored(let value): return try Self.decoded(value, as: type)
      }
    }

    /// Decodes a value of a property list.
    ///
    /// - Throws: ``TransferError/Code/unreadable`` with the kind of a value that a type with a form of its own does not
    ///   read, and otherwise what decoding throws.
    private static func decoded<Value: Decodable>(
      _ value: PropertyList, as type: Value.Type
    ) throws -> Value {
      do {
        return try value.decoded(as: type)
        // The error's own remedy is for a key, and the value may be an element, or in a file.
      } catch let error as PreferencesError
        where type is any PreferenceValue.Type && !(error.cause is DecodingError)
      {
        throw TransferError(
          code: .unreadable,
          message: "It is \(value.kindName), which does not read as \(type). "
            + TransferFailure.remedyForType, cause: error)
      }
    }
  }

  /// The form of the stored value, which is needed to put it back.
  private enum Kind { case array, json, jsonText, single }

  /// The elements of the array, or the value itself.
  let elements: [Element]
  private let kind: Kind

  /// Splits a value.
  ///
  /// - Parameter splitsData: Whether data and strings may contain a JSON array. False for files,
  ///   whose format says what an array is.
  init(_ stored: PropertyList, splitsData: Bool) {
    switch stored {
    case .array(let elements):
      kind = .array
      self.elements = elements.map(Element.stored)
    case .data(let bytes) where splitsData:
      let elements = JSONArraySplitter.elements(of: bytes)
      kind = elements == nil ? .single : .json
      self.elements = elements?.map(Element.json) ?? [.stored(stored)]
    // `@AppStorage` on Apple's platforms stores arrays this way.
    case .string(let text) where splitsData:
      let elements = JSONArraySplitter.elements(of: Data(text.utf8))
      kind = elements == nil ? .single : .jsonText
      self.elements = elements?.map(Element.json) ?? [.stored(stored)]
    default:
      kind = .single
      elements = [.stored(stored)]
    }
  }

  /// Whether the elements are those of an array.
  var isArray: Bool { kind != .single }

  /// Whether the value is data that isn't JSON, of which nothing is known.
  var isUnreadable: Bool {
    guard kind == .single, case .stored(.data(let bytes))? = elements.first else { return false }
    return !JSONElements.isSingle(bytes)
  }

  /// The value to store for the elements that stay, in the original form; nil if none does.
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

/// The elements of a JSON array in their own bytes, which are never reformatted.
enum JSONElements {
  /// The digest of an element's bytes.
  static func identity(of bytes: Data) -> String { ItemDigest.text(of: bytes) }

  /// Decodes an element. Dates may be seconds since 2001 or ISO 8601.
  static func decode<Value: Decodable>(_ type: Value.Type, from bytes: Data) throws -> Value {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .custom { try ISO8601Date.date(from: $0) }
    return try decoder.decode(type, from: bytes)
  }

  /// A JSON array of the elements.
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
    // Foundation accepts malformed arrays, such as one with a comma after its last element.
    let first = bytes.first { !" \t\r\n".utf8.contains($0) }
    return first != UInt8(ascii: "[") && isJSON(bytes)
  }

  /// Whether the bytes are a JSON value, to Foundation.
  static func isJSON(_ bytes: Data) -> Bool {
    (try? JSONSerialization.jsonObject(with: bytes, options: .fragmentsAllowed)) != nil
  }
}
