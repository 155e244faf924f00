import Foundation

/// The fields of a JSON object, which an upgrade can change.
public typealias JSONObject = [String: JSONValue]

/// A JSON value, whose numbers keep their original text so that no digit is lost.
public enum JSONValue: Sendable, Hashable {
  /// `null`.
  case null
  /// `true` or `false`.
  case bool(Bool)
  /// A number's text, such as `12` or `-1.5e3`.
  case number(String)
  /// A string.
  case string(String)
  /// An ordered list of values.
  case array([JSONValue])
  /// Values by name.
  case object(JSONObject)

  /// The string; nil for any other value.
  public var string: String? {
    if case .string(let text) = self { return text }
    return nil
  }

  /// The whole number; nil for any other value or when it does not fit.
  public var int: Int? {
    if case .number(let text) = self { return Int(text) }
    return nil
  }

  /// The number; nil for any other value.
  public var double: Double? {
    if case .number(let text) = self { return Double(text) }
    return nil
  }

  /// The boolean; nil for any other value.
  public var bool: Bool? {
    if case .bool(let value) = self { return value }
    return nil
  }

  /// The elements; nil for any other value.
  public var array: [JSONValue]? {
    if case .array(let values) = self { return values }
    return nil
  }

  /// The fields; nil for any other value.
  public var object: JSONObject? {
    if case .object(let fields) = self { return fields }
    return nil
  }
}

// Not ExpressibleByNilLiteral: nil for a field means that it is missing, and `.null` is a value.
extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// Makes a string.
  public init(stringLiteral value: String) { self = .string(value) }
  /// Makes a whole number.
  public init(integerLiteral value: Int) { self = .number(String(value)) }
  /// Makes a number; one that isn't finite has no form in JSON and becomes `null`.
  public init(floatLiteral value: Double) {
    self = value.isFinite ? .number("\(value)") : .null
  }
  /// Makes a boolean.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// Makes an array.
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  /// Makes an object; if a name occurs twice, its last value counts.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(JSONObject(elements) { $1 })
  }
}
