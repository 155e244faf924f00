import Foundation

/// The form of a nil in a tree, which property lists lack: the string that Foundation's property list encoder writes.
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
