/// Writes compact JSON: no spaces, members in the order of their names' UTF-8, so that equal values have equal
/// bytes. Costs time in proportion to the value's size.
struct JSONWriter: ValueWriter {
  private(set) var bytes: [UInt8] = []
  /// Whether characters beyond ASCII are escaped.
  var escapesUnicode = false

  static func bytes(_ value: SyncValue) -> [UInt8] {
    var writer = JSONWriter()
    writer.write(value)
    return writer.bytes
  }

  static func text(_ value: SyncValue, escapesUnicode: Bool = false) -> String {
    var writer = JSONWriter()
    writer.escapesUnicode = escapesUnicode
    writer.write(value)
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  mutating func write(_ value: SyncValue) {
    switch value {
    case .null: raw("null")
    case .bool(let flag): raw(flag ? "true" : "false")
    case .int(let number): raw(String(number))
    // One zero, so that equal values have equal bytes.
    case .double(0): raw("0.0")
    // The shortest decimal that is the same number again; always with a point or an exponent.
    case .double(let number): raw(number.isFinite ? number.description : "null")
    case .string(let text): write(text: text)
    case .array(let values): writeArray(values) { $0.write($1) }
    case .object(let members):
      writeObject { writer in
        for index in SyncValue.order(of: members) {
          writer.name(members.keys[index])
          writer.write(members.values[index])
        }
      }
    }
  }

  mutating func write(text: String) {
    separate()
    quote(text)
  }

  mutating func writeObject(_ body: (inout JSONWriter) -> Void) {
    separate()
    bytes.append(UInt8(ascii: "{"))
    body(&self)
    bytes.append(UInt8(ascii: "}"))
  }

  mutating func name(_ name: String) {
    separate()
    quote(name)
    bytes.append(UInt8(ascii: ":"))
  }

  mutating func writeArray(_ body: (inout JSONWriter) -> Void) {
    separate()
    bytes.append(UInt8(ascii: "["))
    body(&self)
    bytes.append(UInt8(ascii: "]"))
  }

  /// Makes room for so many bytes.
  mutating func reserveCapacity(_ count: Int) { bytes.reserveCapacity(count) }

  /// Writes the comma before a member or an element that isn't the first one.
  private mutating func separate() {
    switch bytes.last {
    // No value ends with one of these: a string ends with its quotation mark.
    case nil, UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: ":"): break
    default: bytes.append(UInt8(ascii: ","))
    }
  }

  private mutating func raw(_ text: String) {
    separate()
    bytes.append(contentsOf: text.utf8)
  }

  private mutating func quote(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    if escapesUnicode {
      for unit in text.utf16 {
        if unit < 0x80 { write(ascii: UInt8(unit)) } else { escape(unit) }
      }
    } else {
      // A copy of the reference, which makes no string.
      var text = text
      text.withUTF8 { buffer in
        if buffer.contains(where: Self.isEscaped) {
          for byte in buffer { write(ascii: byte) }
        } else {
          bytes.append(contentsOf: buffer)
        }
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private static func isEscaped(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  private mutating func write(ascii byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
    case 0..<0x20: escape(UInt16(byte))
    default: bytes.append(byte)
    }
  }

  private mutating func escape(_ unit: UInt16) {
    let digits = Array("0123456789abcdef".utf8)
    bytes += [UInt8(ascii: "\\"), UInt8(ascii: "u")]
    for shift in [12, 8, 4, 0] { bytes.append(digits[Int(unit >> shift) & 15]) }
  }
}
