import Foundation

/// Apple's binary property list format, `bplist00`.
///
/// All integers are big endian.
///
/// | offset           | contents                                                             |
/// | ---------------- | -------------------------------------------------------------------- |
/// | 0                | `bplist00`                                                           |
/// | 8                | the objects: a byte of kind (high half) and size (low half), bytes   |
/// | then             | the offset table: the offset of each object                          |
/// | last 32 bytes    | the trailer: 6 unused bytes, size of an offset, size of a reference, |
/// |                  | then 8 bytes each: number of objects, root object, offset of the table |
///
/// Objects refer to each other by number, their index in the offset table. Equal scalars are
/// written once. A low half of 15 means that the size follows as an integer object.
///
/// | kind | object | low half |
/// | ---- | ------ | -------- |
/// | `0`  | false, true | 8, 9 |
/// | `1`  | integer | log2 of the number of bytes; only 8 and 16 bytes are signed |
/// | `2`  | real number | 2 or 3, for 4 or 8 bytes |
/// | `3`  | date, 8 bytes: seconds since 2001 | 3 |
/// | `4`, `5`, `6` | data; ASCII; UTF-16 | number of bytes or code units |
/// | `8`  | reference of a keyed archive (UID) | number of bytes, less one |
/// | `A`, `D` | array; dictionary, all keys before all values | number of elements or fields |
///
/// A UID is read and written as a dictionary with the single key `CF$UID`, as in Apple's XML.
///
/// `PropertyListSerialization` takes 17 times as long to read 10,000 keys and 48 times to write
/// them: `Scripts/benchmark formats --cpu`. Off Apple some damaged files crash it.
package enum BinaryPropertyList {
  /// Format and version, the first 8 bytes.
  static let magic = "bplist00"
  /// The size of the trailer, in bytes.
  static let trailerSize = 32
  /// The key that represents a UID.
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

  /// The budget for decoding a file, in bytes of memory: 64 MiB plus 32 times the file's size.
  ///
  /// It bounds a decompression bomb: shared containers let a file of a few hundred bytes represent
  /// more values than any memory holds. Each value costs ``valueCost``, and a string or datum its
  /// bytes, twice if it is shared.
  ///
  /// A file without shared containers stays below. At worst a reference of one byte stands for a
  /// value of 16 bytes and a short string of 15. So everything that this package's encoder writes,
  /// which shares no container, can be read again.
  static func expansionLimit(fileSize: Int) -> Int { (64 << 20) + 32 * fileSize }
  /// What decoding a value charges to the budget besides its bytes.
  static let valueCost = 16

  /// Encodes a property list.
  ///
  /// Costs about 0.1 µs a value; `Data` is copied once.
  ///
  /// - Throws: ``PropertyListError``: ``PropertyListError/Code/tooDeep``, or
  ///   ``PropertyListError/Code/tooLarge`` from 2^31 objects on.
  package static func encode(_ value: PropertyList) throws -> Data {
    var size = BinaryPropertyListSize()
    try size.add(value, depth: 0)
    return try BinaryPropertyListEncoder.encode(size) { encoder in
      _ = try encoder.add(value, depth: 0)
    }
  }

  /// Encodes a dictionary with its keys in the given order.
  ///
  /// - Precondition: No key occurs twice; it would be written twice.
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

  /// Decodes a property list.
  ///
  /// - Throws: ``PropertyListError`` for any damage; nothing is read outside of `data`.
  package static func decode(_ data: Data) throws -> PropertyList {
    try data.withUnsafeBytes { bytes in
      var decoder = try BinaryPropertyListDecoder(bytes)
      return try decoder.root()
    }
  }

  /// Calls `visit` for each key and value of the dictionary in `bytes`, in their order in the file.
  ///
  /// A key that occurs twice in the file is visited twice. Costs about 0.1 µs a key.
  ///
  /// - Throws: What `visit` throws, and ``PropertyListError`` for bytes that aren't a dictionary. Some
  ///   keys may have been visited by then.
  package static func decode(
    _ bytes: UnsafeRawBufferPointer, _ visit: (String, PropertyList) throws -> Void
  ) throws {
    var decoder = try BinaryPropertyListDecoder(bytes)
    try decoder.visitRoot(visit)
  }

  /// The number of a UID, if the dictionary represents one.
  static func reference(_ fields: PropertyList.Fields) -> UInt32? {
    // A dictionary that only looks like a UID becomes one when it is written. Apple's XML has the
    // same ambiguity.
    guard fields.count == 1, fields[0].key == referenceKey,
      case .integer(let number) = fields[0].value
    else { return nil }
    return UInt32(exactly: number)
  }
}
