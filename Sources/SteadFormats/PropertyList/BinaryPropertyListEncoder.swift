import Foundation

/// Writes the objects of a binary property list, each container before its contents, as Apple's
/// writer does.
///
/// Equal scalars are written once, found by a hash table over the bytes already in the output. So
/// the table needs no copies of values, and equality is equality of bytes. The format is described
/// at ``BinaryPropertyList``.
struct BinaryPropertyListEncoder: ~Copyable {
  /// Scalars of more bytes than this are not searched for among those already written: hashing them
  /// costs more than they save.
  static let uniquingLimit = 1024

  private var output: ByteWriter
  /// The offset of each object, by its number.
  private var offsets: [Int] = []
  /// The size of a reference, in bytes, which the number of objects determines.
  private let referenceSize: Int
  /// An open-addressing hash table of the scalars: the hash's high half, and as the low half the
  /// object's number plus one. 0 is a free slot.
  private var slots: [UInt64]

  /// Allocates the output and a table that is at most two thirds full.
  private init(_ size: BinaryPropertyListSize, referenceSize: Int) {
    self.referenceSize = referenceSize
    output = ByteWriter(capacity: size.bytes)
    offsets.reserveCapacity(size.objects)
    var slotCount = 16
    while slotCount < size.objects + size.objects / 2 { slotCount *= 2 }
    slots = [UInt64](repeating: 0, count: slotCount)
  }

  /// Encodes the file with `write`, which adds the root first.
  ///
  /// The size of references has to be known before the first object is written. If uniquing reduced
  /// the number of objects so much that smaller references suffice, everything is written again
  /// with those; the second pass can't need a third, since its number of objects is the same.
  static func encode(
    _ size: BinaryPropertyListSize, _ write: (inout BinaryPropertyListEncoder) throws -> Void
  ) throws -> Data {
    // Object numbers plus one have to fit into the low half of a slot.
    guard size.objects < UInt32.max / 2 else {
      throw PropertyListError(
        code: .tooLarge, message: "The property list has too many values; split it.")
    }
    // A guess from the number of objects before uniquing, which is never too small.
    var referenceSize = Self.byteCount(of: size.objects)
    while true {
      var encoder = BinaryPropertyListEncoder(size, referenceSize: referenceSize)
      for byte in BinaryPropertyList.magic.utf8 { encoder.output.append(byte) }
      try write(&encoder)
      // By the count, although the greatest number is one less: a size that is too large by one
      // step is still correct.
      let neededSize = Self.byteCount(of: encoder.offsets.count)
      if neededSize == referenceSize { return encoder.finish() }
      referenceSize = neededSize
    }
  }

  /// The smallest of 1, 2, 4 and 8 bytes that can represent a number.
  private static func byteCount(of number: Int) -> Int {
    switch number {
    case ...0xFF: 1
    case ...0xFFFF: 2
    case ...0xFFFF_FFFF: 4
    default: 8
    }
  }

  /// Writes the offset table and the trailer.
  private consuming func finish() -> Data {
    let table = output.count
    let offsetSize = Self.byteCount(of: table)
    output.reserve(offsets.count * offsetSize + BinaryPropertyList.trailerSize)
    output.appendZeros(offsets.count * offsetSize)
    for index in offsets.indices {
      output.set(offsets[index], size: offsetSize, at: table + index * offsetSize)
    }
    // Five unused bytes and the version of the sort order, which is always 0.
    output.appendZeros(6)
    output.append(UInt8(offsetSize))
    output.append(UInt8(referenceSize))
    output.append(bigEndian: UInt64(offsets.count))
    output.append(bigEndian: UInt64(0))
    output.append(bigEndian: UInt64(table))
    return output.data()
  }

  // MARK: - Values

  /// Writes a value, and returns its number.
  mutating func add(_ value: PropertyList, depth: Int) throws -> Int {
    let start = output.count
    switch value {
    case .bool(let bool): output.append(bool ? 0x09 : 0x08)
    case .integer(let number): appendInteger(number)
    // 16 bytes, since 8 are signed.
    case .unsignedInteger(let number):
      output.append(BinaryPropertyList.Kind.integer << 4 | 4)
      output.append(bigEndian: UInt64(0))
      output.append(bigEndian: number)
    case .float(let number):
      output.append(BinaryPropertyList.Kind.real << 4 | 2)
      output.append(bigEndian: number.bitPattern)
    case .double(let number):
      output.append(BinaryPropertyList.Kind.real << 4 | 3)
      output.append(bigEndian: number.bitPattern)
    case .date(let date):
      output.append(BinaryPropertyList.Kind.date << 4 | 3)
      output.append(bigEndian: date.timeIntervalSinceReferenceDate.bitPattern)
    case .data(let data):
      data.withUnsafeBytes { bytes in
        appendHeader(BinaryPropertyList.Kind.data, size: bytes.count)
        output.append(bytes)
      }
    case .string(let text): appendText(text)
    case .array(let elements): return try add(elements, depth: depth)
    case .dictionary(let fields):
      if let number = BinaryPropertyList.reference(fields) {
        appendReference(number)
      } else {
        return try add(fields.fields, depth: depth)
      }
    }
    return endScalar(from: start)
  }

  /// Writes an array, and returns its number.
  private mutating func add(_ elements: [PropertyList], depth: Int) throws -> Int {
    guard depth < PropertyList.maximumDepth else { throw PropertyListError.tooDeep() }
    let (number, references) = beginContainer(
      BinaryPropertyList.Kind.array, size: elements.count, references: elements.count)
    for (index, element) in elements.enumerated() {
      // References come before the elements, whose numbers are known only now: they fill the gap.
      let reference = try add(element, depth: depth + 1)
      output.set(reference, size: referenceSize, at: references + index * referenceSize)
    }
    return number
  }

  /// Writes a dictionary with its keys in the given order, and returns its number.
  mutating func add(
    _ fields: [PropertyList.Fields.Field], depth: Int
  ) throws -> Int {
    guard depth < PropertyList.maximumDepth else { throw PropertyListError.tooDeep() }
    let count = fields.count
    var (number, reference) = beginContainer(
      BinaryPropertyList.Kind.dictionary, size: count, references: count * 2)
    for index in fields.indices {
      let start = output.count
      // All keys come before all values, in the references and, as in Apple's files, among the
      // objects.
      appendText(fields[index].key)
      let key = endScalar(from: start)
      output.set(key, size: referenceSize, at: reference)
      reference += referenceSize
    }
    for index in fields.indices {
      let value = try add(fields[index].value, depth: depth + 1)
      output.set(value, size: referenceSize, at: reference)
      reference += referenceSize
    }
    return number
  }

  /// Writes a container's header and a gap for its references; returns its number and the offset of
  /// the gap.
  private mutating func beginContainer(_ kind: UInt8, size: Int, references: Int) -> (Int, Int) {
    offsets.append(output.count)
    appendHeader(kind, size: size)
    let start = output.count
    output.appendZeros(references * referenceSize)
    return (offsets.count - 1, start)
  }

  // MARK: - Bytes

  /// Writes the first byte of an object, and its size as an integer object if that doesn't fit into
  /// half a byte.
  private mutating func appendHeader(_ kind: UInt8, size: Int) {
    if size < 15 {
      output.append(kind << 4 | UInt8(truncatingIfNeeded: size))
    } else {
      output.append(kind << 4 | 15)
      appendInteger(Int64(size))
    }
  }

  /// Writes an integer in as few bytes as possible; a negative one takes 8, since shorter ones are
  /// unsigned.
  private mutating func appendInteger(_ number: Int64) {
    let marker = BinaryPropertyList.Kind.integer << 4
    switch number {
    case 0...0xFF:
      output.append(marker)
      output.append(UInt8(truncatingIfNeeded: number))
    case 0...0xFFFF:
      output.append(marker | 1)
      output.append(bigEndian: UInt16(truncatingIfNeeded: number))
    case 0...0xFFFF_FFFF:
      output.append(marker | 2)
      output.append(bigEndian: UInt32(truncatingIfNeeded: number))
    default:
      output.append(marker | 3)
      output.append(bigEndian: number)
    }
  }

  /// Writes a string as ASCII if it is, else as UTF-16.
  private mutating func appendText(_ text: String) {
    // `withUTF8` is mutating: it makes the storage contiguous.
    var text = text
    let isASCII = text.withUTF8 { bytes in
      let bytes = UnsafeRawBufferPointer(bytes)
      guard bytes.isASCII else { return false }
      appendHeader(BinaryPropertyList.Kind.ascii, size: bytes.count)
      output.append(bytes)
      return true
    }
    guard !isASCII else { return }
    let units = text.utf16
    appendHeader(BinaryPropertyList.Kind.utf16, size: units.count)
    output.reserve(units.count * 2)
    for unit in units { output.append(bigEndian: unit) }
  }

  /// Writes a UID.
  private mutating func appendReference(_ number: UInt32) {
    let size = Self.byteCount(of: Int(number))
    output.append(BinaryPropertyList.Kind.reference << 4 | UInt8(size - 1))
    let start = output.count
    output.appendZeros(size)
    output.set(Int(number), size: size, at: start)
  }

  /// The number of the scalar that was written from `start` on: a new one, or that of an equal
  /// scalar. In the latter case the output is truncated to `start`.
  private mutating func endScalar(from start: Int) -> Int {
    // Valid until the output grows or moves, which nothing below does.
    let bytes = output.bytes(from: start)
    let number = offsets.count
    // Long strings rarely repeat.
    guard bytes.count <= Self.uniquingLimit else {
      offsets.append(start)
      return number
    }
    let hash = bytes.contentHash
    // The hash's low half selects the slot, and its high half is compared before the bytes are.
    let tag = hash & 0xFFFF_FFFF_0000_0000
    let mask = slots.count - 1
    var slot = Int(truncatingIfNeeded: hash) & mask
    while slots[slot] != 0 {
      if slots[slot] & 0xFFFF_FFFF_0000_0000 == tag {
        let other = Int(slots[slot] & 0xFFFF_FFFF) - 1
        // No object is a prefix of another, since its first bytes determine its length. So equal
        // beginnings are equal objects.
        if output.hasBytes(bytes, at: offsets[other]) {
          output.truncate(to: start)
          return other
        }
      }
      // Linear probing. The table always has a free slot, so this ends.
      slot = (slot + 1) & mask
    }
    offsets.append(start)
    slots[slot] = tag | UInt64(number + 1)
    return number
  }
}

// MARK: - Size

/// An upper bound of the number of objects and an estimate of the bytes, so that memory is
/// allocated once.
struct BinaryPropertyListSize {
  /// The number of objects before uniquing.
  private(set) var objects = 0
  /// About how many bytes: non-ASCII strings may take up to twice what is counted.
  private(set) var bytes = 64

  /// Counts a value and its contents; throws at the depth limit, before anything is written.
  mutating func add(_ value: PropertyList, depth: Int) throws {
    switch value {
    case .bool: addObject(1)
    case .integer, .float, .double, .date: addObject(9)
    case .unsignedInteger: addObject(17)
    case .data(let data): addObject(9 + data.count)
    case .string(let text): add(text)
    case .array(let elements):
      try addContainer(depth: depth)
      for element in elements { try add(element, depth: depth + 1) }
    case .dictionary(let fields): try add(fields.fields, depth: depth)
    }
  }

  /// Counts a dictionary and its contents.
  mutating func add(_ fields: [PropertyList.Fields.Field], depth: Int) throws {
    try addContainer(depth: depth)
    for index in fields.indices {
      add(fields[index].key)
      try add(fields[index].value, depth: depth + 1)
    }
  }

  /// Counts a container without its contents.
  private mutating func addContainer(depth: Int) throws {
    guard depth < PropertyList.maximumDepth else { throw PropertyListError.tooDeep() }
    addObject(9)
  }

  private mutating func add(_ text: String) { addObject(9 + text.utf8.count) }

  /// Counts an object of `size` bytes, its offset and a reference to it.
  private mutating func addObject(_ size: Int) {
    objects += 1
    bytes += size + 8
  }
}
