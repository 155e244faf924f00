import Foundation

/// A Swift value that is a property list, if its contents are.
protocol PropertyListSource {
  func propertyList(depth: Int) throws -> PropertyList
}

extension PropertyList: PropertyListSource {
  func propertyList(depth: Int) -> PropertyList { self }
}

extension PropertyList.Fields: PropertyListSource {
  func propertyList(depth: Int) -> PropertyList { .dictionary(self) }
}

extension Bool: PropertyListSource {
  func propertyList(depth: Int) -> PropertyList { .bool(self) }
}

extension PropertyListSource where Self: BinaryInteger {
  func propertyList(depth: Int) -> PropertyList {
    Int64(exactly: self).map { .integer($0) } ?? .unsignedInteger(UInt64(truncatingIfNeeded: self))
  }
}

extension Int: PropertyListSource {}
extension Int8: PropertyListSource {}
extension Int16: PropertyListSource {}
extension Int32: PropertyListSource {}
extension Int64: PropertyListSource {}
extension UInt: PropertyListSource {}
extension UInt8: PropertyListSource {}
extension UInt16: PropertyListSource {}
extension UInt32: PropertyListSource {}
extension UInt64: PropertyListSource {}

extension Float: PropertyListSource {
  func propertyList(depth: Int) -> PropertyList { .float(self) }
}

extension Double: PropertyListSource {
  func propertyList(depth: Int) -> PropertyList { .double(self) }
}

extension CGFloat: PropertyListSource {
  func propertyList(depth: Int) -> PropertyList { .double(Double(self)) }
}

extension Decimal: PropertyListSource {
  func propertyList(depth: Int) -> PropertyList {
    .double((self as NSDecimalNumber).doubleValue)
  }
}

extension String: PropertyListSource {
  func propertyList(depth: Int) -> PropertyList { .string(self) }
}

extension Substring: PropertyListSource {
  func propertyList(depth: Int) -> PropertyList { .string(String(self)) }
}

extension Data: PropertyListSource {
  func propertyList(depth: Int) -> PropertyList { .data(self) }
}

extension Date: PropertyListSource {
  func propertyList(depth: Int) -> PropertyList { .date(self) }
}

extension Array: PropertyListSource {
  func propertyList(depth: Int) throws -> PropertyList {
    guard depth < PropertyList.maximumDepth else { throw PropertyListError.tooDeep() }
    return .array(try map { try PropertyList.list(of: $0, depth: depth + 1) })
  }
}

extension Dictionary: PropertyListSource {
  func propertyList(depth: Int) throws -> PropertyList {
    guard depth < PropertyList.maximumDepth else { throw PropertyListError.tooDeep() }
    let fields = try map { key, value in
      try PropertyList.Fields.Field(
        PropertyList.key(of: key), PropertyList.list(of: value, depth: depth + 1))
    }
    return .dictionary(PropertyList.Fields(fields))
  }
}

extension Optional: PropertyListSource {
  func propertyList(depth: Int) throws -> PropertyList {
    guard let value = self else { throw PropertyListError.notAPropertyList(Self.self) }
    return try PropertyList.list(of: value, depth: depth)
  }
}

extension AnyHashable: PropertyListSource {
  func propertyList(depth: Int) throws -> PropertyList {
    try PropertyList.list(of: base, depth: depth)
  }
}

extension NSNumber {
  /// The number as the kind from which it was created.
  var propertyList: PropertyList {
    if isBoolean { return .bool(boolValue) }
    switch UInt8(bitPattern: objCType.pointee) {
    case UInt8(ascii: "f"): return .float(floatValue)
    case UInt8(ascii: "d"): return .double(doubleValue)
    case UInt8(ascii: "Q"), UInt8(ascii: "L"): return PropertyList(uint64Value)
    default: return .integer(int64Value)
    }
  }
}

extension NSNumber {
  /// Whether it was created from a `Bool`.
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
