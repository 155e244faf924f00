import SteadFormats

/// Elements of an array whose JSON is read and written without JSONEncoder.
protocol FastJSONElement {
  func write(to text: inout String)
  static func read(_ text: inout Slice<UnsafeBufferPointer<UInt8>>) -> Self?
}

extension Int: FastJSONElement {
  func write(to text: inout String) { text += String(self) }

  static func read(_ text: inout Slice<UnsafeBufferPointer<UInt8>>) -> Int? {
    let negative = text.first == UInt8(ascii: "-")
    if negative { text.removeFirst() }
    var value = 0
    var digits = 0
    while let byte = text.first, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") {
      let digit = Int(byte - UInt8(ascii: "0"))
      let (product, tooLarge) = value.multipliedReportingOverflow(by: 10)
      let (next, overflow) =
        negative
        ? product.subtractingReportingOverflow(digit) : product.addingReportingOverflow(digit)
      if tooLarge || overflow { return nil }
      value = next
      digits += 1
      text.removeFirst()
    }
    return digits > 0 ? value : nil
  }
}

extension String: FastJSONElement {
  func write(to text: inout String) { JSONWriter.append(self, to: &text) }

  /// Reads a string without escapes; one with escapes is left to JSONDecoder.
  static func read(_ text: inout Slice<UnsafeBufferPointer<UInt8>>) -> String? {
    guard text.popFirst() == UInt8(ascii: "\"") else { return nil }
    guard
      let end = text.firstIndex(where: { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }),
      text[end] == UInt8(ascii: "\"")
    else { return nil }
    let value = String(decoding: UnsafeBufferPointer(rebasing: text[..<end]), as: UTF8.self)
    text = text[(end + 1)...]
    return value
  }
}
