import SteadEncoding

/// Takes the parts of a value one after the other, so that what describes a record serves for its bytes and for its
/// ``SyncValue``.
///
/// Members are written in the order of their names' UTF-8: ``JSONWriter`` does not sort them.
protocol ValueWriter {
  /// Writes a whole value.
  mutating func write(_ value: SyncValue)
  /// Writes a string, as an element or as the value of a member.
  mutating func write(text: String)
  /// Writes an object, whose members `body` writes: ``name(_:)``, and then a value.
  mutating func writeObject(_ body: (inout Self) -> Void)
  /// Writes a member's name.
  mutating func name(_ name: String)
  /// Writes an array, whose elements `body` writes.
  mutating func writeArray(_ body: (inout Self) -> Void)
}

extension ValueWriter {
  /// Writes an array, each element by a body.
  mutating func writeArray<Element>(
    _ elements: [Element], _ body: (inout Self, Element) -> Void
  ) {
    writeArray { writer in
      for element in elements { body(&writer, element) }
    }
  }
}

/// Makes a ``SyncValue`` of what is written.
struct ValueBuilder: ValueWriter {
  /// The values written outside of objects.
  private(set) var elements: [SyncValue] = []
  private var members: [String: SyncValue] = [:]
  private var memberName: String?

  /// The value that a body writes.
  static func value(_ body: (inout ValueBuilder) -> Void) -> SyncValue {
    var builder = ValueBuilder()
    body(&builder)
    return builder.elements.first ?? .null
  }

  mutating func write(_ value: SyncValue) {
    if let name = memberName {
      members[name] = value
      memberName = nil
    } else {
      elements.append(value)
    }
  }

  mutating func write(text: String) { write(.string(text)) }

  mutating func name(_ name: String) { memberName = name }

  mutating func writeObject(_ body: (inout ValueBuilder) -> Void) {
    var object = ValueBuilder()
    body(&object)
    write(.object(object.members))
  }

  mutating func writeArray(_ body: (inout ValueBuilder) -> Void) {
    var array = ValueBuilder()
    body(&array)
    write(.array(array.elements))
  }
}

// MARK: - Bytes

/// Writes compact JSON: no spaces, members in the order of their names' UTF-8, so that equal values have equal
/// bytes. Costs time in proportion to the value's size.
///
/// The table in "JSON" in Documentation/SyncProtocol.md has the spelling of each kind of value.
struct JSONWriter: ValueWriter {
  /// The JSON so far.
  private(set) var bytes: [UInt8] = []
  /// Which characters of strings are escaped.
  var escapes = JSONText.Escapes.numbers

  /// The JSON of a value.
  static func bytes(_ value: SyncValue) -> [UInt8] {
    var writer = JSONWriter()
    writer.write(value)
    return writer.bytes
  }

  /// The JSON of a value as a string; in ASCII alone if asked.
  static func text(_ value: SyncValue, escapesUnicode: Bool = false) -> String {
    var writer = JSONWriter()
    if escapesUnicode { writer.escapes = .ascii }
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
    JSONText.append(text, to: &bytes, escapes)
  }

  /// Writes a value whose JSON exists already, as it is. The caller has checked that it is one value.
  mutating func write(encoded value: [UInt8]) {
    separate()
    bytes.append(contentsOf: value)
  }

  mutating func writeObject(_ body: (inout JSONWriter) -> Void) {
    separate()
    bytes.append(UInt8(ascii: "{"))
    body(&self)
    bytes.append(UInt8(ascii: "}"))
  }

  mutating func name(_ name: String) {
    separate()
    JSONText.append(name, to: &bytes, escapes)
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

  /// Writes a number or a word as it is.
  private mutating func raw(_ text: String) {
    separate()
    bytes.append(contentsOf: text.utf8)
  }
}
