import CachesTestSupport
import Foundation
import SteadTestSupport
import Testing

@testable import SteadCaches

@Suite(.hangLimit) struct DiskCacheTests {
  private let fixture: CacheFixture

  init() throws { fixture = try CacheFixture() }

  @Test(arguments: [0, 1, 100, 10_000, 131_071, 131_072, 131_073, 1_000_000])
  func findsWhatWasSet(size: Int) {
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
  func replacesAValue(size: Int) {
    let cache = fixture.cache()
    cache.setData(CacheFixture.bytes(200_000), for: "a")
    cache.setData(CacheFixture.bytes(size, seed: 2), for: "a")
    #expect(cache.data(for: "a") == CacheFixture.bytes(size, seed: 2))
    #expect(cache.count == 1)
    #expect(cache.totalSize == size + 1)
    #expect(fixture.valueNames.count == (size == 5 ? 0 : 1))
  }

  @Test func removesValues() {
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

  @Test func streamsLargeValues() async throws {
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

  @Test func replacesMetadataOfTheSameValueAlone() throws {
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
