import Foundation

/// How a nil inside of a tree is written, since property lists have none: as the text that Foundation's
/// property list encoder writes.
enum TreeNull {
  static let stored = PropertyList.string("$null")

  /// A text that could be taken for a nil gets one more `$`.
  static func escaped(_ leaf: PropertyList) -> PropertyList {
    guard case .string(let text) = leaf, isMarked(text, dollars: 1) else { return leaf }
    return .string("$" + text)
  }

  /// Takes back what ``escaped(_:)`` did.
  static func unescaped(_ leaf: PropertyList) -> PropertyList {
    guard case .string(let text) = leaf, isMarked(text, dollars: 2) else { return leaf }
    return .string(String(text.dropFirst()))
  }

  /// Whether the text is "null" behind at least so many dollar signs, and nothing else.
  private static func isMarked(_ text: String, dollars: Int) -> Bool {
    let signs = text.utf8.prefix { $0 == UInt8(ascii: "$") }.count
    return signs >= dollars && text.utf8.dropFirst(signs).elementsEqual("null".utf8)
  }
}
