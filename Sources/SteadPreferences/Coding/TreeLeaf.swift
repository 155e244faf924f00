import Foundation

/// A type whose values are leaves of the tree in which a `Codable` value is stored.
///
/// In a tree no value is read from another kind: a type that decodes by trying several kinds in turn relies
/// on the wrong ones failing.
protocol TreeLeaf: PreferenceValue {
  static func isStored(as stored: PropertyList) -> Bool
  func leaf() throws -> PropertyList
}

extension TreeLeaf where Self: FixedWidthInteger {
  static func isStored(as stored: PropertyList) -> Bool {
    switch stored {
    case .integer, .unsignedInteger: true
    default: false
    }
  }
}

extension TreeLeaf where Self: BinaryFloatingPoint {
  /// A number written by hand may lack its fraction.
  static func isStored(as stored: PropertyList) -> Bool {
    switch stored {
    case .float, .double, .integer, .unsignedInteger: true
    default: false
    }
  }
}

extension TreeLeaf {
  func leaf() throws -> PropertyList { try propertyList() ?? TreeNull.stored }

  static func isStored(as stored: PropertyList) -> Bool {
    if case .string = stored { true } else { false }
  }
}

extension Int: TreeLeaf {}
extension Int8: TreeLeaf {}
extension Int16: TreeLeaf {}
extension Int32: TreeLeaf {}
extension Int64: TreeLeaf {}
extension UInt: TreeLeaf {}
extension UInt8: TreeLeaf {}
extension UInt16: TreeLeaf {}
extension UInt32: TreeLeaf {}
extension UInt64: TreeLeaf {}
extension Float: TreeLeaf {}
extension Double: TreeLeaf {}
extension String: TreeLeaf {}
extension URL: TreeLeaf {
  /// The address as a string: in a tree, a tool should be able to read it.
  func leaf() -> PropertyList { .string(absoluteString) }
}

extension UUID: TreeLeaf {}

extension Bool: TreeLeaf {
  static func isStored(as stored: PropertyList) -> Bool {
    if case .bool = stored { true } else { false }
  }
}

extension Date: TreeLeaf {
  static func isStored(as stored: PropertyList) -> Bool {
    if case .date = stored { true } else { false }
  }
}

extension Data: TreeLeaf {
  static func isStored(as stored: PropertyList) -> Bool {
    if case .data = stored { true } else { false }
  }
}
