import Foundation

/// Expands data in the DEFLATE format (RFC 1951), without the headers of zlib or gzip.
///
/// Strict: an incomplete code, a distance to before the beginning, and bytes after the last block are errors.
/// Costs some 20 ns a byte. Holds the whole result in memory.
package struct Inflater {
  /// Why data was not expanded.
  package enum Failure: Error, Hashable {
    /// The data ends before its last block does.
    case cut
    /// It isn't DEFLATE, or was modified.
    case damaged
    /// It expands beyond the caller's limit.
    case tooLarge
  }

  private var input: BitReader
  private var output: [UInt8] = []
  private let limit: Int

  /// Expands `data`.
  ///
  /// - Parameter limit: The maximum size of the result in bytes.
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

  private mutating func storedBlock() throws(Failure) {
    input.skipToByte()
    let count = try input.bits(16)
    guard try input.bits(16) == count ^ 0xFFFF else { throw .damaged }
    guard count <= limit - output.count else { throw .tooLarge }
    try input.readBytes(count, into: &output)
  }

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

  private mutating func copyMatch(
    lengthSymbol: Int, _ distances: HuffmanCode
  ) throws(Failure) {
    guard lengthSymbol < Self.lengths.count else { throw .damaged }
    let length = try Self.lengths[lengthSymbol] + input.bits(Self.lengthBits[lengthSymbol])
    let symbol = try distances.next(&input)
    guard symbol < Self.distances.count else { throw .damaged }
    let distance = try Self.distances[symbol] + input.bits(Self.distanceBits[symbol])
    guard distance <= output.count else { throw .damaged }
    guard length <= limit - output.count else { throw .tooLarge }
    // The source may overlap the part that is being written.
    for _ in 0..<length { output.append(output[output.count - distance]) }
  }

  /// The codes that a block defines.
  private mutating func dynamicCodes() throws(Failure) -> (HuffmanCode, HuffmanCode) {
    let literalCount = try input.bits(5) + 257
    let distanceCount = try input.bits(5) + 1
    let codeLengthCount = try input.bits(4) + 4
    guard literalCount <= Self.literalLimit, distanceCount <= Self.distances.count else {
      throw .damaged
    }
    var codeLengths = [Int](repeating: 0, count: Self.codeLengthOrder.count)
    for symbol in Self.codeLengthOrder.prefix(codeLengthCount) {
      codeLengths[symbol] = try input.bits(3)
    }
    let codeLengthCode = try HuffmanCode(codeLengths)
    var lengths: [Int] = []
    while lengths.count < literalCount + distanceCount {
      let symbol = try codeLengthCode.next(&input)
      switch symbol {
      case 0...15: lengths.append(symbol)
      case 16:
        guard let last = lengths.last else { throw .damaged }
        lengths += try Array(repeating: last, count: input.bits(2) + 3)
      case 17: lengths += try Array(repeating: 0, count: input.bits(3) + 3)
      default: lengths += try Array(repeating: 0, count: input.bits(7) + 11)
      }
    }
    guard lengths.count == literalCount + distanceCount, lengths[Self.endOfBlock] > 0 else {
      throw .damaged
    }
    return (
      try HuffmanCode(Array(lengths[..<literalCount])),
      try HuffmanCode(Array(lengths[literalCount...]), mayBeIncomplete: true)
    )
  }

  // MARK: - Tables of RFC 1951, section 3.2

  private static let endOfBlock = 256
  private static let literalLimit = 286
  private static let codeLengthOrder = [
    16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15,
  ]
  private static let lengths = [
    3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131,
    163, 195, 227, 258,
  ]
  private static let lengthBits = [
    0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
  ]
  private static let distances = [
    1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537,
    2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577,
  ]
  private static let distanceBits = [
    0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13,
    13,
  ]
  private static let fixedLiterals = HuffmanCode(
    complete: (0..<288).map { $0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8 })
  private static let fixedDistances = HuffmanCode(complete: Array(repeating: 5, count: 32))
}

/// Reads bits from bytes, the lowest of each byte first.
private struct BitReader {
  let bytes: [UInt8]
  private var position = 0
  private var buffer = 0
  private var count = 0

  init(bytes: [UInt8]) { self.bytes = bytes }

  /// Whether only the padding bits of the last byte are left.
  var isAtEnd: Bool { position == bytes.count && count < 8 }

  /// A number of up to 16 bits.
  mutating func bits(_ wanted: Int) throws(Inflater.Failure) -> Int {
    while count < wanted {
      guard position < bytes.count else { throw .cut }
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

  mutating func skipToByte() {
    buffer >>= count % 8
    count -= count % 8
  }

  mutating func readBytes(
    _ wanted: Int, into output: inout [UInt8]
  ) throws(Inflater.Failure) {
    var rest = wanted
    while rest > 0, count > 0 {
      output.append(UInt8(try bits(8)))
      rest -= 1
    }
    guard rest <= bytes.count - position else { throw .cut }
    output += bytes[position..<(position + rest)]
    position += rest
  }
}

/// A canonical Huffman code: symbols by the lengths of their codes.
private struct HuffmanCode: Sendable {
  /// The longest code, in bits.
  static let lengthLimit = 15

  /// The number of codes of each length.
  private var counts = [Int](repeating: 0, count: HuffmanCode.lengthLimit + 1)
  /// The symbols in the order of their codes.
  private var symbols: [Int] = []

  /// - Parameter mayBeIncomplete: Whether a code of one symbol, or of none, is allowed: for a block whose
  ///   matches all have one distance, or that has no match.
  init(_ lengths: [Int], mayBeIncomplete: Bool = false) throws(Inflater.Failure) {
    self.init(complete: lengths)
    var unassigned = 1
    for length in 1...Self.lengthLimit {
      unassigned = unassigned * 2 - counts[length]
      guard unassigned >= 0 else { throw .damaged }
    }
    let isSingle = mayBeIncomplete && symbols.count <= 1
    guard unassigned == 0 || isSingle else { throw .damaged }
  }

  /// Makes a code that the format itself defines, and that is known to be complete.
  init(complete lengths: [Int]) {
    for length in lengths where length > 0 { counts[length] += 1 }
    for length in 1...Self.lengthLimit {
      symbols += lengths.indices.filter { lengths[$0] == length }
    }
  }

  /// The symbol whose code comes next.
  func next(_ input: inout BitReader) throws(Inflater.Failure) -> Int {
    var code = 0
    var first = 0
    var index = 0
    for length in 1...Self.lengthLimit {
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
