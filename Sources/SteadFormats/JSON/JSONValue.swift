import Foundation

/// The fields of a JSON object, for an upgrade to change.
public typealias JSONObject = [String: JSONValue]

/// A value of JSON, with numbers as the text that they were written as, so that none loses a digit.
public enum JSONValue: Sendable, Hashable {
  /// `null`.
  case null
  /// `true` or `false`.
  case bool(Bool)
  /// A number's text, such as `12` or `-1.5e3`.
  case number(String)
  /// Text.
  case string(String)
  /// Values in an order.
  case array([JSONValue])
  /// Values by name.
  case object(JSONObject)

  /// The text, nil when it is something else.
  public var string: String? {
    if case .string(let text) = self { return text }
    return nil
  }

  /// The whole number, nil when it is something else or does not fit.
  public var int: Int? {
    if case .number(let text) = self { return Int(text) }
    return nil
  }

  /// The number, nil when it is something else.
  public var double: Double? {
    if case .number(let text) = self { return Double(text) }
    return nil
  }

  /// Whether it is true, nil when it is neither true nor false.
  public var bool: Bool? {
    if case .bool(let value) = self { return value }
    return nil
  }

  /// The values, nil when it is no array.
  public var array: [JSONValue]? {
    if case .array(let values) = self { return values }
    return nil
  }

  /// The fields, nil when it is no object.
  public var object: JSONObject? {
    if case .object(let fields) = self { return fields }
    return nil
  }
}

// Not by `nil`: for a field that is what is not there, and `.null` is a value.
extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// Text.
  public init(stringLiteral value: String) { self = .string(value) }
  /// A whole number.
  public init(integerLiteral value: Int) { self = .number(String(value)) }
  /// A number; one that is not finite has no form in JSON and becomes `null`.
  public init(floatLiteral value: Double) {
    self = value.isFinite ? .number("\(value)") : .null
  }
  /// True or false.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// An array.
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  /// An object; of a name that is there twice the last value counts.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(JSONObject(elements) { $1 })
  }
}
