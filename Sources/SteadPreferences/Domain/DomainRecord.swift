import Foundation
import SteadFormats

/// A key's new value; nil removes the key.
package struct DomainEdit: Sendable, Hashable {
  package var key: String
  package var value: PropertyList?

  package init(key: String, value: PropertyList?) {
    self.key = key
    self.value = value
  }
}

/// A dictionary key that compares strings by their UTF-8, as domains compare keys.
///
/// Two strings that are equal to Swift, since they differ only in normalization, can be two keys.
struct ExactKey: Hashable, Sendable {
  /// The key.
  let text: String

  init(_ text: String) { self.text = text }

  static func == (left: ExactKey, right: ExactKey) -> Bool { left.text.isSameText(as: right.text) }

  func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { bytes in hasher.combine(bytes: UnsafeRawBufferPointer(bytes)) }
  }
}

extension DomainTable {
  /// The edits that turn the contents into `fields`: removals first, then new and changed values.
  func edits(to fields: PropertyList.Fields) -> [DomainEdit] {
    let gone = self.fields().filter { fields[$0.key] == nil }
    let new = fields.filter { self[$0.key] != $0.value }
    return gone.map { DomainEdit(key: $0.key, value: nil) }
      + new.map { DomainEdit(key: $0.key, value: $0.value) }
  }
}

/// The encoding of a journal's record: one operation, or several that count as one write.
///
/// | byte | operation |
/// |---|---|
/// | `01` | sets a key: length of the key (``Varint``), its UTF-8, the value (``RecordValue``) |
/// | `02` | removes a key: length of the key, its UTF-8 |
///
/// Any other first byte is refused: a newer version may have written it.
enum DomainRecord {
  private static let setsValue: UInt8 = 1
  private static let removesKey: UInt8 = 2

  /// The size of an operation in bytes.
  ///
  /// - Throws: `PropertyListError` `.tooDeep` for a value that no property list could hold.
  @inline(__always)
  static func byteCount(_ key: String, _ value: PropertyList?) throws(PropertyListError) -> Int {
    let keyCount = key.utf8.count
    let count = 1 + Varint.byteCount(keyCount) + keyCount
    guard let value else { return count }
    return count + (try RecordValue.byteCount(of: value))
  }

  /// Writes an operation into sufficient space, and returns its size in bytes.
  @inline(__always)
  static func encode(
    _ key: String, _ value: PropertyList?, into buffer: UnsafeMutableRawBufferPointer
  ) -> Int {
    buffer[0] = value == nil ? removesKey : setsValue
    var key = key
    var offset = 1
    key.withUTF8 { bytes in
      offset += Varint.encode(bytes.count, into: buffer, at: offset)
      UnsafeMutableRawBufferPointer(rebasing: buffer[offset...]).copyMemory(
        from: UnsafeRawBufferPointer(bytes))
      offset += bytes.count
    }
    if let value {
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[offset...])
      offset += RecordValue.encode(value, into: rest)
    }
    return offset
  }

  /// The size of several operations that are one record.
  static func byteCount(_ edits: [DomainEdit]) throws(PropertyListError) -> Int {
    var count = 0
    for edit in edits { count += try byteCount(edit.key, edit.value) }
    return count
  }

  /// Writes several operations one behind the other into sufficient space.
  static func encode(_ edits: [DomainEdit], into buffer: UnsafeMutableRawBufferPointer) {
    var offset = 0
    for edit in edits {
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[offset...])
      offset += encode(edit.key, edit.value, into: rest)
    }
  }

  /// Data of at least this many bytes is appended to the journal from where it is, without a copy.
  static let longByteCount = 128 << 10

  /// The beginning of an operation that sets data, up to the data's bytes.
  static func head(_ key: String, dataByteCount: Int) -> [UInt8] {
    // The same bytes that `encode` writes: readers don't see which way a record was written.
    var head = [setsValue]
    Varint.append(key.utf8.count, to: &head)
    head += key.utf8
    head.append(RecordValue.Tag.data)
    Varint.append(dataByteCount, to: &head)
    return head
  }

  /// Calls `visit` with each operation of a record, in order.
  ///
  /// The journal's checksum protects records from disks, not from programs: every length is checked
  /// against the bytes that are left, and nothing beyond them is read.
  ///
  /// - Throws: `PropertyListError` or ``PreferencesError`` `.damaged` when the bytes are not
  ///   operations, and what `visit` throws. Operations before that have been visited.
  static func decode(
    _ record: UnsafeRawBufferPointer, _ visit: (String, PropertyList?) throws -> Void
  ) throws {
    var offset = 0
    while offset < record.count {
      let operation = record[offset]
      let (keyCount, width) = try Varint.decode(
        UnsafeRawBufferPointer(rebasing: record[(offset + 1)...]))
      let start = offset + 1 + width
      // Compared without adding, which could overflow for a forged length.
      guard keyCount >= 0, keyCount <= record.count - start else { throw DomainRecord.damaged }
      offset = start + keyCount
      let key = String(
        decoding: UnsafeRawBufferPointer(rebasing: record[start..<offset]), as: UTF8.self)
      switch operation {
      case setsValue:
        let (value, used) = try RecordValue.decode(
          UnsafeRawBufferPointer(rebasing: record[offset...]))
        guard used <= record.count - offset else { throw DomainRecord.damaged }
        offset += used
        try visit(key, value)
      case removesKey:
        try visit(key, nil)
      default:
        throw DomainRecord.damaged
      }
    }
  }

  private static var damaged: PreferencesError {
    PreferencesError(
      code: .damaged,
      message:
        "The journal contains an unknown record. A newer version may have written it; update.")
  }
}

// MARK: - Counts

/// Whole numbers in groups of seven bits, lowest first, each byte but the last with its high bit
/// set (LEB128).
enum Varint {
  @inline(__always)
  /// The number of bytes that ``encode(_:into:at:)`` writes. The number must not be negative.
  static func byteCount(_ number: Int) -> Int {
    var (rest, count) = (number >> 7, 1)
    while rest != 0 {
      rest >>= 7
      count += 1
    }
    return count
  }

  @inline(__always)
  static func encode(
    _ number: Int, into buffer: UnsafeMutableRawBufferPointer, at offset: Int
  ) -> Int {
    var (rest, position) = (UInt(number), offset)
    while rest > 127 {
      buffer[position] = UInt8(truncatingIfNeeded: rest) | 128
      rest >>= 7
      position += 1
    }
    buffer[position] = UInt8(rest)
    return position + 1 - offset
  }

  /// Appends a number, which must not be negative.
  static func append(_ number: Int, to bytes: inout [UInt8]) {
    var rest = UInt(number)
    while rest > 127 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 128)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  /// Reads the number that the bytes begin with, and returns how many bytes it takes.
  ///
  /// - Throws: ``PreferencesError`` `.damaged` if it does not end within the bytes, or within 8 of
  ///   them.
  static func decode(_ bytes: UnsafeRawBufferPointer) throws -> (number: Int, width: Int) {
    if let first = bytes.first, first < 128 { return (Int(first), 1) }
    var number = 0
    // 56 bits: more than a record can be long, and never negative.
    for (index, byte) in bytes.prefix(8).enumerated() {
      number |= Int(byte & 127) << (7 * index)
      if byte < 128 { return (number, index + 1) }
    }
    throw PreferencesError(code: .damaged, message: "A record of the journal ends too early.")
  }
}
