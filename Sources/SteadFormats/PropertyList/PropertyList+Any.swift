import Foundation

extension PropertyList {
  /// Converts a value of Swift or Foundation.
  ///
  /// Accepted are `Bool`, integers of 8 to 64 bits, `Float`, `Double`, `CGFloat`, `Decimal` (as a
  /// `Double`), `String`, `Substring`, `Data`, `Date`, arrays of those, dictionaries of those with
  /// string keys, `NSNumber` with its kind of number, `NSString`, `NSData`, `NSDate`, `NSArray`,
  /// `NSDictionary` and their subclasses, and all of them in optionals. Everything else is refused,
  /// `URL`, sets and nil included.
  ///
  /// Costs up to 1 µs a value.
  ///
  /// - Throws: ``PropertyListError``: ``PropertyListError/Code/notAPropertyList``, with the first
  ///   type that isn't supported, or ``PropertyListError/Code/tooDeep``.
  public init(validating value: Any) throws {
    self = try Self.list(of: value, depth: 0)
  }

  /// Converts a value at a nesting depth.
  static func list(of value: Any, depth: Int) throws -> PropertyList {
    // Off Apple a cast of an object to a protocol or a number may convert it: `as? Int` accepts 2.0.
    if type(of: value) is AnyClass { return try list(ofObject: value, depth: depth) }
    if let source = value as? any PropertyListConvertible {
      return try source.propertyList(depth: depth)
    }
    throw PropertyListError.notAPropertyList(type(of: value))
  }

  /// Converts an instance of a class.
  private static func list(ofObject object: Any, depth: Int) throws -> PropertyList {
    switch object {
    case let number as NSNumber: return number.propertyList
    case let text as NSString: return .string(text as String)
    case let data as NSData: return .data(data as Data)
    case let date as NSDate: return .date(date as Date)
    case let array as NSArray:
      guard depth < maximumDepth else { throw PropertyListError.tooDeep() }
      // Element by element: casting the whole array would bridge numbers to one type.
      return .array(try array.map { try list(of: $0, depth: depth + 1) })
    case let dictionary as NSDictionary:
      guard depth < maximumDepth else { throw PropertyListError.tooDeep() }
      // Not by a cast to [String: Any], which would merge two spellings of one key.
      let fields = try dictionary.map { key, value in
        try Fields.Field(Self.key(of: key), list(of: value, depth: depth + 1))
      }
      return .dictionary(Fields(fields))
    default: throw PropertyListError.notAPropertyList(type(of: object))
    }
  }

  /// The string of a dictionary's key; throws for a key of another type.
  static func key(of value: Any) throws -> String {
    if let text = value as? String { return text }
    if let text = value as? Substring { return String(text) }
    throw PropertyListError(
      code: .notAPropertyList,
      message:
        "A dictionary has a key of type \(type(of: value)); make its keys strings."
    )
  }

  /// The value as `Any`, for casts that succeed exactly when they would on Apple's platforms.
  ///
  /// Booleans and numbers are `NSNumber`, which off Apple, too, converts to each kind of number
  /// that can represent the same value. A Swift number in an `Any` can be cast only to its own
  /// type. Everything else is a Swift value: `String`, `Data`, `Date`, `[Any]`, `[String: Any]`.
  ///
  /// | value                   | `Int` | `Int32` | `UInt8` | `UInt64` | `Double` | `Float` | `Bool` |
  /// | ----------------------- | ----- | ------- | ------- | -------- | -------- | ------- | ------ |
  /// | `.integer(1)`           | yes   | yes     | yes     | yes      | yes      | yes     | yes    |
  /// | `.integer(300)`         | yes   | yes     | nil     | yes      | yes      | yes     | nil    |
  /// | `.integer(-1)`          | yes   | yes     | nil     | nil      | yes      | yes     | nil    |
  /// | `.unsignedInteger(max)` | nil   | nil     | nil     | yes      | nil      | nil     | nil    |
  /// | `.double(2)`            | yes   | yes     | yes     | yes      | yes      | yes     | nil    |
  /// | `.double(0.5)`          | nil   | nil     | nil     | nil      | yes      | yes     | nil    |
  /// | `.bool(true)`           | yes   | yes     | yes     | yes      | yes      | yes     | yes    |
  ///
  /// Each of them can be cast to `NSNumber`; arrays and dictionaries to `[Int]`, `[String: Double]`
  /// and so on if all their elements can. A `[String: Any]` treats two spellings of "é" as one key;
  /// of such keys it contains the last in byte order. Costs an allocation for each number.
  public var anyValue: Any {
    switch self {
    case .bool(let bool): NSNumber(value: bool)
    case .integer(let number): NSNumber(value: number)
    case .unsignedInteger(let number): NSNumber(value: number)
    case .float(let number): NSNumber(value: number)
    case .double(let number): NSNumber(value: number)
    case .date(let date): date
    case .data(let data): data
    case .string(let text): text
    case .array(let elements): elements.map(\.anyValue)
    case .dictionary(let fields): fields.anyValue
    }
  }
}

extension PropertyList.Fields {
  /// The fields as a dictionary of ``PropertyList/anyValue``.
  public var anyValue: [String: Any] {
    Dictionary(lazy.map { ($0.key, $0.value.anyValue) }, uniquingKeysWith: { _, last in last })
  }

  /// Converts a dictionary whose values ``PropertyList/init(validating:)`` accepts.
  ///
  /// - Throws: As that initializer does. The message begins with the key whose value is refused.
  public init(validating dictionary: [String: Any]) throws {
    self.init(
      try dictionary.map { key, value in
        do {
          return Field(key, try PropertyList(validating: value))
        } catch let error as PropertyListError {
          throw error.within(key)
        }
      })
  }
}

extension PropertyListError {
  /// Begins the message with the outermost dictionary's key. Those of dictionaries in it are part of a value, which no
  /// message has.
  func within(_ key: String) -> PropertyListError {
    var error = self
    error.message = "\(key.debugDescription): \(message)"
    return error
  }

  /// The error for a value of a type that property lists don't have; it names the type, never the
  /// value.
  static func notAPropertyList(_ type: Any.Type) -> PropertyListError {
    PropertyListError(
      code: .notAPropertyList,
      message:
        "A value of type \(type) cannot be in a property list; leave it out, or encode it as data.")
  }
}

// MARK: - Types that can be property lists

/// A Swift type whose values are property lists, or are if their contents are.
protocol PropertyListConvertible {
  /// The value as a property list.
  ///
  /// - Parameter depth: How many containers are around the value, for
  ///   ``PropertyList/maximumDepth``.
  func propertyList(depth: Int) throws -> PropertyList
}

extension PropertyList: PropertyListConvertible {
  func propertyList(depth: Int) -> PropertyList { self }
}

extension PropertyList.Fields: PropertyListConvertible {
  func propertyList(depth: Int) -> PropertyList { .dictionary(self) }
}

extension Bool: PropertyListConvertible {
  func propertyList(depth: Int) -> PropertyList { .bool(self) }
}

extension PropertyListConvertible where Self: BinaryInteger {
  func propertyList(depth: Int) -> PropertyList {
    // A BinaryInteger of at most 64 bits that isn't an Int64 is an UInt64.
    Int64(exactly: self).map { .integer($0) } ?? .unsignedInteger(UInt64(truncatingIfNeeded: self))
  }
}

extension Int: PropertyListConvertible {}
extension Int8: PropertyListConvertible {}
extension Int16: PropertyListConvertible {}
extension Int32: PropertyListConvertible {}
extension Int64: PropertyListConvertible {}
extension UInt: PropertyListConvertible {}
extension UInt8: PropertyListConvertible {}
extension UInt16: PropertyListConvertible {}
extension UInt32: PropertyListConvertible {}
extension UInt64: PropertyListConvertible {}

extension Float: PropertyListConvertible {
  func propertyList(depth: Int) -> PropertyList { .float(self) }
}

extension Double: PropertyListConvertible {
  func propertyList(depth: Int) -> PropertyList { .double(self) }
}

extension CGFloat: PropertyListConvertible {
  func propertyList(depth: Int) -> PropertyList { .double(Double(self)) }
}

extension Decimal: PropertyListConvertible {
  func propertyList(depth: Int) -> PropertyList {
    .double((self as NSDecimalNumber).doubleValue)
  }
}

extension String: PropertyListConvertible {
  func propertyList(depth: Int) -> PropertyList { .string(self) }
}

extension Substring: PropertyListConvertible {
  func propertyList(depth: Int) -> PropertyList { .string(String(self)) }
}

extension Data: PropertyListConvertible {
  func propertyList(depth: Int) -> PropertyList { .data(self) }
}

extension Date: PropertyListConvertible {
  func propertyList(depth: Int) -> PropertyList { .date(self) }
}

extension Array: PropertyListConvertible {
  func propertyList(depth: Int) throws -> PropertyList {
    guard depth < PropertyList.maximumDepth else { throw PropertyListError.tooDeep() }
    return .array(try map { try PropertyList.list(of: $0, depth: depth + 1) })
  }
}

extension Dictionary: PropertyListConvertible {
  func propertyList(depth: Int) throws -> PropertyList {
    guard depth < PropertyList.maximumDepth else { throw PropertyListError.tooDeep() }
    let fields = try map { key, value in
      try PropertyList.Fields.Field(
        PropertyList.key(of: key), PropertyList.list(of: value, depth: depth + 1))
    }
    return .dictionary(PropertyList.Fields(fields))
  }
}

extension Optional: PropertyListConvertible {
  func propertyList(depth: Int) throws -> PropertyList {
    guard let value = self else { throw PropertyListError.notAPropertyList(Self.self) }
    return try PropertyList.list(of: value, depth: depth)
  }
}

extension AnyHashable: PropertyListConvertible {
  func propertyList(depth: Int) throws -> PropertyList {
    try PropertyList.list(of: base, depth: depth)
  }
}

extension NSNumber {
  /// The number as the kind from which it was created.
  var propertyList: PropertyList {
    // First, since an NSNumber made from a Bool also reports the type of an Int8.
    if isBoolean { return .bool(boolValue) }
    // The C type in which the number was created.
    switch UInt8(bitPattern: objCType.pointee) {
    case UInt8(ascii: "f"): return .float(floatValue)
    case UInt8(ascii: "d"): return .double(doubleValue)
    case UInt8(ascii: "Q"), UInt8(ascii: "L"): return PropertyList(uint64Value)
    default: return .integer(int64Value)
    }
  }

  /// Whether the number was created from a `Bool`.
  fileprivate var isBoolean: Bool {
    #if canImport(Darwin)
      // An `Int8` reports the same C type.
      CFGetTypeID(self) == CFBooleanGetTypeID()
    #else
      // All others, including `Int8`, report another type.
      UInt8(bitPattern: objCType.pointee) == UInt8(ascii: "c")
    #endif
  }
}
