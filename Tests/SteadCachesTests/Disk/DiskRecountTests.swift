import CachesTestSupport
import Foundation
import SteadSQLite
import SteadTestSupport
import Testing

@testable import SteadCaches

/// Counts that a power cut left wrong: the first opening after a start of the system makes them anew.
@Suite(.hangLimit) struct DiskRecountTests {
  private let fixture: CacheFixture

  init() throws { fixture = try CacheFixture() }

  /// Fifty entries of 1,000 bytes each, with their keys, and then another run of the system with other counts.
  private func leave(_ change: String, boot: String = "another") throws {
    do {
      let cache = fixture.cache()
      for number in 10..<60 {
        #expect(cache.setData(CacheFixture.bytes(998, seed: UInt64(number)), for: "\(number)"))
      }
    }
    let file = try SQLiteConnection(SQLiteOptions(.file(fixture.database.filePath)))
    try file.run("UPDATE state SET \(change), boot = ?", [.text(boot)])
  }

  @Test(arguments: [
    "size = 0, count = 0", "size = 1, count = 1", "size = 1125899906842624, count = 1000000000",
    "sequence = 0", "sequence = 0, size = 0, count = 0",
  ])
  func countsAgainAfterAStartOfTheSystem(change: String) throws {
    try leave(change)
    let reports = Reports(for: fixture.url)
    let cache = fixture.cache()
    #expect(cache.count == 50)
    #expect(cache.totalSize == 50_000)
    for number in 10..<60 {
      #expect(cache.data(for: "\(number)") == CacheFixture.bytes(998, seed: UInt64(number)))
    }
    // A number that was given twice would be taken for damage.
    #expect(cache.setData(CacheFixture.bytes(998), for: "60"))
    #expect(cache.count == 51)
    #expect(cache.totalSize == 51_000)
    cache.removeAll()
    #expect(cache.count == 0)
    #expect(cache.totalSize == 0)
    #expect(reports.codes == [])
  }

  @Test(arguments: ["size = 0, count = 0", "size = 1125899906842624, count = 1000000000"])
  func keepsItsLimitsAfterAStartOfTheSystem(change: String) throws {
    try leave(change)
    let cache = fixture.cache(.init(totalSizeLimit: 20_000, countLimit: 1000))
    #expect(cache.count == 20)
    #expect(cache.totalSize == 20_000)
    // Those that were used last are left, and not all are gone because of a count that was too great.
    #expect((40..<60).allSatisfy { cache.data(for: "\($0)") != nil })
    #expect(cache.setData(CacheFixture.bytes(998), for: "60"))
    #expect(cache.totalSize == 20_000)
  }

  /// Within one run of the system nothing can have got lost, and counting costs a look at every entry.
  @Test func countsOnceInARunOfTheSystem() throws {
    try leave("size = 0, count = 0")
    #expect(fixture.cache().count == 50)
    try leave("size = 7000, count = 7", boot: BootIdentifier.current)
    #expect(fixture.cache().count == 7)
  }
}
