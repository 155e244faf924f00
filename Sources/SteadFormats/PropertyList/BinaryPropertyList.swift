import Foundation

/// Apple's binary property list format, `bplist00`.
///
/// All integers are big endian.
///
/// | place            | meaning                                                              |
/// | ---------------- | -------------------------------------------------------------------- |
/// | first 8 bytes    | `bplist00`                                                           |
/// | then             | the objects: a byte of kind (high half) and size (low half), bytes   |
/// | then             | the offset of each object                                            |
/// | last 32 bytes    | 6 unused, size of an offset, size of a reference, 8 bytes each: the  |
/// |                  | number of objects, the root's, where the offsets begin               |
///
/// Objects refer to each other by number. Equal scalars are written once. A low half of 15 means that the
/// size follows as an integer object.
///
/// A reference of a keyed archive (a UID) is a dictionary with the single key `CF$UID`, as in Apple's XML; it
/// is read and written as such.
///
/// `PropertyListSerialization` takes 17 times as long to read 10,000 keys and 48 times to write them:
/// `Scripts/benchmark formats --cpu`. Off Apple some damaged files crash it.
package enum BinaryPropertyList {
  static let magic = "bplist00"
  static let trailerSize = 32
  static let referenceKey = "CF$UID"

  /// The high half of an object's first byte.
  enum Kind {
    static let simple: UInt8 = 0x0
    static let integer: UInt8 = 0x1
    static let real: UInt8 = 0x2
    static let date: UInt8 = 0x3
    static let data: UInt8 = 0x4
    static let ascii: UInt8 = 0x5
    static let utf16: UInt8 = 0x6
    static let reference: UInt8 = 0x8
    static let array: UInt8 = 0xA
    static let dictionary: UInt8 = 0xD
  }

  /// The maximum size of a file's contents in memory: 64 MiB plus 32 times the file's size. It counts 16
  /// bytes a value and the bytes of each string and datum, twice where it is shared.
  ///
  /// A file without shared containers stays below: a reference of one byte represents 16 bytes and a short
  /// string of 15. So everything that this encoder writes, which shares no container, can be read. A file of
  /// a few hundred bytes with shared containers can represent more values than any memory holds.
  static func expansionLimit(fileSize: Int) -> Int { (64 << 20) + 32 * fileSize }
  static let valueCost = 16

  /// Encodes a property list.
  ///
  /// Cost: about 0.1 us a value; `Data` is copied once. Throws when it is nested too deep.
  package static func encode(_ value: PropertyList) throws -> Data {
    var size = BinaryPropertyListSize()
    try size.add(value, depth: 0)
    return try BinaryPropertyListEncoder.encode(size) { encoder in
      _ = try encoder.add(value, depth: 0)
    }
  }

  /// Encodes a dictionary with its keys in the given order; no key may occur twice.
  package static func encode(_ fields: [PropertyList.Fields.Field]) throws -> Data {
    var size = BinaryPropertyListSize()
    try size.add(fields, depth: 0)
    return try BinaryPropertyListEncoder.encode(size) { encoder in
      _ = try encoder.add(fields, depth: 0)
    }
  }

  /// Encodes a dictionary.
  package static func encode(_ fields: PropertyList.Fields) throws -> Data {
    try encode(fields.fields)
  }

  /// Decodes the property list in `data`.
  package static func decode(_ data: Data) throws -> PropertyList {
    try data.withUnsafeBytes { bytes in
      var decoder = try BinaryPropertyListDecoder(bytes)
      return try decoder.root()
    }
  }

  /// Calls `visit` for each key and value of the dictionary in `bytes`, in their order in the file.
  ///
  /// A key that occurs twice in the file is visited twice. Cost: about 0.1 us a key. Throws what `visit`
  /// throws, and a ``PropertyListError`` for bytes that aren't a dictionary; some keys may have been visited
  /// by then.
  package static func decode(
    _ bytes: UnsafeRawBufferPointer, _ visit: (String, PropertyList) throws -> Void
  ) throws {
    var decoder = try BinaryPropertyListDecoder(bytes)
    try decoder.visitRoot(visit)
  }

  /// The number of a keyed archive's reference, if the dictionary represents one.
  static func reference(_ fields: PropertyList.Fields) -> UInt32? {
    guard fields.count == 1, fields[0].key == referenceKey,
      case .integer(let number) = fields[0].value
    else { return nil }
    return UInt32(exactly: number)
  }
}
