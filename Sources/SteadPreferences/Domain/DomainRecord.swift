import Foundation

/// The operations in a journal record of preferences; Documentation/PreferencesFile.md draws them.
///
/// A record contains one operation, or several that count as one write.
enum DomainRecord {
  private static let setsValue: UInt8 = 1
  private static let removesKey: UInt8 = 2

  /// The size of an operation in bytes.
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

  /// Data of at least this many bytes goes into the journal directly from where it is.
  static let longByteCount = 128 << 10

  /// The beginning of an operation that sets data, up to the data's own bytes.
  static func head(_ key: String, dataByteCount: Int) -> [UInt8] {
    var head = [setsValue]
    Varint.append(key.utf8.count, to: &head)
    head += key.utf8
    head.append(RecordValue.Tag.data)
    Varint.append(dataByteCount, to: &head)
    return head
  }

  /// Calls `visit` with each operation of a record.
  ///
  /// - Throws: `PropertyListError` when the bytes are not operations.
  static func decode(
    _ record: UnsafeRawBufferPointer, _ visit: (String, PropertyList?) throws -> Void
  ) throws {
    var offset = 0
    while offset < record.count {
      let operation = record[offset]
      let (keyCount, width) = try Varint.decode(
        UnsafeRawBufferPointer(rebasing: record[(offset + 1)...]))
      let start = offset + 1 + width
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
