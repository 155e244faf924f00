import Foundation
import SteadTransfer
import SwiftData
import Testing

/// Stores that the `sqlite3` tool builds in Core Data's layout, for what the real ones lack.
@Suite struct BuiltStoreTests {
  private static let system = "Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER"

  private func music(_ more: String = "") throws -> CoreDataFixture {
    try CoreDataFixture(
      entities: [.init(1, "Album"), .init(2, "Note"), .init(3, "Playlist"), .init(4, "Track")],
      """
      CREATE TABLE ZALBUM (\(Self.system), ZNAME VARCHAR);
      CREATE TABLE ZNOTE (\(Self.system), Z1NOTES INTEGER, Z_FOK_1NOTES INTEGER, ZTEXT VARCHAR);
      CREATE TABLE ZPLAYLIST (\(Self.system), ZNAME VARCHAR);
      CREATE TABLE ZTRACK (\(Self.system), ZALBUM INTEGER, Z_FOK_ALBUM INTEGER, ZNAME VARCHAR);
      CREATE TABLE Z_3TRACKS (Z_3PLAYLISTS INTEGER, Z_4TRACKS INTEGER, Z_FOK_4TRACKS INTEGER,
        PRIMARY KEY (Z_3PLAYLISTS, Z_4TRACKS));
      INSERT INTO ZALBUM VALUES (1, 1, 1, 'First'), (2, 1, 1, 'Second');
      INSERT INTO ZNOTE VALUES (1, 2, 1, 2, 2048, 'late'), (2, 2, 1, 2, 1024, 'early'),
        (3, 2, 1, NULL, NULL, 'loose');
      INSERT INTO ZTRACK VALUES (1, 4, 1, 1, 3000, 'a'), (2, 4, 1, 1, 1000, 'b'),
        (3, 4, 1, 1, 2000, 'c'), (4, 4, 1, NULL, NULL, 'd');
      INSERT INTO ZPLAYLIST VALUES (1, 3, 1, 'Evening'), (2, 3, 1, 'Empty'), (3, 3, 1, 'Night');
      INSERT INTO Z_3TRACKS VALUES (1, 1, 30), (1, 2, 10), (1, 4, 20), (3, 4, 1), (3, 2, 2);
      \(more)
      """)
  }

  private func musicContainer() throws -> ModelContainer {
    try memoryContainer(
      Music.Playlist.self, Music.Track.self, Music.Album.self, Music.Note.self)
  }

  @Test func `pairs and orders come over`() throws {
    let container = try musicContainer()
    let report = try music().importing(to: container).run()
    let context = ModelContext(container)
    let playlists = try context.fetch(FetchDescriptor<Music.Playlist>()).map {
      "\($0.name): \($0.tracks.map(\.name).joined())"
    }
    #expect(playlists.sorted() == ["Empty: ", "Evening: bda", "Night: db"])
    let tracks = try context.fetch(FetchDescriptor<Music.Track>()).map {
      "\($0.name): \($0.playlists.map(\.name).sorted().joined(separator: ","))"
    }
    #expect(tracks.sorted() == ["a: Evening", "b: Evening,Night", "c: ", "d: Evening,Night"])
    let albums = try context.fetch(FetchDescriptor<Music.Album>()).map {
      "\($0.name): \($0.tracks.map(\.name).joined()) \($0.notes.map(\.text).joined(separator: ","))"
    }
    #expect(albums.sorted() == ["First: bca ", "Second:  early,late"])
    #expect(report.links["Playlist.tracks"] == 5 && report.links["Track.playlists"] == 5)
    #expect(report.links["Album.tracks"] == 3 && report.links["Track.album"] == 3)
    #expect(report.links["Album.notes"] == 2)
  }

  @Test func `rows added later join those that came first`() throws {
    let (fixture, container) = (try music(), try musicContainer())
    try fixture.importing(to: container).run()
    try fixture.run(
      """
      INSERT INTO ZTRACK VALUES (9, 4, 1, 2, 1, 'new');
      INSERT INTO Z_3TRACKS VALUES (2, 9, 1);
      """)
    let report = try fixture.importing(to: container).run()
    #expect(report.transfer.moved == 1 && report.transfer.alreadyMoved == 12)
    let context = ModelContext(container)
    let tracks = try context.fetch(FetchDescriptor<Music.Track>())
    #expect(tracks.map(\.name).sorted() == ["a", "b", "c", "d", "new"])
    let new = try #require(tracks.first { $0.name == "new" })
    #expect(new.album?.name == "Second")
    #expect(new.playlists.map(\.name) == ["Empty"])
  }

  @Test func `a reference to no row is counted`() throws {
    let container = try musicContainer()
    let report = try music(
      """
      UPDATE ZTRACK SET ZALBUM = 77 WHERE Z_PK = 3;
      INSERT INTO Z_3TRACKS VALUES (2, 55, 1);
      """
    ).importing(to: container).run()
    #expect(report.danglingLinks == ["Track.album": 1, "Playlist.tracks": 1])
    let context = ModelContext(container)
    #expect(try context.fetchCount(FetchDescriptor<Music.Track>()) == 4)
    let albums = try context.fetch(FetchDescriptor<Music.Album>())
    #expect(albums.first { $0.name == "First" }?.tracks.map(\.name) == ["b", "a"])
  }

  @Test func `a relationship to itself comes over`() throws {
    let container = try memoryContainer(Circle.Member.self)
    let fixture = try CoreDataFixture(
      entities: [.init(1, "Member")],
      """
      CREATE TABLE ZMEMBER (\(Self.system), ZMENTOR INTEGER, ZNAME VARCHAR);
      CREATE TABLE Z_1FRIENDS (Z_1FRIENDS INTEGER, REFLEXIVE INTEGER,
        PRIMARY KEY (Z_1FRIENDS, REFLEXIVE));
      INSERT INTO ZMEMBER VALUES (1, 1, 1, NULL, 'Ada'), (2, 1, 1, 1, 'Ben'), (3, 1, 1, 1, 'Cem'),
        (4, 1, 1, 4, 'Eve');
      INSERT INTO Z_1FRIENDS VALUES (1, 2), (2, 1), (3, 2);
      """)
    try fixture.importing(to: container).run()
    let members = try ModelContext(container).fetch(FetchDescriptor<Circle.Member>()).map {
      let friends = $0.friends.map(\.name).sorted().joined(separator: "+")
      let pupils = $0.pupils.map(\.name).sorted().joined(separator: "+")
      return "\($0.name) \(friends) \(pupils) \($0.mentor?.name ?? "")"
    }
    #expect(
      members.sorted() == ["Ada Ben Ben+Cem ", "Ben Ada+Cem  Ada", "Cem Ben  Ada", "Eve  Eve Eve"])
  }

  /// Both rows have the other's number, or one of them alone, or one table has no column for it.
  @Test(arguments: [
    "", "UPDATE ZPASSPORT SET ZHOLDER = NULL;", "ALTER TABLE ZPASSPORT DROP ZHOLDER;",
  ])
  func `a relationship of one-to-one comes over`(_ change: String) throws {
    let container = try memoryContainer(Passports.Holder.self)
    let fixture = try CoreDataFixture(
      entities: [.init(1, "Holder"), .init(2, "Passport")],
      """
      CREATE TABLE ZHOLDER (\(Self.system), ZNAME VARCHAR, ZPASSPORT INTEGER);
      CREATE TABLE ZPASSPORT (\(Self.system), ZNUMBER INTEGER, ZHOLDER INTEGER);
      INSERT INTO ZHOLDER VALUES (1, 1, 1, 'Ada', 7), (2, 1, 1, 'Ben', NULL);
      INSERT INTO ZPASSPORT VALUES (7, 2, 1, 700, 1), (8, 2, 1, 800, NULL);
      \(change)
      """)
    let report = try fixture.importing(to: container).run()
    #expect(report.links["Holder.passport"] == 1 && report.missingProperties.isEmpty)
    let passports = try ModelContext(container).fetch(FetchDescriptor<Passports.Passport>()).map {
      "\($0.number) \($0.holder?.name ?? "") \($0.holder?.passport?.number ?? 0)"
    }
    #expect(passports.sorted() == ["700 Ada 700", "800  0"])
  }

  // MARK: Values

  private func diary(_ row: String, prepare: String = "") throws -> CoreDataFixture {
    try CoreDataFixture(
      entities: [.init(1, "Entry")],
      """
      CREATE TABLE ZENTRY (\(Self.system), ZISDONE INTEGER, ZDATE TIMESTAMP, ZPRICE DECIMAL,
        ZPLACE_HEIGHT FLOAT, ZPLACE_SINCE TIMESTAMP, ZPLACE_CITY VARCHAR, ZNAME VARCHAR,
        ZLINK VARCHAR, ZMOOD VARCHAR, ZTAGS BLOB, ZNUMBERS BLOB, ZIDENTIFIER BLOB);
      INSERT INTO ZENTRY (Z_PK, Z_ENT, ZNAME) VALUES (1, 1, 'one');
      UPDATE ZENTRY SET \(row);
      """)
  }

  private func entry(_ row: String) throws -> Diary.Entry {
    let container = try memoryContainer(Diary.Entry.self)
    var mapping = CoreDataMapping()
    mapping.acceptsDefaults = true
    try diary(row).importing(to: container, mapping: mapping).run()
    let entries = try ModelContext(container).fetch(FetchDescriptor<Diary.Entry>())
    #expect(entries.count == 1)
    return try #require(entries.first)
  }

  private func literal(_ data: Data) -> String {
    "x'" + data.map { String(format: "%02x", $0) }.joined() + "'"
  }

  @Test func `plain values come over`() throws {
    let entry = try entry(
      """
      ZISDONE = 1, ZDATE = 700000000, ZMOOD = 'bright', ZLINK = 'https://example.org/a?b=1',
      ZIDENTIFIER = x'173EF01785514A76AD0719D8830FDC80', ZPLACE_CITY = 'Rome', ZPLACE_HEIGHT = 21,
      ZPLACE_SINCE = 1.5
      """)
    #expect(entry.isDone && entry.mood == .bright)
    #expect(entry.date == Date(timeIntervalSinceReferenceDate: 700_000_000))
    #expect(entry.link == URL(string: "https://example.org/a?b=1"))
    #expect(entry.identifier == UUID(uuidString: "173EF017-8551-4A76-AD07-19D8830FDC80"))
    let since = Date(timeIntervalSinceReferenceDate: 1.5)
    #expect(entry.place == Diary.Place(city: "Rome", height: 21, since: since))
  }

  @Test(arguments: [
    ("3.3333333333", "3.3333333333"), ("10.11", "10.11"), ("12", "12"), ("0.1 + 0.2", "0.3"),
    ("'123456789012345678901234.5'", "123456789012345678901234.5"), ("-0.07", "-0.07"),
    ("1234567890123.4567", "1234567890123.4568"),
  ])
  func `decimals come over`(_ stored: String, _ wanted: String) throws {
    // Text that the column's type would make a number of is kept out of the way of that.
    let value = stored.hasPrefix("'") ? "CAST(\(stored) AS TEXT)" : stored
    let entry = try entry("ZPRICE = \(value)")
    if stored.hasPrefix("'") {
      // SQLite itself has made it a number; what is left of it comes over.
      #expect(entry.price.map { "\($0)".hasPrefix("1234567890123456") } == true)
    } else {
      #expect(entry.price == Decimal(string: wanted))
    }
  }

  @Test func `arrays in property lists and archives come over`() throws {
    let list = try PropertyListSerialization.data(
      fromPropertyList: ["x", "ü"], format: .binary, options: 0)
    let archive = try NSKeyedArchiver.archivedData(
      withRootObject: [7, 8] as NSArray, requiringSecureCoding: true)
    let entry = try entry("ZTAGS = \(literal(list)), ZNUMBERS = \(literal(archive))")
    #expect(entry.tags == ["x", "ü"] && entry.numbers == [7, 8])
    let url = try #require(NSURL(string: "https://example.org/a?b=1"))
    let link = try NSKeyedArchiver.archivedData(withRootObject: url, requiringSecureCoding: true)
    let linked = try self.entry("ZLINK = \(literal(link))")
    #expect(linked.link?.absoluteString == "https://example.org/a?b=1")
    let other = try self.entry("ZTAGS = \(literal(Data(#"["a","b"]"#.utf8)))")
    #expect(other.tags == ["a", "b"] && other.numbers == nil)
  }

  @Test(arguments: [
    "ZISDONE = 2", "ZDATE = 'yesterday'", "ZIDENTIFIER = x'00'", "ZMOOD = 'angry'",
    "ZTAGS = x'62706C6973743030FF'", "ZTAGS = x'00FF'", "ZNAME = NULL", "ZPRICE = x'00'",
    "ZNAME = CAST(x'FF41' AS TEXT)", "ZPLACE_CITY = 'Rome'",
  ])
  func `a value that does not fit keeps all back`(_ row: String) throws {
    let container = try memoryContainer(Diary.Entry.self)
    let fixture = try diary(row)
    var mapping = CoreDataMapping()
    mapping.acceptsDefaults = true
    let error = try transferError { try fixture.importing(to: container, mapping: mapping).run() }
    #expect(error.code == .notConverted && error.failures.count == 1, "\(error)")
    #expect(error.failures.first?.item == "Entry 1")
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Diary.Entry>()) == 0)
  }

  @Test func `what fits comes over when a part is accepted`() throws {
    let container = try musicContainer()
    let fixture = try music("UPDATE ZALBUM SET ZNAME = NULL WHERE Z_PK = 1;")
    let partial = fixture.importing(to: container, acceptsPartial: true)
    let report = try partial.run()
    #expect(report.transfer.failures.map(\.item) == ["Album 1"] && report.transfer.moved == 11)
    let context = ModelContext(container)
    #expect(try context.fetchCount(FetchDescriptor<Music.Track>()) == 4)
    // Mended, the row comes over, and those that were moved lead to it.
    try fixture.run("UPDATE ZALBUM SET ZNAME = 'Mended' WHERE Z_PK = 1;")
    #expect(try partial.run().transfer.moved == 1)
    let albums = try ModelContext(container).fetch(FetchDescriptor<Music.Album>())
    #expect(albums.first { $0.name == "Mended" }?.tracks.map(\.name) == ["b", "c", "a"])
  }
}
