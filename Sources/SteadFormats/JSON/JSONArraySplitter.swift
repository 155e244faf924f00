import Foundation

/// Splits a JSON array into its elements, byte for byte.
///
/// It interprets only as much JSON as it needs to find an element's end, so an element that isn't valid JSON
/// stays among the others instead of making all of them unreadable.
package enum JSONArraySplitter {
  /// The elements' own bytes, without surrounding whitespace; nil when the bytes aren't an array.
  package static func elements(of data: Data) -> [Data]? {
    data.withUnsafeBytes { bytes in
      var elements: [Data] = []
      var position = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
      skipSpace(bytes, &position)
      guard position < bytes.count, bytes[position] == UInt8(ascii: "[") else { return nil }
      position += 1
      skipSpace(bytes, &position)
      if position < bytes.count, bytes[position] == UInt8(ascii: "]") {
        return isEnd(bytes, after: position) ? [] : nil
      }
      while let end = endOfElement(bytes, from: position) {
        let element = trimmed(bytes, position..<end)
        guard !element.isEmpty else { return nil }
        elements.append(Data(bytes[element]))
        if bytes[end] == UInt8(ascii: "]") { return isEnd(bytes, after: end) ? elements : nil }
        position = end + 1
      }
      return nil
    }
  }

  /// The position of the comma or bracket that ends an element; nil if none.
  private static func endOfElement(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
    var (depth, isText, position) = (0, false, start)
    while position < bytes.count {
      let byte = bytes[position]
      if isText {
        if byte == UInt8(ascii: "\\") { position += 1 }
        isText = byte != UInt8(ascii: "\"")
      } else {
        switch byte {
        case UInt8(ascii: "\""): isText = true
        case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
        case UInt8(ascii: ","), UInt8(ascii: "]"):
          if depth == 0 { return position }
          if byte == UInt8(ascii: "]") { depth -= 1 }
        case UInt8(ascii: "}"):
          guard depth > 0 else { return nil }
          depth -= 1
        default: break
        }
      }
      position += 1
    }
    return nil
  }

  private static func isEnd(_ bytes: UnsafeRawBufferPointer, after bracket: Int) -> Bool {
    bytes[(bracket + 1)...].allSatisfy(\.isSpace)
  }

  private static func trimmed(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> Range<Int> {
    var (start, end) = (range.lowerBound, range.upperBound)
    while start < end, bytes[start].isSpace { start += 1 }
    while end > start, bytes[end - 1].isSpace { end -= 1 }
    return start..<end
  }

  private static func skipSpace(_ bytes: UnsafeRawBufferPointer, _ position: inout Int) {
    while position < bytes.count, bytes[position].isSpace { position += 1 }
  }
}
