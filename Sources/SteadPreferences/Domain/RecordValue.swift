import Foundation
import SteadFormats

/// The bytes of a value in a journal's record: compact, and self-delimiting.
///
/// A tag determines the form; the rest is little endian. A new form gets a new tag, so that bytes
/// once written keep their meaning. A count is written seven bits a byte, lowest first, each byte
/// but the last with its high bit set.
///
/// | tag         | value                     | what follows                                       |
/// | ----------- | ------------------------- | -------------------------------------------------- |
/// | `00`, `01`  | false, true               | nothing                                            |
/// | `10` ... `13` | whole number with a sign | 1, 2, 4 or 8 bytes, as few as hold it             |
/// | `14`        | whole number above 2^63 - 1 | 8 bytes                                          |
/// | `20`        | `Float`                   | 4 bytes                                            |
/// | `21`        | `Double`                  | 8 bytes                                            |
/// | `30`        | date                      | 8 bytes: a `Double`, seconds since 2001-01-01 UTC  |
/// | `40`        | data                      | count, bytes                                       |
/// | `50`        | text                      | count of bytes, UTF-8                              |
/// | `60`        | array                     | count, each value                                  |
/// | `70`        | dictionary                | count; for each: count of bytes, key, value        |
enum RecordValue {
  /// The first byte of a value.
  enum Tag {
    static let no: UInt8 = 0x00
    static let yes: UInt8 = 0x01
    static let integer8: UInt8 = 0x10
    static let integer16: UInt8 = 0x11
    static let integer32: UInt8 = 0x12
    static let integer64: UInt8 = 0x13
    static let unsignedInteger: UInt8 = 0x14
    static let float: UInt8 = 0x20
    static let double: UInt8 = 0x21
    static let date: UInt8 = 0x30
    static let data: UInt8 = 0x40
    static let text: UInt8 = 0x50
    static let array: UInt8 = 0x60
    static let dictionary: UInt8 = 0x70
  }

  // MARK: - Measuring

  /// The number of bytes that ``encode(_:into:)`` writes for a value.
  ///
  /// Throws when arrays and dictionaries are nested deeper than ``maximumDepth``.
  @inline(__always)
  static func byteCount(of value: PropertyList) throws(PropertyListError) -> Int {
    switch value {
    case .bool: 1
    case .integer(let number): 1 + size(of: number)
    case .unsignedInteger, .double, .date: 9
    case .float: 5
    case .data(let data): 1 + size(ofCount: data.count) + data.count
    case .string(let text): 1 + byteCount(of: text)
    case .array, .dictionary: try containerByteCount(of: value, depth: 0)
    }
  }

  /// The maximum nesting depth of a value that is written. The property list's own dictionary is
  /// one level more.
  static let maximumDepth = PropertyList.maximumDepth - 1

  private static var tooDeep: PropertyListError {
    PropertyListError(
      code: .tooDeep,
      message:
        "Arrays and dictionaries of a value are nested deeper than \(maximumDepth); flatten them.")
  }

  /// As ``byteCount(of:)``, for values in arrays and dictionaries, with the depth checked.
  private static func containerByteCount(
    of value: PropertyList, depth: Int
  ) throws(PropertyListError) -> Int {
    switch value {
    case .array(let elements):
      guard depth < maximumDepth else { throw tooDeep }
      var count = 1 + size(ofCount: elements.count)
      for element in elements { count += try containerByteCount(of: element, depth: depth + 1) }
      return count
    case .dictionary(let fields):
      guard depth < maximumDepth else { throw tooDeep }
      var count = 1 + size(ofCount: fields.count)
      for field in fields {
        count += byteCount(of: field.key)
        count += try containerByteCount(of: field.value, depth: depth + 1)
      }
      return count
    default: return try byteCount(of: value)
    }
  }

  @inline(__always)
  private static func byteCount(of text: String) -> Int {
    let count = text.utf8.count
    return size(ofCount: count) + count
  }

  /// The fewest of 1, 2, 4 or 8 bytes that hold a number.
  @inline(__always)
  fileprivate static func size(of number: Int64) -> Int {
    if number == Int64(Int8(truncatingIfNeeded: number)) { return 1 }
    if number == Int64(Int16(truncatingIfNeeded: number)) { return 2 }
    return number == Int64(Int32(truncatingIfNeeded: number)) ? 4 : 8
  }

  @inline(__always)
  fileprivate static func size(ofCount count: Int) -> Int {
    // Groups of seven bits, rounded up.
    count < 0x80 ? 1 : (Int.bitWidth - count.leadingZeroBitCount + 6) / 7
  }

  // MARK: - Encoding and decoding

  /// Writes a value to the start of `space`, and returns its size in bytes.
  ///
  /// `space` must have room for ``byteCount(of:)``. Allocates nothing.
  @inline(__always)
  static func encode(_ value: PropertyList, into space: UnsafeMutableRawBufferPointer) -> Int {
    var writer = Writer(space: space)
    switch value {
    // The most common kinds are inlined into the caller.
    case .bool(let bool): writer.append(bool ? Tag.yes : Tag.no)
    case .integer(let number): writer.append(number)
    case .double(let number): writer.append(Tag.double, number.bitPattern)
    default: writer.append(value)
    }
    return writer.count
  }

  /// Decodes the value at the start of `bytes`, and returns its size, too.
  ///
  /// Every count is checked against the available bytes. Throws for an unknown tag, for bytes that
  /// end early, for a string that isn't UTF-8 and for deep nesting; never reads beyond `bytes`.
  @inline(__always)
  static func decode(
    _ bytes: UnsafeRawBufferPointer
  ) throws(PropertyListError) -> (value: PropertyList, byteCount: Int) {
    var reader = Reader(bytes: bytes)
    let value = try reader.value(depth: 0)
    return (value, reader.offset)
  }
}

extension RecordValue {
  // MARK: - Writing

  /// Writes values one behind the other. Does not check for space: the caller has measured.
  private struct Writer {
    let space: UnsafeMutableRawBufferPointer
    var count = 0

    @inline(__always)
    mutating func append(_ byte: UInt8) {
      space.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
      count += 1
    }

    @inline(__always)
    mutating func append<Number: FixedWidthInteger>(_ tag: UInt8, _ number: Number) {
      append(tag)
      space.storeBytes(of: number.littleEndian, toByteOffset: count, as: Number.self)
      count += MemoryLayout<Number>.size
    }

    @inline(__always)
    mutating func append(_ number: Int64) {
      switch RecordValue.size(of: number) {
      case 1: append(Tag.integer8, Int8(truncatingIfNeeded: number))
      case 2: append(Tag.integer16, Int16(truncatingIfNeeded: number))
      case 4: append(Tag.integer32, Int32(truncatingIfNeeded: number))
      default: append(Tag.integer64, number)
      }
    }

    mutating func append(count number: Int) {
      var rest = UInt(number)
      while rest >= 0x80 {
        append(UInt8(truncatingIfNeeded: rest) | 0x80)
        rest >>= 7
      }
      append(UInt8(truncatingIfNeeded: rest))
    }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
      UnsafeMutableRawBufferPointer(rebasing: space[count...]).copyMemory(from: bytes)
      count += bytes.count
    }

    mutating func append(text: String) {
      var text = text
      text.withUTF8 { bytes in
        append(count: bytes.count)
        append(UnsafeRawBufferPointer(bytes))
      }
    }

    /// Not inlined, since it is recursive; ``RecordValue/encode(_:into:)`` handles the most common
    /// kinds itself.
    @inline(never)
    mutating func append(_ value: PropertyList) {
      switch value {
      case .bool(let bool): append(bool ? Tag.yes : Tag.no)
      case .integer(let number): append(number)
      case .unsignedInteger(let number): append(Tag.unsignedInteger, number)
      case .float(let number): append(Tag.float, number.bitPattern)
      case .double(let number): append(Tag.double, number.bitPattern)
      case .date(let date):
        append(Tag.date, date.timeIntervalSinceReferenceDate.bitPattern)
      case .data(let data):
        append(Tag.data)
        append(count: data.count)
        data.withUnsafeBytes { append($0) }
      case .string(let text):
        append(Tag.text)
        append(text: text)
      case .array(let elements):
        append(Tag.array)
        append(count: elements.count)
        for element in elements { append(element) }
      case .dictionary(let fields):
        append(Tag.dictionary)
        append(count: fields.count)
        for field in fields {
          append(text: field.key)
          append(field.value)
        }
      }
    }
  }

  // MARK: - Reading

  /// Reads values one behind the other. Trusts nothing: each count is compared with the bytes that
  /// are left.
  private struct Reader {
    let bytes: UnsafeRawBufferPointer
    var offset = 0

    @inline(__always)
    private var rest: Int { bytes.count - offset }

    private func damaged(_ fault: String) -> PropertyListError {
      PropertyListError(
        code: .damaged,
        message:
          "A record of the preferences is damaged: \(fault). Restore them from a backup if a value is missing.",
        offset: offset)
    }

    @inline(__always)
    private mutating func number<Number: FixedWidthInteger>(
      _: Number.Type
    ) throws(PropertyListError) -> Number {
      guard rest >= MemoryLayout<Number>.size else { throw damaged("a value ends early") }
      let number = bytes.loadUnaligned(fromByteOffset: offset, as: Number.self)
      offset += MemoryLayout<Number>.size
      return Number(littleEndian: number)
    }

    /// A count of items that take at least `size` bytes each.
    private mutating func count(of size: Int) throws(PropertyListError) -> Int {
      var (count, shift) = (UInt64(0), UInt64(0))
      while true {
        let byte = try number(UInt8.self)
        count |= UInt64(byte & 0x7F) << shift
        if byte & 0x80 == 0 { break }
        shift += 7
        // Nine groups have 63 bits, so every accepted count fits into an `Int`.
        guard shift < 63 else { throw damaged("a count has too many bytes") }
      }
      // By the least size of an item, so that a forged count cannot exceed what is there.
      guard count <= UInt64(rest / size) else { throw damaged("a value ends early") }
      return Int(count)
    }

    /// A count, and as many bytes.
    private mutating func slice() throws(PropertyListError) -> UnsafeRawBufferPointer {
      let count = try count(of: 1)
      defer { offset += count }
      return UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + count)])
    }

    private mutating func text() throws(PropertyListError) -> String {
      let text = try slice()
      // ASCII needs no validation, which is the slower part.
      if text.isASCII { return String(decoding: text, as: UTF8.self) }
      guard let string = String(validating: text, as: UTF8.self) else {
        throw damaged("a string isn't UTF-8")
      }
      return string
    }

    mutating func value(depth: Int) throws(PropertyListError) -> PropertyList {
      switch try number(UInt8.self) {
      case Tag.no: return .bool(false)
      case Tag.yes: return .bool(true)
      case Tag.integer8: return .integer(Int64(try number(Int8.self)))
      case Tag.integer16: return .integer(Int64(try number(Int16.self)))
      case Tag.integer32: return .integer(Int64(try number(Int32.self)))
      case Tag.integer64: return .integer(try number(Int64.self))
      // Each number has one form: another program may have given this tag to one that fits `Int64`.
      case Tag.unsignedInteger: return PropertyList(try number(UInt64.self))
      case Tag.float: return .float(Float(bitPattern: try number(UInt32.self)))
      case Tag.double: return .double(Double(bitPattern: try number(UInt64.self)))
      case Tag.date:
        let seconds = Double(bitPattern: try number(UInt64.self))
        return .date(Date(timeIntervalSinceReferenceDate: seconds))
      case Tag.data: return .data(Data(try slice()))
      case Tag.text: return .string(try text())
      case Tag.array: return .array(try elements(depth: depth))
      case Tag.dictionary: return .dictionary(try fields(depth: depth))
      default:
        throw .unsupported(
          "A record of the preferences has a form that this version does not know; update the program.",
          at: offset - 1)
      }
    }

    private mutating func elements(depth: Int) throws(PropertyListError) -> [PropertyList] {
      guard depth < PropertyList.maximumDepth else { throw .tooDeep(at: offset) }
      let count = try count(of: 1)
      var elements: [PropertyList] = []
      elements.reserveCapacity(min(count, Self.reservedCount))
      for _ in 0..<count { elements.append(try value(depth: depth + 1)) }
      return elements
    }

    private mutating func fields(depth: Int) throws(PropertyListError) -> PropertyList.Fields {
      guard depth < PropertyList.maximumDepth else { throw .tooDeep(at: offset) }
      let count = try count(of: 2)
      var fields: [PropertyList.Fields.Field] = []
      fields.reserveCapacity(min(count, Self.reservedCount))
      for _ in 0..<count {
        let key = try text()
        fields.append(.init(key, try value(depth: depth + 1)))
      }
      return PropertyList.Fields(fields)
    }

    /// For how many elements memory is reserved before the first is read. A forged count must not
    /// reserve gigabytes.
    private static let reservedCount = 4096
  }
}
