import CachesTestSupport
import Foundation
import SteadSQLite
import SteadTestSupport
import Testing

@testable import SteadCaches

/// Numbers in a damaged file, which may be anything: misses, and no sum that overflows and ends the program.
@Suite(.hangLimit) struct DiskNumberTests {
  private static let columns = [
    "state SET size", "state SET count", "state SET sequence", "state SET generation",
    "entries SET size", "entries SET stored", "entries SET expires", "entries SET form",
    "contents SET stored", "contents SET expires", "contents SET form", "contents SET length",
    "contents SET head", "contents SET body",
    // Of one row, since no two may have the same.
    "entries WHERE used = (SELECT max(used) FROM entries) SET used",
    "entries WHERE used = (SELECT max(used) FROM entries) SET id",
    "contents WHERE id = (SELECT max(id) FROM contents) SET id",
  ]
  private static let numbers: [Int64] = [.min, -1, 1 << 51, 1 << 62, .max]
  private static let keys = (0..<8).map { "\($0)" } + ["large"]

  private static func value(of key: String) -> Data {
    CacheFixture.bytes(key == "large" ? 200_000 : 300, seed: UInt64(key) ?? 9)
  }

  private func fill(_ cache: DiskCache) {
    for key in Self.keys {
      cache.setData(Self.value(of: key), for: key, timeToLive: .seconds(1000), tags: ["tag"])
    }
  }

  private func change(_ fixture: CacheFixture, _ sql: String, _ values: [SQLValue]) throws {
    let file = try SQLiteConnection(SQLiteOptions(.file(fixture.database.filePath)))
    try file.run(sql, values)
  }

  /// All calls, of which each may fail, and then those that must not.
  private func useAll(of cache: DiskCache) {
    for key in Self.keys {
      if let found = cache.data(for: key) { #expect(found == Self.value(of: key)) }
      guard let entry = cache.entry(for: key) else { continue }
      #expect(entry.size == Self.value(of: key).count)
      if let found = entry.data { #expect(found == Self.value(of: key)) }
      // Of some alone, since their rows get right sizes by it.
      guard key > "4" else { continue }
      cache.setMetadata(Data("metadata".utf8), for: key, ifStoredAs: entry.id)
    }
    _ = (cache.totalSize, cache.count)
    cache.removeValue(for: "1")
    cache.setData(Self.value(of: "2"), for: "2")
    cache.removeExpired()
    cache.removeValues(taggedWith: "tag")
    cache.removeValues(storedSince: .distantFuture)
    // The first call may be the one that finds the damage.
    cache.setData(Self.value(of: "3"), for: "3")
    #expect(cache.setData(Self.value(of: "3"), for: "3"))
    #expect(cache.data(for: "3") == Self.value(of: "3"))
    // An entry whose number is another one may be left, and counts.
    #expect((300...300_000).contains(cache.totalSize))
    #expect(cache.removeAll())
    #expect(cache.count == 0)
    #expect(cache.totalSize == 0)
  }

  @Test(arguments: columns, numbers)
  func `survives any number`(column: String, number: Int64) throws {
    let words = column.components(separatedBy: " SET ")
    let table = words[0].components(separatedBy: " WHERE ")
    let condition = table.count == 2 ? "WHERE \(table[1])" : ""
    let sql = "UPDATE \(table[0]) SET \(words[1]) = ? \(condition)"
    // Under a cache that is open, before it is opened, and before it is opened in another run of the system.
    for moment in 0..<3 {
      let fixture = try CacheFixture()
      let reports = Reports(for: fixture.url)
      let first = fixture.cache(.init(totalSizeLimit: 300_000))
      fill(first)
      try change(fixture, sql, [.integer(number)])
      if moment == 2 { try change(fixture, "UPDATE state SET boot = 'another'", []) }
      let cache = moment == 0 ? first : fixture.cache(.init(totalSizeLimit: 300_000))
      useAll(of: cache)
      #expect(Set(reports.codes).isSubset(of: [.cacheDamaged]))
    }
  }

  /// A length that the row's checksum confirms is no better.
  @Test(arguments: [.min, -1, 1 << 50, 1 << 50 + 1, .max] as [Int64], [true, false])
  func `survives a length that its checksum confirms`(length: Int64, isInFile: Bool) throws {
    let fixture = try CacheFixture()
    let cache = fixture.cache()
    let key = isInFile ? "large" : "1"
    cache.setData(Self.value(of: key), for: key)
    let found = try #require(cache.find(key)).entry
    var entry = found
    entry.length = Int(length)
    try change(
      fixture, "UPDATE contents SET length = ?, head = ?",
      [.integer(length), .integer(Int64(entry.head))])
    for cache in [cache, fixture.cache()] {
      #expect(cache.data(for: key) == nil)
      #expect(cache.entry(for: key) == nil)
      let id = DiskCache.Entry.ID(
        generation: try generation(of: fixture), number: entry.id)
      #expect(!cache.setMetadata(Data([1]), for: key, ifStoredAs: id))
    }
    #expect(cache.setData(Self.value(of: key), for: key))
    #expect(cache.data(for: key) == Self.value(of: key))
  }

  private func generation(of fixture: CacheFixture) throws -> Int64 {
    let file = try SQLiteConnection(SQLiteOptions(.file(fixture.database.filePath)))
    return try #require(try file.integer("SELECT generation FROM state"))
  }
}
