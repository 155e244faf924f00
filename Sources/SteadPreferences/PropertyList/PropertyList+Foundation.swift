import Foundation

extension PropertyList {
  /// A value of Foundation's or Swift's types as a property list.
  ///
  /// Texts, numbers, booleans, dates, data, and arrays and dictionaries of them, in Swift's types or in
  /// Foundation's classes; optionals that are not nil count as what they hold. A value that is a
  /// `PropertyList` is taken as it is.
  ///
  /// - Throws: ``PreferencesError`` `.notAPropertyList` for values of other types, for dictionaries
  ///   whose keys are no texts, and for what is nested deeper than 512.
  public init(_ value: Any) throws {
    self = try Self.make(value, depth: 0)
  }

  /// The value in the types that `UserDefaults` gives: `String`, `NSNumber`, `Date`, `Data`, `[Any]` and
  /// `[String: Any]`.
  ///
  /// A number can be cast to any type of Swift's that holds it exactly.
  public var foundationValue: Any {
    switch self {
    case .bool(let flag): NSNumber(value: flag)
    case .integer(let number): NSNumber(value: number)
    case .unsignedInteger(let number): NSNumber(value: number)
    case .float(let number): NSNumber(value: number)
    case .double(let number): NSNumber(value: number)
    case .date(let date): date
    case .data(let data): data
    case .string(let text): text
    case .array(let values): values.map(\.foundationValue)
    case .dictionary(let fields): fields.foundationValue
    }
  }

  /// As deep as files may be nested.
  private static let nestingLimit = 512

  private static func make(_ value: Any, depth: Int) throws -> PropertyList {
    guard depth <= nestingLimit else {
      throw refusal("The value is nested deeper than \(nestingLimit).")
    }
    if let scalar = scalar(value) { return scalar }
    if let values = value as? [Any] {
      return .array(try values.map { try make($0, depth: depth + 1) })
    }
    if let fields = value as? [AnyHashable: Any] {
      return .dictionary(
        Fields(
          try fields.map { key, value in
            guard let key = key as? String else {
              throw refusal("A dictionary in the value has a key that is no text.")
            }
            return Fields.Field(key, try make(value, depth: depth + 1))
          }))
    }
    if let optional = value as? any OptionalValue, let inner = optional.held {
      return try make(inner, depth: depth)
    }
    throw refusal("Property lists have no values of the type \(type(of: value)).")
  }

  /// Casts from class to value and back are slow, so the type is looked at first.
  private static func scalar(_ value: Any) -> PropertyList? {
    let type = type(of: value)
    if type == String.self { return (value as? String).map { .string($0) } }
    if type == Bool.self { return (value as? Bool).map { .bool($0) } }
    if type == Double.self { return (value as? Double).map { .double($0) } }
    if type == Float.self { return (value as? Float).map { .float($0) } }
    if type == Data.self { return (value as? Data).map { .data($0) } }
    if type == Date.self { return (value as? Date).map { .date($0) } }
    if type == CGFloat.self { return (value as? CGFloat).map { .double(Double($0)) } }
    if type == PropertyList.self { return value as? PropertyList }
    if let integer = value as? any FixedWidthInteger, !(type is NSNumber.Type) {
      return number(integer)
    }
    if type is AnyClass { return object(value) }
    return nil
  }

  private static func number(_ integer: any FixedWidthInteger) -> PropertyList? {
    if let number = Int64(exactly: integer) { return .integer(number) }
    return UInt64(exactly: integer).map { .unsignedInteger($0) }
  }

  private static func object(_ value: Any) -> PropertyList? {
    switch value {
    case let number as NSNumber where type(of: value) is NSNumber.Type: Self.number(number)
    case let text as String: .string(text)
    case let date as Date: .date(date)
    case let data as Data: .data(data)
    default: nil
    }
  }

  private static func number(_ number: NSNumber) -> PropertyList {
    // There are two objects for booleans alone; by its code one cannot be told from an `Int8`.
    if number === NSNumber(value: true) || number === NSNumber(value: false) {
      return .bool(number.boolValue)
    }
    switch UInt8(bitPattern: number.objCType.pointee) {
    case UInt8(ascii: "d"): return .double(number.doubleValue)
    case UInt8(ascii: "f"): return .float(number.floatValue)
    case UInt8(ascii: "Q"): return PropertyList(number.uint64Value)
    default: return .integer(number.int64Value)
    }
  }

  private static func refusal(_ message: String) -> PreferencesError {
    PreferencesError(code: .notAPropertyList, message: message)
  }
}

extension PropertyList.Fields {
  /// A dictionary of Foundation's or Swift's values as fields.
  ///
  /// - Throws: ``PreferencesError`` `.notAPropertyList`, by the rules for values.
  init(foundation values: [String: Any]) throws {
    self.init(try values.map { Field($0.key, try PropertyList($0.value)) })
  }

  var foundationValue: [String: Any] {
    // Two spellings of one text are two keys in files and one in a Swift dictionary.
    Dictionary(map { ($0.key, $0.value.foundationValue) }, uniquingKeysWith: { _, last in last })
  }
}

/// An optional in an `Any`, which hides that it is one.
private protocol OptionalValue {
  var held: Any? { get }
}

extension Optional: OptionalValue {
  fileprivate var held: Any? { self }
}
