import CachesTestSupport
import Foundation
import SteadSQLite
import SteadTestSupport
import Testing

@testable import SteadCaches

@Suite(.hangLimit) struct DiskCacheTests {
  private let fixture: CacheFixture

  init() throws { fixture = try CacheFixture() }

  @Test(arguments: [0, 1, 100, 10_000, 131_071, 131_072, 131_073, 1_000_000])
  func `finds what was set`(size: Int) {
    let value = CacheFixture.bytes(size)
    #expect(fixture.cache().setData(value, for: "a"))
    let cache = fixture.cache()
    #expect(cache.data(for: "a") == value)
    #expect(cache.data(for: "b") == nil)
    #expect(cache.totalSize == size + 1)
    #expect(cache.count == 1)
    #expect(cache.statistics.hits == 1)
    #expect(cache.statistics.misses == 1)
  }

  @Test(arguments: [5, 200_000])
  func `replaces a value`(size: Int) {
    let cache = fixture.cache()
    cache.setData(CacheFixture.bytes(200_000), for: "a")
    cache.setData(CacheFixture.bytes(size, seed: 2), for: "a")
    #expect(cache.data(for: "a") == CacheFixture.bytes(size, seed: 2))
    #expect(cache.count == 1)
    #expect(cache.totalSize == size + 1)
    #expect(fixture.valueNames.count == (size == 5 ? 0 : 1))
  }

  @Test func `removes values`() {
    let cache = fixture.cache()
    cache.setData(Data("1".utf8), for: "a", tags: ["x", "y"])
    cache.setData(CacheFixture.bytes(200_000), for: "b", tags: ["x"])
    cache.setData(Data("3".utf8), for: "c", tags: ["y"])
    cache.removeValues(taggedWith: "x")
    #expect(cache.data(for: "a") == nil)
    #expect(cache.data(for: "b") == nil)
    #expect(cache.data(for: "c") == Data("3".utf8))
    #expect(fixture.valueNames == [])
    cache.removeValue(for: "c")
    #expect(cache.count == 0)
    #expect(cache.totalSize == 0)
  }

  @Test func `streams large values`() async throws {
    let cache = fixture.cache()
    let value = CacheFixture.bytes(1_000_000)
    let writer = cache.writer(for: "a", metadata: Data("m".utf8), tags: ["t"])
    var start = 0
    while start < value.count {
      #expect(writer.append(value[start..<min(value.count, start + 33_333)]))
      start += 33_333
    }
    #expect(cache.data(for: "a") == nil)
    #expect(writer.commit())
    let entry = try #require(cache.entry(for: "a"))
    #expect(entry.metadata == Data("m".utf8))
    #expect(entry.tags == ["t"])
    #expect(entry.size == value.count)
    cache.removeAll()
    #expect(fixture.valueNames == [])
    var read = Data()
    for try await chunk in entry.chunks() {
      #expect(chunk.startIndex == 0)
      read.append(chunk)
    }
    #expect(read == value)
    read = Data()
    for try await chunk in entry.chunks(in: 65_000..<200_001) { read.append(chunk) }
    #expect(read == value[65_000..<200_001])
    #expect(entry.data == value)
  }

  @Test func `replaces metadata of the same value alone`() throws {
    let cache = fixture.cache()
    cache.setData(Data("1".utf8), for: "a")
    let first = try #require(cache.entry(for: "a"))
    #expect(cache.setMetadata(Data("meta".utf8), for: "a", ifStoredAs: first.id))
    let second = try #require(cache.entry(for: "a"))
    #expect(second.metadata == Data("meta".utf8))
    #expect(second.id == first.id)
    #expect(second.data == Data("1".utf8))
    #expect(cache.totalSize == 6)
    cache.setData(Data("2".utf8), for: "a")
    #expect(!cache.setMetadata(Data("late".utf8), for: "a", ifStoredAs: first.id))
    #expect(cache.entry(for: "a")?.metadata == Data())
  }
}

/// Keys that are listed and removed by what they begin with.
@Suite(.hangLimit) struct DiskPrefixTests {
  private let fixture: CacheFixture

  init() throws { fixture = try CacheFixture() }

  @Test(arguments: 0..<UInt64(Effort.times(4)))
  func `keys with a prefix are listed and removed`(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    let cache = fixture.cache()
    // Beyond one batch of a removal.
    var keys: Set<String> = []
    for number in 0..<Int.random(in: 400...700, using: &random) {
      let key = ["a", "ab", "b", "e\u{301}", "\u{e9}", ""].randomElement(using: &random) ?? ""
      keys.insert("\(key)\(number)")
      #expect(cache.setValue(number, for: "\(key)\(number)"))
    }
    // Byte for byte: a letter with its accent isn't the letter and the accent.
    func matching(_ prefix: String) -> Set<String> {
      keys.filter { $0.utf8.starts(with: prefix.utf8) }
    }
    let prefix =
      ["a", "ab", "b", "e", "e\u{301}", "\u{e9}", "x", ""].randomElement(using: &random) ?? ""
    #expect(Set(cache.keys()) == keys)
    #expect(cache.keys(withPrefix: prefix).count == matching(prefix).count)
    #expect(Set(cache.keys(withPrefix: prefix)) == matching(prefix))
    #expect(cache.removeValues(withPrefix: prefix))
    keys.subtract(matching(prefix))
    #expect(Set(cache.keys()) == keys)
    #expect(Set(fixture.cache().keys()) == keys)
    #expect(cache.count == keys.count)
  }

  @Test func `keys are in the order of their use, without expired ones`() {
    let cache = fixture.cache()
    cache.setValue(1, for: "a")
    cache.setValue(2, for: "b", timeToLive: .seconds(5))
    cache.setValue(3, for: "c")
    #expect(cache.keys() == ["a", "b", "c"])
    fixture.now += 10
    #expect(cache.keys() == ["a", "c"])
  }

  /// A list that another process's lock had cut off looked like that of an empty cache.
  @Test func `a list without all keys is told from a complete one`() throws {
    let cache = fixture.cache()
    #expect(cache.allKeys() == [])
    cache.setValue(1, for: "a1")
    cache.setValue(2, for: "b")
    let holder = try SQLiteConnection(SQLiteOptions(.file(fixture.database.filePath)))
    try holder.run("BEGIN IMMEDIATE")
    #expect(cache.keys() == [])
    #expect(cache.allKeys() == nil)
    try holder.run("ROLLBACK")
    #expect(cache.allKeys() == ["a1", "b"])
    #expect(cache.allKeys(withPrefix: "a") == ["a1"])
    #expect(cache.allKeys(withPrefix: "c") == [])
  }

  /// Around the number of entries that one transaction reads.
  @Test(arguments: [499, 500, 501])
  func `a complete list has every key`(count: Int) {
    let cache = fixture.cache()
    for number in 0..<count { cache.setData(Data(), for: "\(number)") }
    #expect(cache.allKeys() == (0..<count).map { "\($0)" })
    #expect(cache.keys() == cache.allKeys())
  }

  @Test func `a load is not kept over a removal by prefix`() async throws {
    let cache = fixture.cache()
    let value = try await cache.value(for: "a1") {
      cache.setValue(0, for: "a2")
      cache.removeValues(withPrefix: "a")
      return 1
    }
    #expect(value == 1)
    #expect(cache.keys() == [])
  }
}
