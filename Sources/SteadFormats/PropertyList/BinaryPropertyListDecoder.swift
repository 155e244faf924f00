import Foundation

/// Decodes a binary property list from untrusted bytes.
///
/// Every offset, size and reference is checked before it is used, recursion is limited by
/// ``PropertyList/maximumDepth``, and memory by a budget. So a damaged file throws, and neither
/// traps nor exhausts memory. The format is described at ``BinaryPropertyList``.
package struct BinaryPropertyListDecoder {
  private let bytes: UnsafeRawBufferPointer
  /// Where the offset table begins, which is where the objects end. `table <= trailer` was checked.
  private let offsetTable: Int
  /// The size of an offset and of a reference, in bytes.
  private let offsetSize: Int
  private let referenceSize: Int
  /// The number of objects. Invariant: the offset table has room for all of them before the
  /// trailer.
  private let objectCount: Int
  /// The number of the root; below `objectCount`.
  private let rootObject: Int
  /// What may still be decoded; see ``BinaryPropertyList/expansionLimit(fileSize:)``.
  private var budget: Int
  /// A bitmap of the objects that were decoded once and are worth caching when they occur again.
  private var seen: [UInt64]
  /// The objects that occurred at least twice, with what decoding them charged to the budget.
  private var repeated: [Int: (value: PropertyList, cost: Int)] = [:]

  /// Strings and data up to this size are never cached. Swift stores strings of 15 bytes inline, so
  /// decoding them again is cheaper than a look-up.
  private static let smallSize = 15

  /// Reads the trailer.
  ///
  /// - Throws: ``PropertyListError`` for bytes without the magic number, or whose trailer
  ///   contradicts their number.
  package init(_ bytes: UnsafeRawBufferPointer) throws {
    let trailer = bytes.count - BinaryPropertyList.trailerSize
    guard trailer >= BinaryPropertyList.magic.utf8.count,
      bytes.starts(with: BinaryPropertyList.magic.utf8)
    else { throw PropertyListError.damaged("it isn't a binary one", at: 0) }
    self.bytes = bytes
    offsetSize = Int(bytes[trailer + 6])
    referenceSize = Int(bytes[trailer + 7])
    // Number of objects, root, offset of the table.
    let numbers = (0..<3).map { bytes.bigEndian(at: trailer + 8 + $0 * 8, size: 8) }
    // `Int(exactly:)` refuses numbers of 2^63 and more, and the last condition bounds the count by
    // the file's size, so that no product of the numbers overflows.
    guard (1...8).contains(offsetSize), (1...8).contains(referenceSize),
      let count = Int(exactly: numbers[0]), let root = Int(exactly: numbers[1]),
      let offsetTable = Int(exactly: numbers[2]), root < count, offsetTable <= trailer,
      offsetTable >= BinaryPropertyList.magic.utf8.count,
      count <= (trailer - offsetTable) / offsetSize
    else {
      throw PropertyListError.damaged("its last 32 bytes contradict its size", at: trailer)
    }
    (self.offsetTable, objectCount, rootObject) = (offsetTable, count, root)
    budget = BinaryPropertyList.expansionLimit(fileSize: bytes.count)
    // A bit for each object. The count was compared with the file's size above, so a damaged one
    // reserves no more than that.
    seen = [UInt64](repeating: 0, count: count / 64 + 1)
  }

  /// Decodes the root.
  mutating func root() throws -> PropertyList { try value(of: rootObject, depth: 0) }

  /// The number of fields or elements that the root declares, at most the number of objects. The
  /// contents are not checked.
  package func rootCount() throws -> Int {
    // A damaged size must not make the caller reserve memory.
    min(try header(at: offset(of: rootObject)).size, objectCount)
  }

  /// Calls `visit` with each key and value of the root, without a dictionary of all of them.
  ///
  /// - Throws: ``PropertyListError/Code/notADictionary`` for another root, and what `visit` throws.
  package mutating func visitRoot(_ visit: (String, PropertyList) throws -> Void) throws {
    let start = try offset(of: rootObject)
    guard bytes[start] >> 4 == BinaryPropertyList.Kind.dictionary else {
      throw PropertyListError(
        code: .notADictionary,
        message: "The property list isn't a dictionary; put its value into one, under a key.",
        offset: start)
    }
    let (count, references) = try container(at: start, referencesEach: 2)
    for index in 0..<count {
      let position = references + index * referenceSize
      let key = try self.key(at: position)
      try visit(key, try value(of: reference(at: position + count * referenceSize), depth: 1))
    }
  }

  // MARK: - Offsets and references

  /// Where an object begins. At least one byte of objects follows, so its first byte can be read.
  private func offset(of object: Int) throws -> Int {
    let position = offsetTable + object * offsetSize
    let start = bytes.bigEndian(at: position, size: offsetSize)
    guard start < UInt64(offsetTable), start >= 8 else {
      throw PropertyListError.damaged("an object's offset leads out of it", at: position)
    }
    return Int(start)
  }

  /// The number of the object that a reference points to. The caller has checked that the reference
  /// is within bounds.
  private func reference(at position: Int) throws -> Int {
    let number = bytes.bigEndian(at: position, size: referenceSize)
    guard number < UInt64(objectCount) else {
      throw PropertyListError.damaged("a reference points to a missing object", at: position)
    }
    return Int(number)
  }

  /// Checks that `count` bytes from `start` belong to objects.
  @inline(__always)
  private func checkBounds(_ start: Int, count: Int) throws {
    // Not `start + count <= …`, which a crafted count could overflow.
    guard count <= offsetTable - start else {
      throw PropertyListError.damaged("an object is longer than the list", at: start)
    }
  }

  /// Deducts memory from the budget before it is allocated.
  private mutating func charge(_ cost: Int, at offset: Int) throws {
    guard cost <= budget else {
      throw PropertyListError(
        code: .tooLarge,
        message:
          "Shared references make the property list far larger than its file; write it without them, or split it.",
        offset: offset)
    }
    budget -= cost
  }

  /// The size of the object at `start`, and the offset of its contents.
  @inline(__always)
  private func header(at start: Int) throws -> (size: Int, content: Int) {
    let low = Int(bytes[start] & 15)
    guard low == 15 else { return (low, start + 1) }
    try checkBounds(start + 1, count: 1)
    let marker = bytes[start + 1]
    // The size is an integer object of 1, 2, 4 or 8 bytes: the low half is 0 to 3.
    guard marker & 0xFC == BinaryPropertyList.Kind.integer << 4 else {
      throw PropertyListError.damaged("an object's size isn't a whole number", at: start + 1)
    }
    let width = 1 << Int(marker & 3)
    try checkBounds(start + 2, count: width)
    // Larger than the file is wrong for any kind. It also keeps the multiplications by the size of
    // a reference from overflowing.
    guard let size = Int(exactly: bytes.bigEndian(at: start + 2, size: width)), size <= bytes.count
    else { throw PropertyListError.damaged("an object is longer than the list", at: start) }
    return (size, start + 2 + width)
  }

  /// The number of a container's elements or fields, and the offset of its references.
  ///
  /// Charged before the array for them is allocated: a damaged size must not reserve gigabytes.
  private mutating func container(
    at start: Int, referencesEach: Int
  ) throws -> (count: Int, references: Int) {
    let (count, references) = try header(at: start)
    try checkBounds(references, count: count * referencesEach * referenceSize)
    try charge(count * BinaryPropertyList.valueCost, at: start)
    return (count, references)
  }

  // MARK: - Values

  /// Decodes an object.
  private mutating func value(of object: Int, depth: Int) throws -> PropertyList {
    let start = try offset(of: object)
    let marker = bytes[start]
    switch marker >> 4 {
    case BinaryPropertyList.Kind.simple: return try boolean(marker, at: start)
    case BinaryPropertyList.Kind.integer: return try integer(at: start)
    case BinaryPropertyList.Kind.real: return try real(at: start)
    case BinaryPropertyList.Kind.date:
      // Dates always have 8 bytes, so log2 of that.
      guard marker & 15 == 3 else { throw unknownKind(start) }
      try checkBounds(start + 1, count: 8)
      let seconds = Double(bitPattern: bytes.bigEndian(at: start + 1, size: 8))
      return .date(Date(timeIntervalSinceReferenceDate: seconds))
    case BinaryPropertyList.Kind.reference:
      let size = Int(marker & 15) + 1
      try checkBounds(start + 1, count: size)
      // UIDs have 32 bits, in however many bytes.
      guard size <= 8, let number = UInt32(exactly: bytes.bigEndian(at: start + 1, size: size))
      else { throw unknownKind(start) }
      // The dictionary that represents a UID takes an array, a field and its value.
      try charge(BinaryPropertyList.valueCost * 4, at: start)
      return .dictionary([BinaryPropertyList.referenceKey: .integer(Int64(number))])
    case BinaryPropertyList.Kind.ascii, BinaryPropertyList.Kind.utf16,
      BinaryPropertyList.Kind.data, BinaryPropertyList.Kind.array,
      BinaryPropertyList.Kind.dictionary:
      return try variableSized(object, at: start, depth: depth)
    default: throw unknownKind(start)
    }
  }

  /// The error for a kind of object that property lists don't have, such as a set of Core
  /// Foundation's.
  private func unknownKind(_ start: Int) -> PropertyListError {
    .unsupported(
      "The property list has an object of an unknown kind; write it without that.", at: start)
  }

  /// Decodes a boolean.
  private func boolean(_ marker: UInt8, at start: Int) throws -> PropertyList {
    switch marker {
    case 0x08: return .bool(false)
    case 0x09: return .bool(true)
    default: throw unknownKind(start)
    }
  }

  /// Decodes an integer of 1, 2, 4, 8 or 16 bytes. Apple's writer uses 16 bytes for those above
  /// `Int64.max`.
  private func integer(at start: Int) throws -> PropertyList {
    let power = Int(bytes[start] & 15)
    guard power <= 4 else { throw unknownKind(start) }
    let size = 1 << power
    try checkBounds(start + 1, count: size)
    guard size == 16 else {
      // Shorter ones are unsigned, so they never set the sign bit; 8 bytes are two's complement.
      return .integer(Int64(truncatingIfNeeded: bytes.bigEndian(at: start + 1, size: size)))
    }
    let high = bytes.bigEndian(at: start + 1, size: 8)
    let low = bytes.bigEndian(at: start + 9, size: 8)
    if high == 0 { return PropertyList(low) }
    let number = Int64(bitPattern: low)
    // Negative in 128 bits: the high half is the sign extension of the low one.
    guard high == .max, number < 0 else {
      throw PropertyListError.unsupported(
        "The property list has a whole number of more than 64 bits; write a string instead.",
        at: start)
    }
    return .integer(number)
  }

  /// Decodes a floating-point number of 4 or 8 bytes; the size decides between `Float` and
  /// `Double`.
  private func real(at start: Int) throws -> PropertyList {
    switch bytes[start] & 15 {
    case 2:
      try checkBounds(start + 1, count: 4)
      let bits = UInt32(truncatingIfNeeded: bytes.bigEndian(at: start + 1, size: 4))
      return .float(Float(bitPattern: bits))
    case 3:
      try checkBounds(start + 1, count: 8)
      return .double(Double(bitPattern: bytes.bigEndian(at: start + 1, size: 8)))
    default: throw unknownKind(start)
    }
  }

  // MARK: - Strings, data and containers

  /// Decodes a string, data or a container, once.
  ///
  /// The first occurrence sets a bit, the second one decodes again and caches, and later ones use
  /// the cache. Most objects occur once, and then cost no dictionary entry. A repeated container
  /// charges what it cost before, since a copy-on-write array may be copied; that makes a bomb of
  /// nested references fail fast.
  private mutating func variableSized(_ object: Int, at start: Int, depth: Int) throws
    -> PropertyList
  {
    let (size, content) = try header(at: start)
    let kind = bytes[start] >> 4
    let isContainer = kind >= BinaryPropertyList.Kind.array
    if !isContainer, size <= Self.smallSize {
      try charge(size, at: start)
      return try scalar(kind, size: size, at: content)
    }
    // One bit an object: a dictionary of all objects would cost more than the objects.
    let (word, bit) = (object / 64, UInt64(1) << UInt64(object % 64))
    let wasSeen = seen[word] & bit != 0
    if wasSeen, let cached = repeated[object] {
      // A string or data that occurs again takes no more memory than its reference, which is
      // charged already.
      if isContainer { try charge(cached.cost, at: start) }
      return cached.value
    }
    seen[word] |= bit
    let budgetBefore = budget
    let value: PropertyList
    if isContainer {
      // This also ends cycles.
      guard depth < PropertyList.maximumDepth else { throw PropertyListError.tooDeep(at: start) }
      value =
        kind == BinaryPropertyList.Kind.array
        ? try array(at: start, depth: depth) : try dictionary(at: start, depth: depth)
    } else {
      try charge(size, at: start)
      value = try scalar(kind, size: size, at: content)
    }
    if wasSeen { repeated[object] = (value, budgetBefore - budget) }
    return value
  }

  /// Decodes a string or data.
  private func scalar(_ kind: UInt8, size: Int, at content: Int) throws -> PropertyList {
    switch kind {
    case BinaryPropertyList.Kind.data:
      try checkBounds(content, count: size)
      return .data(Data(bytes[content..<(content + size)]))
    case BinaryPropertyList.Kind.ascii: return .string(try utf8(size: size, at: content))
    default: return .string(try utf16(size: size, at: content))
    }
  }

  /// A string of one byte a character.
  ///
  /// The format has ASCII here. Some writers emit UTF-8, which is the same for ASCII.
  @inline(__always)
  private func utf8(size: Int, at content: Int) throws -> String {
    try checkBounds(content, count: size)
    let text = UnsafeRawBufferPointer(rebasing: bytes[content..<(content + size)])
    if text.isASCII { return String(decoding: text, as: UTF8.self) }
    guard let string = String(validating: text, as: UTF8.self) else {
      throw PropertyListError.damaged("a string is neither ASCII nor UTF-8", at: content)
    }
    return string
  }

  /// A string of two bytes a code unit. Unpaired surrogates become U+FFFD, as in Foundation.
  private func utf16(size: Int, at content: Int) throws -> String {
    try checkBounds(content, count: size * 2)
    return String(
      decoding: (0..<size).lazy.map { index in
        UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: content + index * 2, as: UInt16.self))
      }, as: UTF16.self)
  }

  /// The string that the reference to a dictionary's key points to.
  @inline(__always)
  private mutating func key(at position: Int) throws -> String {
    let object = try reference(at: position)
    let start = try offset(of: object)
    // The fast path: most keys are short and ASCII, and need neither the cache nor an enum around
    // them.
    if bytes[start] >> 4 == BinaryPropertyList.Kind.ascii {
      let (size, content) = try header(at: start)
      if size <= Self.smallSize { return try utf8(size: size, at: content) }
    }
    // A container would be the wrong type anyway, and is refused by its depth before it is decoded.
    guard case .string(let key) = try value(of: object, depth: PropertyList.maximumDepth) else {
      throw PropertyListError.unsupported(
        "The property list has a dictionary with a key that isn't a string; write strings as keys.",
        at: start)
    }
    return key
  }

  /// Decodes an array.
  private mutating func array(at start: Int, depth: Int) throws -> PropertyList {
    let (count, references) = try container(at: start, referencesEach: 1)
    var elements: [PropertyList] = []
    elements.reserveCapacity(count)
    for index in 0..<count {
      let object = try reference(at: references + index * referenceSize)
      elements.append(try value(of: object, depth: depth + 1))
    }
    return .array(elements)
  }

  /// Decodes a dictionary. A key that occurs twice has its last value.
  private mutating func dictionary(at start: Int, depth: Int) throws -> PropertyList {
    let (count, references) = try container(at: start, referencesEach: 2)
    var fields: [PropertyList.Fields.Field] = []
    // Safe, since the references of all fields are within the file.
    fields.reserveCapacity(count)
    for index in 0..<count {
      let position = references + index * referenceSize
      let key = try self.key(at: position)
      let object = try reference(at: position + count * referenceSize)
      fields.append(.init(key, try value(of: object, depth: depth + 1)))
    }
    return .dictionary(PropertyList.Fields(fields))
  }
}
