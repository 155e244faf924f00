import Testing

@testable import SteadCaches

@Suite struct ByteRangeTests {
  @Test(arguments: [
    ("bytes=0-1", ByteRange.bytes(first: 0, last: 1)), ("BYTES=5-", .bytes(first: 5, last: nil)),
    ("bytes=-7", .suffix(7)),
  ])
  func readsOneRange(value: String, range: ByteRange) {
    #expect(ByteRange(value) == range)
  }

  @Test(arguments: [
    "", "bytes", "bytes=", "bytes=-", "bytes=a-b", "bytes=2-1", "bytes=0-1,3-4", "lines=0-1",
    "bytes=0-1-2",
    "bytes= 0-1", "bytes=+1-2", "bytes=1-x",
  ])
  func readsNothingElse(value: String) {
    #expect(ByteRange(value) == nil)
  }

  @Test(arguments: [
    ("bytes=0-1", 0..<2), ("bytes=8-", 8..<10), ("bytes=8-99", 8..<10), ("bytes=-3", 7..<10),
    ("bytes=-30", 0..<10), ("bytes=10-", nil), ("bytes=-0", nil),
    ("bytes=0-99999999999999999999", 0..<10),
  ])
  func findsPositionsInTenBytes(value: String, positions: Range<Int>?) {
    #expect(ByteRange(value)?.positions(in: 10) == positions)
    #expect(ByteRange(value)?.positions(in: 0) == nil)
  }

  @Test func readsAndWritesTheRangeOfAResponse() {
    let range = ContentRange("bytes 4-9/10")
    #expect(range == ContentRange(positions: 4..<10, length: 10))
    #expect(range?.value == "bytes 4-9/10")
    for value in [
      "bytes 4-9/*", "bytes */10", "bytes 9-4/10", "bytes 4-10/10", "items 4-9/10", "bytes 4-9", "",
    ] {
      #expect(ContentRange(value) == nil, "\(value)")
    }
  }
}
