import Foundation
import SteadFormats
import SteadTestSupport
import Testing

/// DEFLATE as zlib writes it, and as nobody should.
@Suite(.ownThread) struct InflaterTests {
  private static let limit = 4_000_000

  /// What Python's zlib makes of data, without a header.
  private func deflated(_ data: Data, level: Int, strategy: Int = 0) throws -> Data {
    let script = """
      import base64, sys, zlib
      c = zlib.compressobj(\(level), zlib.DEFLATED, -15, 9, \(strategy))
      d = sys.stdin.buffer.read()
      print(base64.b64encode(c.compress(d) + c.flush()).decode())
      """
    let text = try ToolRun.text(["python3", "-c", script], input: data)
    return try #require(Data(base64Encoded: text))
  }

  private static func contents() -> [Data] {
    var generator = SplitMix(seed: 5)
    let text = Data(String(repeating: "a model of entities; ", count: 400).utf8)
    let noise = Data((0..<70_000).map { _ in UInt8.random(in: 0...255, using: &generator) })
    let sparse = Data((0..<100_000).map { $0 % 251 == 0 ? UInt8($0 % 7) : 0 })
    return [Data(), Data([1]), text, noise, sparse, Data(repeating: 9, count: 300_000)]
  }

  @Test(arguments: [(0, 0), (1, 0), (9, 0), (9, 2), (9, 3), (9, 4)])
  func `what zlib writes is read back`(_ level: Int, _ strategy: Int) throws {
    for data in Self.contents() {
      let packed = try deflated(data, level: level, strategy: strategy)
      #expect(try Inflater.inflate(packed, limit: Self.limit) == data)
    }
  }

  @Test func `data that is cut is refused`() throws {
    let packed = try deflated(Self.contents()[2], level: 9)
    for count in 0..<packed.count {
      #expect(throws: Inflater.Failure.cut) {
        try Inflater.inflate(packed.prefix(count), limit: Self.limit)
      }
    }
  }

  /// A flip may give other data, and never more than the limit, or a crash.
  @Test func `data with a flipped bit ends in an error or in other data`() throws {
    let original = Data(
      "SELECT Z_CONTENT FROM Z_MODELCACHE, 1234567890, again and again and again".utf8)
    for strategy in [0, 4] {
      let packed = try deflated(original, level: 9, strategy: strategy)
      for bit in 0..<(packed.count * 8) {
        var flipped = packed
        flipped[bit / 8] ^= 1 << UInt8(bit % 8)
        guard let result = try? Inflater.inflate(flipped, limit: 500) else { continue }
        #expect(result.count <= 500)
      }
    }
  }

  @Test func `random bytes end in an error`() {
    var generator = SplitMix(seed: 17)
    for _ in 0..<20_000 {
      let count = Int.random(in: 0..<60, using: &generator)
      let bytes = Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) })
      let result = try? Inflater.inflate(bytes, limit: 1_000)
      #expect((result?.count ?? 0) <= 1_000)
    }
  }

  @Test func `more than the limit is refused`() throws {
    for level in [0, 9] {
      let packed = try deflated(Data(repeating: 1, count: 1_000), level: level)
      #expect(try Inflater.inflate(packed, limit: 1_000).count == 1_000)
      #expect(throws: Inflater.Failure.tooLarge) { try Inflater.inflate(packed, limit: 999) }
    }
  }

  @Test(
    arguments: [
      // A block of no type; a stored block whose length and its complement differ.
      [0x07], [0x01, 0x01, 0x00, 0x00, 0x00, 0x41],
      // A distance to before the beginning; bytes after the last block.
      [0x4B, 0x04, 0x12, 0x00], [0x03, 0x00, 0x00],
    ] as [[UInt8]])
  func `what is not deflate is refused`(_ bytes: [UInt8]) {
    #expect(throws: Inflater.Failure.damaged) {
      try Inflater.inflate(Data(bytes), limit: Self.limit)
    }
  }
}
