import Foundation
import SteadFormats
import SteadSQLite

/// Reads stored values as a property's type, and completes those that lack fields which the type has gained.
struct ValueReader {
  /// How a value can be read.
  enum Fit {
    case asItIs
    /// With fields of the property's default value.
    case completed(SQLValue)
    case none((any Error)?)
  }

  /// The greatest number of fields that a value gets.
  private static let fieldLimit = 1_000

  private let type: any Any.Type
  private let isJSON: Bool
  private let defaultValue: SQLValue?

  var hasDefault: Bool { Self.fields(of: defaultValue) != nil }

  init(_ attribute: Schema.Attribute) {
    self.init(
      PropertyShape(attribute.valueType).wrapped, attribute.encoding,
      attribute.defaultValue.flatMap { DefaultValueEncoder.encode($0, as: attribute.encoding) })
  }

  /// - Parameter defaultValue: What has the fields that values may lack.
  init(_ type: any Any.Type, _ encoding: ColumnEncoding, _ defaultValue: SQLValue? = nil) {
    self.type = type
    switch encoding {
    case .json, .composite, .opaque: isJSON = true
    default: isJSON = false
    }
    self.defaultValue = isJSON ? defaultValue : nil
  }

  func fit(of value: SQLValue) -> Fit { fit(of: value, with: defaultValue) }

  /// - Parameter defaultValue: What has the fields that the value may lack.
  func fit(of value: SQLValue, with defaultValue: SQLValue?) -> Fit {
    guard isJSON else { return readsColumn(value) ? .asItIs : .none(nil) }
    guard case .text(let text) = value, let type = type as? any Decodable.Type else {
      return .none(nil)
    }
    let data = Data(text.utf8)
    if let fields = Self.fields(of: defaultValue) {
      return Self.fit(of: data, as: type, fields, JSONDecoder())
    }
    if let error = Self.readError(data, as: type, JSONDecoder()) { return .none(error) }
    return .asItIs
  }

  /// JSON with the fields that it lacks, so that a type reads it; nil if that can't be.
  ///
  /// - Parameters:
  ///   - fields: What has the fields.
  ///   - decoder: What the JSON is read with.
  static func completed(
    _ data: Data, as type: any Decodable.Type, from fields: JSONValue, _ decoder: JSONDecoder
  ) -> Data? {
    guard case .completed(.text(let text)) = fit(of: data, as: type, fields, decoder) else {
      return nil
    }
    return Data(text.utf8)
  }

  /// A default value as JSON, if that is an object.
  static func fields(ofDefault value: Any) -> JSONValue? {
    fields(of: DefaultValueEncoder.encode(value, as: .json))
  }

  /// The value of a column as JSON, if that is an object.
  static func fields(of value: SQLValue?) -> JSONValue? {
    guard case .text(let text)? = value, let json = JSONReader.value(of: Data(text.utf8)),
      json.object != nil
    else { return nil }
    return json
  }

  private static func readError(
    _ data: Data, as type: any Decodable.Type, _ decoder: JSONDecoder
  ) -> (any Error)? {
    do {
      _ = try decoder.decode(type, from: data)
      return nil
    } catch {
      return error
    }
  }

  /// Adds one missing field after the other, as reading asks for them: an optional one that is missing is nil.
  private static func fit(
    of stored: Data, as type: any Decodable.Type, _ fields: JSONValue, _ decoder: JSONDecoder
  ) -> Fit {
    var data = stored
    for count in 0...fieldLimit {
      guard let error = readError(data, as: type, decoder) else {
        return count == 0 ? .asItIs : .completed(.text(String(decoding: data, as: UTF8.self)))
      }
      guard case DecodingError.keyNotFound(let key, let context) = error,
        let value = JSONReader.value(of: data),
        let complete = adding(
          key.stringValue, at: context.codingPath[...], from: fields, to: value)
      else { return .none(error) }
      data = complete.data
    }
    return .none(nil)
  }

  /// An object with one more field in it, or in an object within it; nil if the default value has no such field.
  private static func adding(
    _ key: String, at path: ArraySlice<any CodingKey>, from fields: JSONValue, to value: JSONValue
  ) -> JSONValue? {
    guard var object = value.object, let defaults = fields.object else { return nil }
    if let step = path.first {
      let name = step.stringValue
      guard step.intValue == nil, let inner = object[name], let field = defaults[name],
        let complete = adding(key, at: path.dropFirst(), from: field, to: inner)
      else { return nil }
      object[name] = complete
    } else {
      guard let field = defaults[key], object[key] == nil else { return nil }
      object[key] = field
    }
    return .object(object)
  }

  private func readsColumn(_ value: SQLValue) -> Bool {
    func open<T>(_ type: T.Type) -> Bool { value.decoded(as: type) != nil }
    return _openExistential(type, do: open)
  }
}
