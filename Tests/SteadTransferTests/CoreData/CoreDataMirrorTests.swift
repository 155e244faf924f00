import Foundation
import SwiftData
import Testing

@testable import SteadTransfer

/// Stores with ordered relationships and files of large values that CloudKit mirrors: with the tables of
/// `NSPersistentCloudKitContainer`, and without.
@Suite struct CoreDataMirrorTests {
  /// The entities of Core Data's own that a mirrored store has. Not every table is named as its entity is.
  private static let mirror = [
    ("CHANGE", "ACHANGE"), ("TRANSACTION", "ATRANSACTION"),
    ("TRANSACTIONSTRING", "ATRANSACTIONSTRING"), ("NSCKDatabaseMetadata", "ANSCKDATABASEMETADATA"),
    ("NSCKEvent", "ANSCKEVENT"), ("NSCKExportedObject", "ANSCKEXPORTEDOBJECT"),
    ("NSCKExportMetadata", "ANSCKEXPORTMETADATA"), ("NSCKExportOperation", "ANSCKEXPORTOPERATION"),
    ("NSCKHistoryAnalyzerState", "ANSCKHISTORYANALYZERSTATE"),
    ("NSCKImportOperation", "ANSCKIMPORTOPERATION"),
    ("NSCKImportPendingRelationship", "ANSCKIMPORTPENDINGRELATIONSHIP"),
    ("NSCKMetadataEntry", "ANSCKMETADATAENTRY"),
    ("NSCKMirroredRelationship", "ANSCKMIRROREDRELATIONSHIP"),
    ("NSCKMirroredRelationship_systemFieldsAsset", "ANSCKMIRROREDRELATIONSHIPSYSTEMFIELDSASSET"),
    ("NSCKRecordMetadata", "ANSCKRECORDMETADATA"),
    ("NSCKRecordMetadata_encodedRecordAsset", "ANSCKRECORDMETADATAENCODEDRECORDASSET"),
    ("NSCKRecordZoneMetadata", "ANSCKRECORDZONEMETADATA"),
    ("NSCKRecordZoneMoveReceipt", "ANSCKRECORDZONEMOVERECEIPT"),
    ("NSCKRecordZoneQuery", "ANSCKRECORDZONEQUERY"),
  ]

  /// The tables and rows that mirroring adds to a store; the first relate to the record of track 1.
  private static func mirroring() -> String {
    mirror.enumerated().map { index, entity in
      let number = (index < 3 ? 16_001 : 17_000) + index
      return """
        INSERT INTO Z_PRIMARYKEY VALUES (\(number), '\(entity.0)', 0, 2);
        CREATE TABLE \(entity.1) (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER,
          ZENTITYID INTEGER, ZENTITYPK INTEGER, ZNEEDSCLOUDDELETE INTEGER, ZCKRECORDNAME VARCHAR,
          ZENCODEDRECORD BLOB);
        INSERT INTO \(entity.1) VALUES (1, \(number), 1, 4, 1, 0, 'A1B2', x'62706c697374'),
          (2, \(number), 1, 99, 7, 1, 'C3D4', NULL);
        """
    }.joined(separator: "\n")
  }

  private static let system = "Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER"
  private static let tables = """
    CREATE TABLE ZALBUM (\(system), ZNAME VARCHAR);
    CREATE TABLE ZNOTE (\(system), Z1NOTES INTEGER, Z_FOK_1NOTES INTEGER, ZTEXT VARCHAR);
    CREATE TABLE ZPLAYLIST (\(system), ZNAME VARCHAR);
    CREATE TABLE ZTRACK (\(system), ZALBUM INTEGER, Z_FOK_ALBUM INTEGER, ZNAME VARCHAR);
    CREATE TABLE ZPHOTO (\(system), ZNAME VARCHAR, ZIMAGE BLOB, ZPREVIEW BLOB);
    CREATE TABLE Z_3TRACKS (Z_3PLAYLISTS INTEGER, Z_4TRACKS INTEGER, Z_FOK_4TRACKS INTEGER,
      PRIMARY KEY (Z_3PLAYLISTS, Z_4TRACKS));

    """

  /// What a store has, and what the import must find.
  private struct Contents {
    var sql = ""
    var albums: [String: [String]] = [:]
    var notes: [String: [String]] = [:]
    var playlists: [String: [String]] = [:]
    var images: [String: Data] = [:]
    var files: [String: Data] = [:]

    init(_ random: inout SplitMix) {
      let counts = (0..<4).map { _ in Int.random(in: 1...5, using: &random) }
      for (entity, (table, count)) in zip(["ALBUM", "PLAYLIST"], counts).enumerated() {
        for number in 1...count {
          sql += "INSERT INTO Z\(table) VALUES (\(number), \(entity * 2 + 1), 1, '\(number)');\n"
        }
      }
      albums = addMembers("TRACK", 4, 12, counts[0], &random)
      notes = addMembers("NOTE", 2, 9, counts[0], &random)
      for list in 1...counts[1] {
        let chosen = (1...12).filter { _ in Bool.random(using: &random) }.shuffled(using: &random)
        var place = 0
        for track in chosen {
          place += Int.random(in: 1...3_000, using: &random)
          sql += "INSERT INTO Z_3TRACKS VALUES (\(list), \(track), \(place));\n"
        }
        playlists["\(list)"] = chosen.map(String.init)
      }
      addPhotos(counts[2] + counts[3], &random)
    }

    /// Rows that refer to an album in an order; rows without a place are the last.
    private mutating func addMembers(
      _ table: String, _ entity: Int, _ count: Int, _ albums: Int, _ random: inout SplitMix
    ) -> [String: [String]] {
      var members = Dictionary(uniqueKeysWithValues: (1...albums).map { ("\($0)", [String]()) })
      var rows = Dictionary(
        grouping: (1...count).map { ($0, Int.random(in: 0...albums, using: &random)) }, by: \.1)
      for (number, _) in rows.removeValue(forKey: 0) ?? [] {
        sql += "INSERT INTO Z\(table) VALUES (\(number), \(entity), 1, NULL, NULL, '\(number)');\n"
      }
      for (album, found) in rows.sorted(by: { $0.key < $1.key }) {
        var (place, order) = (0, found.map(\.0).shuffled(using: &random))
        let last = Bool.random(using: &random) ? order.removeLast() : nil
        for number in order {
          place += Int.random(in: 1...3_000, using: &random)
          sql +=
            "INSERT INTO Z\(table) VALUES (\(number), \(entity), 1, \(album), \(place), '\(number)');\n"
        }
        if let last {
          sql +=
            "INSERT INTO Z\(table) VALUES (\(last), \(entity), 1, \(album), NULL, '\(last)');\n"
        }
        members["\(album)"] = (order + (last.map { [$0] } ?? [])).map(String.init)
      }
      return members
    }

    /// Images in the rows and in files.
    private mutating func addPhotos(_ count: Int, _ random: inout SplitMix) {
      for number in 1...count {
        let image = Data(
          (0..<Int.random(in: 0...200, using: &random)).map { _ in
            UInt8.random(in: 0...255, using: &random)
          })
        var stored = "x'01" + image.map { String(format: "%02x", $0) }.joined() + "'"
        if Bool.random(using: &random) {
          let name = "0D3C1B2A-5E6F-4A7B-8C9D-0E1F2A3B4C\(10 + number)"
          stored = "CAST(x'02' || '\(name)' || x'00' AS BLOB)"
          files[name] = image
        }
        images["\(number)"] = image
        sql += "INSERT INTO ZPHOTO VALUES (\(number), 5, 1, '\(number)', \(stored), NULL);\n"
      }
    }
  }

  @Test(arguments: [false, true], 0..<4)
  func `orders and external data come over`(isMirrored: Bool, seed: Int) async throws {
    var random = SplitMix(seed: UInt64(seed))
    for _ in 0..<Effort.times(2) {
      let contents = Contents(&random)
      let fixture = try CoreDataFixture(
        entities: [
          .init(1, "Album"), .init(2, "Note"), .init(3, "Playlist"), .init(4, "Track"),
          .init(5, "Photo"),
        ], Self.tables + contents.sql + (isMirrored ? Self.mirroring() : ""))
      let files = fixture.directory.url.appending(path: ".built_SUPPORT/_EXTERNAL_DATA")
      try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
      for (name, image) in contents.files { try image.write(to: files.appending(path: name)) }
      let before = try fixture.state()
      let container = try memoryContainer(
        Music.Playlist.self, Music.Track.self, Music.Album.self, Music.Note.self,
        Gallery.Photo.self)
      let report = try fixture.importing(to: container).run()
      #expect(report.skippedTables.count == (isMirrored ? Self.mirror.count : 0))
      #expect(report.leftOutValues.isEmpty && report.danglingLinks.isEmpty)
      try expect(contents, in: ModelContext(container))
      #expect(try fixture.state() == before)
      // The store is recognized, although mirroring has changed its own tables since.
      if isMirrored { try fixture.run("UPDATE ANSCKRECORDMETADATA SET ZNEEDSCLOUDDELETE = 1;") }
      let second = try fixture.importing(to: container).run()
      #expect(second.transfer.moved == 0)
      await Task.yield()
    }
  }

  private func expect(_ contents: Contents, in context: ModelContext) throws {
    let albums = try context.fetch(FetchDescriptor<Music.Album>())
    #expect(albums.count == contents.albums.count)
    for album in albums {
      #expect(album.tracks.map(\.name) == contents.albums[album.name])
      #expect(album.notes.map(\.text) == contents.notes[album.name])
    }
    let playlists = try context.fetch(FetchDescriptor<Music.Playlist>())
    #expect(playlists.count == contents.playlists.count)
    for list in playlists {
      #expect(list.tracks.map(\.name) == contents.playlists[list.name])
    }
    let photos = try context.fetch(FetchDescriptor<Gallery.Photo>())
    #expect(photos.count == contents.images.count)
    for photo in photos { #expect(photo.image == contents.images[photo.name]) }
  }

  @Test func `a table of Core Data's own that is missing is no damage`() throws {
    let fixture = try CoreDataFixture(
      entities: [.init(5, "Photo")],
      Self.tables + """
        INSERT INTO Z_PRIMARYKEY VALUES (17004, 'NSCKEvent', 0, 7);
        INSERT INTO ZPHOTO VALUES (1, 5, 1, 'one', NULL, NULL);
        """)
    let container = try memoryContainer(Gallery.Photo.self)
    try fixture.importing(to: container).run()
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Gallery.Photo>()) == 1)
  }
}
