import SteadSyncProtocol
import SteadTestSupport
import Testing

@Suite struct FractionalIndexTests {
  @Test func `Elements inserted anywhere are in the order in which they lie`() throws {
    var random = SplitMix(seed: Effort.seed)
    var indexes: [String] = []
    for _ in 0..<2000 {
      let place = Int.random(in: 0...indexes.count, using: &random)
      let lower = place > 0 ? indexes[place - 1] : nil
      let upper = place < indexes.count ? indexes[place] : nil
      let index = try #require(FractionalIndex.between(lower, upper))
      #expect(FractionalIndex.isIndex(index))
      indexes.insert(index, at: place)
    }
    #expect(
      indexes.map { Array($0.utf8) }
        == indexes.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) })
    #expect(Set(indexes).count == indexes.count)
  }

  @Test func `Appending and prepending stay short`() throws {
    var (last, first): (String?, String?) = (nil, nil)
    for _ in 0..<20_000 {
      let next = try #require(FractionalIndex.between(last, nil))
      #expect(last.map { $0 < next } ?? true)
      last = next
      let before = try #require(FractionalIndex.between(nil, first))
      #expect(first.map { before < $0 } ?? true)
      first = before
    }
    #expect(try #require(last).utf8.count <= 5)
    #expect(try #require(first).utf8.count <= 5)
  }

  @Test func `Where there is no place it says so`() throws {
    #expect(FractionalIndex.between("a1", "a1") == nil)
    #expect(FractionalIndex.between("a2", "a1") == nil)
    #expect(FractionalIndex.between("", "a1") == nil)
    #expect(FractionalIndex.between("a0", "a") == nil)
    var (lower, upper, count) = ("a0", "a1", 0)
    // In the worst order a place is used up at the limit, and not before some hundred insertions.
    while let next = FractionalIndex.between(lower, upper) {
      if count % 2 == 0 { lower = next } else { upper = next }
      count += 1
    }
    #expect(count > 500)
    #expect(lower.utf8.count <= FractionalIndex.lengthLimit)
  }

  @Test(
    arguments: [
      (nil, nil, "a0"), ("a0", nil, "a1"), (nil, "a0", "Zz"), ("az", nil, "b00"),
      ("a0", "a1", "a0V"),
      ("a0V", "a1", "a0l"), ("a0", "a0V", "a0G"), ("Zz", "a0", "ZzV"), (nil, "a0V", "a0"),
      ("zzzzzzzzzzzzzzzzzzzzzzzzzzz", nil, "zzzzzzzzzzzzzzzzzzzzzzzzzzzV"),
    ] as [(String?, String?, String)])
  func `The same in every language`(lower: String?, upper: String?, expected: String) {
    #expect(FractionalIndex.between(lower, upper) == expected)
  }
}
