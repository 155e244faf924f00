import Foundation

/// Writes Apple's XML property lists, in the layout of Apple's writer: a tab a level, sorted keys.
///
/// XML has one kind of number with a point, so a `Float` is written as the `Double` of the same value, and
/// dates lose their fraction of a second. A carriage return is written as a reference, since XML readers
/// treat a plain one as a line end.
///
/// `PropertyListSerialization` takes 16 times as long for 10,000 keys: `Scripts/benchmark formats --cpu`.
struct XMLPropertyListWriter: ~Copyable {
  private var output: ByteWriter

  static func write(_ list: PropertyList) throws -> Data {
    var writer = XMLPropertyListWriter(output: ByteWriter(capacity: 1024))
    writer.line(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" \
      "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <plist version="1.0">
      """, depth: 0)
    try writer.add(list, depth: 0)
    writer.line("</plist>", depth: 0)
    return writer.output.data()
  }

  private mutating func add(_ list: PropertyList, depth: Int) throws {
    switch list {
    case .bool(let bool): line(bool ? "<true/>" : "<false/>", depth: depth)
    case .integer(let number): line("<integer>\(number)</integer>", depth: depth)
    case .unsignedInteger(let number): line("<integer>\(number)</integer>", depth: depth)
    case .float(let number): line("<real>\(Self.text(Double(number)))</real>", depth: depth)
    case .double(let number): line("<real>\(Self.text(number))</real>", depth: depth)
    case .date(let date):
      guard let text = PropertyListDate.text(date) else {
        throw PropertyListError.unsupported(
          "A date is too far away for XML; write a binary property list.", at: nil)
      }
      line("<date>\(text)</date>", depth: depth)
    case .data(let data): add(data, depth: depth)
    case .string(let text): try line("string", text, depth: depth)
    case .array(let elements):
      guard depth < PropertyList.maximumDepth else { throw PropertyListError.tooDeep() }
      guard !elements.isEmpty else { return line("<array/>", depth: depth) }
      line("<array>", depth: depth)
      for element in elements { try add(element, depth: depth + 1) }
      line("</array>", depth: depth)
    case .dictionary(let fields):
      guard depth < PropertyList.maximumDepth else { throw PropertyListError.tooDeep() }
      guard !fields.isEmpty else { return line("<dict/>", depth: depth) }
      line("<dict>", depth: depth)
      for field in fields {
        try line("key", field.key, depth: depth + 1)
        try add(field.value, depth: depth + 1)
      }
      line("</dict>", depth: depth)
    }
  }

  private static func text(_ number: Double) -> String {
    if number.isNaN { return "nan" }
    if number.isInfinite { return number < 0 ? "-infinity" : "+infinity" }
    return number.description
  }

  /// The characters in a line of Base64, counting each leading tab as 8.
  private static let dataLineLength = 76
  private static let tabLimit = 8

  private mutating func add(_ data: Data, depth: Int) {
    line("<data>", depth: depth)
    let indent = min(depth, Self.tabLimit)
    let length = max(16, Self.dataLineLength - indent * 8) / 4 * 4
    let digits = data.base64EncodedData()
    var rest = digits[...]
    while !rest.isEmpty {
      for _ in 0..<indent { output.append(UInt8(ascii: "\t")) }
      rest.prefix(length).withUnsafeBytes { output.append($0) }
      output.append(UInt8(ascii: "\n"))
      rest = rest.dropFirst(length)
    }
    line("</data>", depth: depth)
  }

  private mutating func line(_ text: String, depth: Int) {
    for _ in 0..<depth { output.append(UInt8(ascii: "\t")) }
    for byte in text.utf8 { output.append(byte) }
    output.append(UInt8(ascii: "\n"))
  }

  private mutating func line(_ name: String, _ text: String, depth: Int) throws {
    var escaped: [UInt8] = []
    escaped.reserveCapacity(text.utf8.count)
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "&"): escaped += "&amp;".utf8
      case UInt8(ascii: "<"): escaped += "&lt;".utf8
      case UInt8(ascii: ">"): escaped += "&gt;".utf8
      case UInt8(ascii: "\r"): escaped += "&#13;".utf8
      case UInt8(ascii: "\t"), UInt8(ascii: "\n"), 0x20...: escaped.append(byte)
      default:
        throw PropertyListError.unsupported(
          "A string has a control character, which XML cannot hold; write a binary property list.",
          at: nil)
      }
    }
    line("<\(name)>\(String(decoding: escaped, as: UTF8.self))</\(name)>", depth: depth)
  }
}
