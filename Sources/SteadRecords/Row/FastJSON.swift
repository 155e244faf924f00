/// Types whose JSON is read and written without JSONEncoder, which takes 5 to 9 times as long.
///
/// They are written directly as a column's text, without an intermediate `JSONValue`.
protocol FastJSON {
  var jsonText: String { get }
  /// The value, or nil if the string isn't in the plainest form.
  static func parse(_ text: UnsafeBufferPointer<UInt8>) -> Self?
}

extension Array: FastJSON where Element: FastJSONElement {
  var jsonText: String {
    var text = "["
    for (index, element) in enumerated() {
      if index > 0 { text += "," }
      element.write(to: &text)
    }
    return text + "]"
  }

  static func parse(_ text: UnsafeBufferPointer<UInt8>) -> [Element]? {
    var rest = text[...]
    guard rest.popFirst() == UInt8(ascii: "[") else { return nil }
    var result: [Element] = []
    if rest.first == UInt8(ascii: "]") { return rest.count == 1 ? [] : nil }
    while let element = Element.read(&rest) {
      result.append(element)
      switch rest.popFirst() {
      case UInt8(ascii: ","): continue
      case UInt8(ascii: "]"): return rest.isEmpty ? result : nil
      default: return nil
      }
    }
    return nil
  }
}
