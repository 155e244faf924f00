import CachesTestSupport
import Foundation
import SteadFiles
import SteadSQLite
import SteadTestSupport
import Synchronization
import Testing

@testable import SteadCaches

/// Files that are damaged, of another version, replaced or cut off under a cache: misses, one report, and on.
@Suite(.hangLimit, .serialized) struct DiskDamageTests {
  private let fixture: CacheFixture

  init() throws { fixture = try CacheFixture() }

  private func fill(_ cache: DiskCache) {
    for number in 0..<50 {
      cache.setData(CacheFixture.bytes(number * 100, seed: UInt64(number)), for: "\(number)")
    }
    cache.setData(CacheFixture.bytes(300_000), for: "large")
  }

  /// What is found is what was set, and the cache works.
  private func check(_ cache: DiskCache) {
    for number in 0..<50 {
      guard let found = cache.data(for: "\(number)") else { continue }
      #expect(found == CacheFixture.bytes(number * 100, seed: UInt64(number)))
    }
    if let found = cache.data(for: "large") { #expect(found == CacheFixture.bytes(300_000)) }
    // One that adds an entry, one that replaces it, and one with a file: each may be the first to find the damage, and
    // then nothing else remains.
    #expect(cache.setData(Data("old".utf8), for: "new"))
    #expect(cache.setData(Data("new".utf8), for: "new"))
    #expect(cache.data(for: "new") == Data("new".utf8))
    #expect(cache.setData(CacheFixture.bytes(200_000), for: "new large"))
    #expect(cache.data(for: "new large") == CacheFixture.bytes(200_000))
  }

  @Test(arguments: ["", "garbage", "SQLite format 3\u{0}"])
  func `replaces what is no database`(contents: String) throws {
    fill(fixture.cache())
    for end in ["-wal", "-shm"] {
      try FileManager.default.removeItem(atPath: fixture.database.filePath + end)
    }
    var data = Data(contents.utf8)
    if !data.isEmpty { data.append(CacheFixture.bytes(100_000)) }
    try data.write(to: fixture.database)
    let reports = Reports(for: fixture.url)
    check(fixture.cache())
    #expect(reports.codes == (contents.isEmpty ? [] : [.cacheDamaged]))
    #expect(fixture.valueNames.count == 1)  // The one of the check.
  }

  @Test(arguments: [
    "PRAGMA user_version = 2", "PRAGMA application_id = 7", "DROP TABLE tags",
    "CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM contents; END",
    "DELETE FROM state", "UPDATE state SET salt = 'x'",
  ])
  func `replaces a file of another version`(change: String) throws {
    fill(fixture.cache())
    try ToolRun.text([
      "python3", "-c",
      "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute(sys.argv[2]); c.commit()",
      fixture.database.filePath, change,
    ])
    let reports = Reports(for: fixture.url)
    check(fixture.cache())
    #expect(reports.codes == [.cacheDamaged])
  }

  /// Every field of a row counts for its checksum.
  @Test(arguments: [
    "stored = stored - 1", "expires = expires - 1", "id = id + 1000", "metadata = 'x'",
    "key = 'b'", "tags = x'0100000078'", "length = length - 1", "body = body + 1", "form = 1",
    "value = 'one'",
  ])
  func `a row that somebody has changed is a miss`(change: String) throws {
    let cache = fixture.cache()
    cache.setData(Data("two".utf8), for: "a")
    try ToolRun.text([
      "python3", "-c",
      "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute(sys.argv[2]); "
        + "c.execute('UPDATE entries SET id = (SELECT id FROM contents)'); c.commit()",
      fixture.database.filePath, "UPDATE contents SET \(change)",
    ])
    #expect(fixture.cache().data(for: "a") == nil)
    #expect(fixture.cache().entry(for: "a") == nil)
  }

  @Test(arguments: [0, 1, 4096, 50_000])
  func `goes on when the file is cut off`(length: Int) throws {
    let cache = fixture.cache()
    fill(cache)
    // What the log has is put into the file, so that it is the file that is read.
    cache.database.reclaimSpace()
    truncate(fixture.database.filePath, off_t(length))
    let reports = Reports(for: fixture.url)
    check(cache)
    #expect(reports.codes.count <= 1)
    check(fixture.cache())
  }

  /// The set went to the log alone, of which readers had nothing without the file's first page, and it returned true.
  @Test(arguments: [0, 1])
  func `a value that is set right after the file is emptied is found`(length: Int) throws {
    let cache = fixture.cache()
    cache.setData(Data("old".utf8), for: "old")
    cache.database.reclaimSpace()
    truncate(fixture.database.filePath, off_t(length))
    let reports = Reports(for: fixture.url)
    #expect(cache.setData(Data("new".utf8), for: "new"))
    #expect(cache.data(for: "new") == Data("new".utf8))
    #expect(fixture.cache().data(for: "new") == Data("new".utf8))
    #expect(cache.keys() == ["new"])
    #expect(reports.codes == [.cacheDamaged])
  }

  /// More tags than one transaction removes, in front of those of entries.
  @Test func `removes by tag past tags without entries`() throws {
    let cache = fixture.cache()
    for number in 0..<20 { cache.setData(Data(), for: "\(number)", tags: ["t"]) }
    let connection = try SQLiteConnection(SQLiteOptions(.file(fixture.database.filePath)))
    try connection.execute(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
      INSERT INTO tags SELECT CAST('t' AS BLOB), -i FROM n;
      UPDATE contents SET key = x'00' WHERE id = 1
      """)
    #expect(cache.removeValues(taggedWith: "t"))
    for number in 0..<20 { #expect(cache.data(for: "\(number)") == nil) }
    #expect(try connection.integer("SELECT count(*) FROM tags") == 0)
  }

  @Test func `sets do not wait again for a lock that is not given back`() throws {
    let cache = fixture.cache()
    cache.setData(Data(), for: "a")
    let holder = try SQLiteConnection(SQLiteOptions(.file(fixture.database.filePath)))
    try holder.run("BEGIN IMMEDIATE")
    #expect(!cache.setData(Data([1]), for: "a"))
    #expect(!cache.removeValue(for: "a"))
    #expect(cache.database.waitCount == 1)
    for _ in 0..<50 { #expect(!cache.setData(Data([1]), for: "a")) }
    #expect(cache.database.waitCount == 1)
    try holder.run("ROLLBACK")
    #expect(cache.setData(Data([2]), for: "a"))
    #expect(cache.removeValue(for: "a"))
  }

  @Test func `goes on when the file is replaced`() throws {
    let cache = fixture.cache()
    fill(cache)
    try CacheFixture.bytes(50_000).write(to: fixture.parent.file("other"))
    #expect(rename(fixture.parent.file("other").filePath, fixture.database.filePath) == 0)
    check(cache)
    #expect(fixture.cache().data(for: "new") == Data("new".utf8))
  }

  /// A further reader must not make a file that the umask lets others read.
  @Test func `a reader makes no file`() throws {
    let cache = fixture.cache()
    cache.setData(Data([1]), for: "a")
    _ = cache.database.read { _, _ in
      for end in ["", "-wal", "-shm"] {
        try FileManager.default.removeItem(atPath: fixture.database.filePath + end)
      }
      #expect(cache.data(for: "a") == nil)
    }
    #expect(!FileManager.default.fileExists(atPath: fixture.database.filePath))
    #expect(cache.setData(Data([2]), for: "a"))
    #expect(try fixture.database.mode & 0o777 == 0o600)
  }

  @Test func `goes on when the directory is removed`() throws {
    let cache = fixture.cache()
    fill(cache)
    try FileManager.default.removeItem(at: fixture.url)
    let reports = Reports(for: fixture.url)
    check(cache)
    #expect(reports.codes == [])
    #expect(fixture.cache().data(for: "new") == Data("new".utf8))
  }

  @Test func `never finds bytes that were not set`() throws {
    var random = SplitMix(seed: Effort.seed)
    for _ in 0..<Effort.times(60) {
      let fixture = try CacheFixture()
      do {
        let cache = fixture.cache()
        fill(cache)
        cache.database.reclaimSpace()
      }
      var data = try Data(contentsOf: fixture.database)
      for _ in 0..<Int.random(in: 1...8, using: &random) { data.mutate(using: &random) }
      try data.write(to: fixture.database)
      let reports = Reports(for: fixture.url)
      check(fixture.cache())
      #expect(reports.codes.allSatisfy { $0 == .cacheDamaged })
    }
  }

  /// What finds the damage: each way in which a value is stored.
  enum Finder: CaseIterable {
    case set, replace, large, writer, metadata, load
  }

  // A set that found the damage was lost, and so were all sets of the second after the opening.
  @Test(arguments: Finder.allCases, ["entries_by_hash", "contents", "tags", "state"])
  func `a value that is set into a damaged file is in the new one`(
    finder: Finder, table: String
  ) async throws {
    let cache = DiskCache(directory: fixture.url)
    cache.setData(Data("old".utf8), for: "old", tags: ["t"])
    let entry = try #require(cache.entry(for: "old"))
    try overwrite(table)
    let (key, data) = ("new", CacheFixture.bytes(finder == .large ? 200_000 : 100))
    switch finder {
    case .set, .large: #expect(cache.setData(data, for: key, tags: ["t"]))
    case .replace: #expect(cache.setData(data, for: "old", tags: ["t"]))
    case .writer:
      let writer = cache.writer(for: key)
      writer.append(data)
      #expect(writer.commit())
    case .metadata: cache.setMetadata(Data([1]), for: "old", ifStoredAs: entry.id)
    case .load: #expect(try await cache.data(for: key) { data } == data)
    }
    if finder == .metadata { #expect(cache.setData(data, for: key)) }
    #expect(cache.data(for: finder == .replace ? "old" : key) == data)
    #expect(DiskCache(directory: fixture.url).data(for: finder == .replace ? "old" : key) == data)
    #expect(fixture.valueNames.count == (finder == .large ? 1 : 0))
  }

  /// Fills the first page of a table or index with nonsense, which open connections find at their next use of it.
  private func overwrite(_ table: String) throws {
    let connection = try SQLiteConnection(SQLiteOptions(.file(fixture.database.filePath)))
    let root = try connection.integer(
      "SELECT rootpage FROM sqlite_schema WHERE name = ?", [.text(table)])
    let size = try connection.integer("PRAGMA page_size")
    _ = try connection.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    let file = try FileHandle(forUpdating: fixture.database)
    try file.seek(toOffset: UInt64(try #require(root) - 1) * UInt64(try #require(size)))
    try file.write(contentsOf: Data(repeating: 0xEE, count: Int(try #require(size))))
    try file.close()
  }

  @Test func `finds nothing in a damaged file of a value`() async throws {
    let cache = fixture.cache()
    fill(cache)
    let file = fixture.values.file(try #require(fixture.valueNames.first))
    let contents = try Data(contentsOf: file)
    // The beginning, a block's checksum, a byte of the second block, and the last byte.
    for place in [0, 7, 8, 100, 65_549, 70_000, contents.count - 1] {
      let entry = try #require(cache.entry(for: "large"))
      var damaged = contents
      damaged[place] ^= 1
      try damaged.write(to: file)
      #expect(cache.data(for: "large") == nil, "\(place)")
      try contents.write(to: file)
      #expect(cache.data(for: "large") == CacheFixture.bytes(300_000))
      #expect(entry.data == CacheFixture.bytes(300_000))
    }
    try contents.dropLast().write(to: file)
    #expect(cache.data(for: "large") == nil)
    var damaged = contents
    damaged[140_000] ^= 1
    try damaged.write(to: file)
    let entry = try #require(cache.entry(for: "large"))
    var read = Data()
    await #expect(throws: FileError.self) {
      for try await chunk in entry.chunks() { read.append(chunk) }
    }
    #expect(read == CacheFixture.bytes(300_000).prefix(read.count))
    try FileManager.default.removeItem(at: file)
    #expect(cache.data(for: "large") == nil)
  }

  @Test func `sweeps what killed writers left`() throws {
    fill(fixture.cache())
    let names = fixture.valueNames
    for name in ["new-1234", "1-1", "ff-7", "nonsense"] {
      try Data([1]).write(to: fixture.values.file(name))
    }
    let cache = fixture.cache()
    #expect(cache.data(for: "large") == CacheFixture.bytes(300_000))
    #expect(fixture.valueNames == names)
    let writer = cache.writer(for: "a")
    writer.append(CacheFixture.bytes(200_000))
    #expect(fixture.valueNames.count == 2)
    // One that is at work is left alone.
    #expect(fixture.cache().data(for: "large") != nil)
    #expect(fixture.valueNames.count == 2)
    #expect(writer.commit())
    #expect(fixture.cache().data(for: "a") == CacheFixture.bytes(200_000))
    do {
      let abandoned = cache.writer(for: "b")
      abandoned.append(CacheFixture.bytes(200_000))
    }
    #expect(fixture.valueNames.count == 2)
  }
}

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
  func `counts again after a start of the system`(change: String) throws {
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
  func `keeps its limits after a start of the system`(change: String) throws {
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
  @Test func `counts once in a run of the system`() throws {
    try leave("size = 0, count = 0")
    #expect(fixture.cache().count == 50)
    try leave("size = 7000, count = 7", boot: BootIdentifier.current)
    #expect(fixture.cache().count == 7)
  }
}
