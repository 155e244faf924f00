import Foundation

/// A type whose values are leaves of the tree in which a `Codable` value is stored.
///
/// Unlike ``PreferenceValue``, a leaf is read from its own kind alone. Types that decode by trying
/// one kind after another, such as enums of a string or a number, rely on the wrong ones failing.
protocol TreeLeaf: PreferenceValue {
  /// Whether a stored value has this type's kind.
  static func isStored(as stored: PropertyList) -> Bool
  /// The stored form within a tree, where it differs from that of a value of its own.
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

// MARK: - Nil

/// Nil within a tree. Property lists have none, so it is the string that Foundation's property list
/// encoder writes.
enum TreeNull {
  static let stored = PropertyList.string("$null")

  /// Adds another `$` to a string that could be mistaken for a nil.
  static func escaped(_ leaf: PropertyList) -> PropertyList {
    guard case .string(let text) = leaf, isMarked(text, dollars: 1) else { return leaf }
    return .string("$" + text)
  }

  /// Reverts ``escaped(_:)``.
  static func unescaped(_ leaf: PropertyList) -> PropertyList {
    guard case .string(let text) = leaf, isMarked(text, dollars: 2) else { return leaf }
    return .string(String(text.dropFirst()))
  }

  /// Whether the string is "null" after at least this many dollar signs, and nothing else.
  private static func isMarked(_ text: String, dollars: Int) -> Bool {
    let signs = text.utf8.prefix { $0 == UInt8(ascii: "$") }.count
    return signs >= dollars && text.utf8.dropFirst(signs).elementsEqual("null".utf8)
  }
}

// MARK: - Coding keys

/// The keys in a coding path where the value's own type has none.
enum TreeKey: CodingKey {
  case value, parent
  case index(Int)

  init?(stringValue: String) { nil }
  init?(intValue: Int) { self = .index(intValue) }

  var stringValue: String {
    switch self {
    case .value: "value"
    // The key to which `superEncoder()` of every encoder writes.
    case .parent: "super"
    case .index(let index): "\(index)"
    }
  }

  var intValue: Int? {
    if case .index(let index) = self { index } else { nil }
  }
}
