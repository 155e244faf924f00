import Foundation

/// Decompresses raw DEFLATE data (RFC 1951), without a header of zlib or gzip.
///
/// Core Data compresses the model that it keeps in a store. Linking zlib for those few kilobytes
/// would add a system dependency to all users of SteadTransfer.
///
/// Strict: an incomplete or oversubscribed Huffman code, a distance beyond the beginning of the
/// output, and bytes after the last block are errors. The output is limited by the caller, since 1
/// KB can expand to 1 MB. Decodes bit by bit, some 20 ns a byte, and holds input and output in
/// memory.
///
/// A stream is a sequence of blocks. Each has a bit that says whether it is the last, and two bits
/// for its kind:
///
/// | kind | contents |
/// | ---- | -------- |
/// | 0 | at the next byte boundary: length, its complement, bytes as they are |
/// | 1 | symbols in the fixed Huffman codes |
/// | 2 | the lengths of two Huffman codes, then symbols in these |
///
/// A symbol below 256 is a literal byte, 256 ends the block, and a larger one begins a match: a
/// length and a distance, meaning "copy `length` bytes from `distance` bytes back".
package struct Inflater {
  /// Why data cannot be decompressed.
  package enum Failure: Error, Hashable {
    /// The data ends before its last block does.
    case cut
    /// The data isn't DEFLATE, or was modified.
    case damaged
    /// The output would be larger than the limit.
    case tooLarge
  }

  private var input: BitReader
  private var output: [UInt8] = []
  /// The maximum size of `output`, in bytes.
  private let limit: Int

  /// Decompresses data.
  ///
  /// - Parameters:
  ///   - data: One complete DEFLATE stream.
  ///   - limit: The maximum size of the result, in bytes.
  /// - Throws: ``Failure``.
  package static func inflate(_ data: Data, limit: Int) throws(Failure) -> Data {
    var inflater = Inflater(input: BitReader(bytes: [UInt8](data)), limit: limit)
    try inflater.run()
    return Data(inflater.output)
  }

  private init(input: BitReader, limit: Int) {
    self.input = input
    self.limit = limit
  }

  /// Decodes blocks up to the last one.
  private mutating func run() throws(Failure) {
    var isLast = false
    while !isLast {
      isLast = try input.bits(1) == 1
      switch try input.bits(2) {
      case 0: try storedBlock()
      case 1: try compressedBlock(Self.fixedLiterals, Self.fixedDistances)
      case 2:
        let (literals, distances) = try dynamicCodes()
        try compressedBlock(literals, distances)
      default: throw .damaged
      }
    }
    guard input.isAtEnd else { throw .damaged }
  }

  // MARK: - Blocks

  /// Copies an uncompressed block.
  private mutating func storedBlock() throws(Failure) {
    input.skipToByte()
    let count = try input.bits(16)
    // The complement is the format's only checksum.
    guard try input.bits(16) == count ^ 0xFFFF else { throw .damaged }
    // Before the memory is allocated.
    guard count <= limit - output.count else { throw .tooLarge }
    try input.readBytes(count, into: &output)
  }

  /// Decodes symbols up to the end of the block.
  private mutating func compressedBlock(
    _ literals: HuffmanCode, _ distances: HuffmanCode
  ) throws(Failure) {
    while true {
      let symbol = try literals.next(&input)
      switch symbol {
      case 0..<Self.endOfBlock:
        guard output.count < limit else { throw .tooLarge }
        output.append(UInt8(symbol))
      case Self.endOfBlock: return
      default: try copyMatch(lengthSymbol: symbol - Self.endOfBlock - 1, distances)
      }
    }
  }

  /// Appends the match that a length symbol and the distance after it describe.
  private mutating func copyMatch(
    lengthSymbol: Int, _ distances: HuffmanCode
  ) throws(Failure) {
    // Symbols 286 and 287 occur in the fixed code, and mean nothing.
    guard lengthSymbol < Self.lengths.count else { throw .damaged }
    let length = try Self.lengths[lengthSymbol] + input.bits(Self.lengthBits[lengthSymbol])
    let symbol = try distances.next(&input)
    guard symbol < Self.distances.count else { throw .damaged }
    let distance = try Self.distances[symbol] + input.bits(Self.distanceBits[symbol])
    // A match can't reach to before the beginning.
    guard distance <= output.count else { throw .damaged }
    guard length <= limit - output.count else { throw .tooLarge }
    // Byte by byte, since the source may overlap the destination: a distance of 1 repeats one byte.
    for _ in 0..<length { output.append(output[output.count - distance]) }
  }

  /// Reads the two codes of a block: for literals and lengths, and for distances.
  ///
  /// The lengths of their codes are themselves compressed: run-length encoded, and in a third
  /// Huffman code, whose own lengths are sent first, in an order in which the rare ones come last
  /// so that they can be left out.
  private mutating func dynamicCodes() throws(Failure) -> (HuffmanCode, HuffmanCode) {
    let literalCount = try input.bits(5) + 257
    let distanceCount = try input.bits(5) + 1
    let codeLengthCount = try input.bits(4) + 4
    // 5 bits can say up to 288 literals and 32 distances; the RFC defines 286 and 30.
    guard literalCount <= Self.literalLimit, distanceCount <= Self.distances.count else {
      throw .damaged
    }
    var codeLengths = [Int](repeating: 0, count: Self.codeLengthOrder.count)
    for symbol in Self.codeLengthOrder.prefix(codeLengthCount) {
      codeLengths[symbol] = try input.bits(3)
    }
    let codeLengthCode = try HuffmanCode(codeLengths)
    var lengths: [Int] = []
    // Both codes' lengths are one sequence, and a run may cross from one to the other.
    while lengths.count < literalCount + distanceCount {
      let symbol = try codeLengthCode.next(&input)
      switch symbol {
      case 0...15: lengths.append(symbol)
      case 16:
        // 16 repeats the previous length, which the first symbol doesn't have.
        guard let last = lengths.last else { throw .damaged }
        lengths += try Array(repeating: last, count: input.bits(2) + 3)
      case 17: lengths += try Array(repeating: 0, count: input.bits(3) + 3)
      default: lengths += try Array(repeating: 0, count: input.bits(7) + 11)
      }
    }
    // A run may not exceed the sequence. Without a code for the end of the block, the block would
    // never end.
    guard lengths.count == literalCount + distanceCount, lengths[Self.endOfBlock] > 0 else {
      throw .damaged
    }
    return (
      try HuffmanCode(Array(lengths[..<literalCount])),
      try HuffmanCode(Array(lengths[literalCount...]), mayBeIncomplete: true)
    )
  }

  // MARK: - Tables of RFC 1951, section 3.2

  /// The symbol that ends a block.
  private static let endOfBlock = 256
  private static let literalLimit = 286
  /// The order in which the lengths of the code-length code are sent.
  private static let codeLengthOrder = [
    16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15,
  ]
  /// The base length of each length symbol, and the number of extra bits.
  private static let lengths = [
    3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131,
    163, 195, 227, 258,
  ]
  private static let lengthBits = [
    0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
  ]
  /// The base distance of each distance symbol, and the number of extra bits.
  private static let distances = [
    1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537,
    2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577,
  ]
  private static let distanceBits = [
    0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13,
    13,
  ]
  /// The codes of blocks of kind 1.
  private static let fixedLiterals = HuffmanCode(
    complete: (0..<288).map { $0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8 })
  private static let fixedDistances = HuffmanCode(complete: Array(repeating: 5, count: 32))
}

/// Reads bits from bytes, the least significant of each byte first.
private struct BitReader {
  let bytes: [UInt8]
  private var position = 0
  /// Bits that were read from `bytes` and not yet consumed; the next one is the lowest.
  private var buffer = 0
  /// The number of bits in `buffer`; always below 8 between calls.
  private var count = 0

  init(bytes: [UInt8]) { self.bytes = bytes }

  /// Whether at most the padding bits of the last byte are left.
  var isAtEnd: Bool { position == bytes.count && count < 8 }

  /// Consumes up to 16 bits, as an unsigned number with the first bit lowest.
  mutating func bits(_ wanted: Int) throws(Inflater.Failure) -> Int {
    while count < wanted {
      guard position < bytes.count else { throw .cut }
      // At most 15 bits are in the buffer here, so it never has more than 23.
      buffer |= Int(bytes[position]) << count
      position += 1
      count += 8
    }
    defer {
      buffer >>= wanted
      count -= wanted
    }
    return buffer & ((1 << wanted) - 1)
  }

  /// Drops the rest of a partly consumed byte.
  mutating func skipToByte() {
    buffer >>= count % 8
    count -= count % 8
  }

  /// Appends bytes from a byte boundary to `output`.
  mutating func readBytes(
    _ wanted: Int, into output: inout [UInt8]
  ) throws(Inflater.Failure) {
    var rest = wanted
    // Whole bytes may be left in the buffer.
    while rest > 0, count > 0 {
      output.append(UInt8(try bits(8)))
      rest -= 1
    }
    guard rest <= bytes.count - position else { throw .cut }
    output += bytes[position..<(position + rest)]
    position += rest
  }
}

/// A canonical Huffman code, which the lengths of its codes determine.
///
/// Codes of one length are consecutive numbers, in the order of their symbols, and each shorter
/// code comes before the prefixes of longer ones. So decoding needs only the number of codes of
/// each length, and the symbols in code order.
private struct HuffmanCode: Sendable {
  /// The maximum length of a code, in bits.
  static let lengthLimit = 15

  /// The number of codes of each length.
  private var counts = [Int](repeating: 0, count: HuffmanCode.lengthLimit + 1)
  /// The symbols, ordered by length of code and then by symbol, which is code order.
  private var symbols: [Int] = []

  /// Makes a code from the length of each symbol's code; 0 means that a symbol has none.
  ///
  /// - Parameter mayBeIncomplete: Whether at most one code may be enough. RFC 1951 allows that for
  ///   distances: a block without matches has no distance, and one whose matches all have the same
  ///   distance has one code of one bit.
  init(_ lengths: [Int], mayBeIncomplete: Bool = false) throws(Inflater.Failure) {
    self.init(complete: lengths)
    // The number of bit strings of the current length that no shorter code is a prefix of. Negative
    // means that two codes collide; more than 0 at the end means that some bit strings decode to
    // nothing.
    var unassigned = 1
    for length in 1...Self.lengthLimit {
      unassigned = unassigned * 2 - counts[length]
      guard unassigned >= 0 else { throw .damaged }
    }
    let isSingle = mayBeIncomplete && symbols.count <= 1
    guard unassigned == 0 || isSingle else { throw .damaged }
  }

  /// Makes a code that the RFC defines, and that is known to be complete.
  init(complete lengths: [Int]) {
    for length in lengths where length > 0 { counts[length] += 1 }
    for length in 1...Self.lengthLimit {
      // Code order: by length, then by symbol.
      symbols += lengths.indices.filter { lengths[$0] == length }
    }
  }

  /// Decodes the next symbol.
  func next(_ input: inout BitReader) throws(Inflater.Failure) -> Int {
    // `first` is the first code of the current length, and `index` that code's index in `symbols`.
    // The method of zlib's `puff`: within a length, codes are consecutive from `first` on.
    var code = 0
    var first = 0
    var index = 0
    for length in 1...Self.lengthLimit {
      // Huffman codes are packed with their most significant bit first, unlike all other numbers.
      code |= try input.bits(1)
      let count = counts[length]
      if code - first < count { return symbols[index + code - first] }
      index += count
      first = (first + count) << 1
      code <<= 1
    }
    throw .damaged
  }
}
