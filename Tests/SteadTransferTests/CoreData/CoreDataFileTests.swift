import Foundation
import SteadTransfer
import SwiftData
import Testing

/// Large values in files beside the store.
@Suite struct CoreDataFileTests {
  private static let name = "0D3C1B2A-5E6F-4A7B-8C9D-0E1F2A3B4C5D"
  private let image = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

  /// A store whose photo 1 has its image in the row, and photo 2 has it in a file.
  private func gallery(
    reference: String = name, ending: String = "x'00'", preview: String = "NULL"
  ) throws -> CoreDataFixture {
    let fixture = try CoreDataFixture(
      entities: [.init(1, "Photo")],
      """
      CREATE TABLE ZPHOTO (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR,
        ZIMAGE BLOB, ZPREVIEW BLOB);
      INSERT INTO ZPHOTO VALUES (1, 1, 1, 'inline', x'01AABBCC', \(preview)),
        (2, 1, 1, 'file', CAST(x'02' || '\(reference)' || \(ending) AS BLOB), NULL),
        (3, 1, 1, 'none', NULL, NULL), (4, 1, 1, 'empty', x'01', NULL);
      """)
    try FileManager.default.createDirectory(
      at: files(of: fixture), withIntermediateDirectories: true)
    try image.write(to: files(of: fixture).appending(path: Self.name))
    return fixture
  }

  private func files(of fixture: CoreDataFixture) -> URL {
    fixture.directory.url.appending(path: ".built_SUPPORT/_EXTERNAL_DATA")
  }

  private func photos(in container: ModelContainer) throws -> [String: Gallery.Photo] {
    let photos = try ModelContext(container).fetch(FetchDescriptor<Gallery.Photo>())
    return Dictionary(uniqueKeysWithValues: photos.map { ($0.name, $0) })
  }

  @Test(arguments: ["x'00'", "''"])
  func `data in rows and files comes over`(ending: String) throws {
    let fixture = try gallery(ending: ending)
    let before = try fixture.state()
    let home = try TemporaryDirectory()
    let container = try ModelContainer(
      for: Gallery.Photo.self, configurations: ModelConfiguration(url: home.file("photos.store")))
    try fixture.importing(to: container).run()
    let photos = try photos(in: container)
    #expect(photos["inline"]?.image == Data([0xAA, 0xBB, 0xCC]))
    #expect(photos["file"]?.image == image)
    #expect(photos["none"] != nil && photos["none"]?.image == nil)
    #expect(photos["empty"]?.image == Data())
    #expect(try fixture.state() == before)
  }

  /// The property of the class is plain data; a file that is there shows that the attribute was not.
  @Test func `a file that is there tells of external storage`() throws {
    let fixture = try gallery()
    try fixture.run("UPDATE ZPHOTO SET ZPREVIEW = ZIMAGE, ZIMAGE = NULL;")
    let container = try memoryContainer(Gallery.Photo.self)
    try fixture.importing(to: container).run()
    let photos = try photos(in: container)
    #expect(photos["inline"]?.preview == Data([0xAA, 0xBB, 0xCC]))
    #expect(photos["file"]?.preview == image)
  }

  @Test func `data that might have a marker is asked for`() throws {
    let fixture = try gallery(preview: "x'0102'")
    let container = try memoryContainer(Gallery.Photo.self)
    let error = try transferError { try fixture.importing(to: container).run() }
    #expect(error.code == .unsupported && error.message.contains("Photo.preview"))
    for (isMarked, wanted) in [(true, Data([2])), (false, Data([1, 2]))] {
      var mapping = CoreDataMapping()
      mapping.externalStorage["Photo"] = ["preview": isMarked]
      let container = try memoryContainer(Gallery.Photo.self)
      try fixture.importing(to: container, mapping: mapping).run()
      #expect(try photos(in: container)["inline"]?.preview == wanted)
    }
  }

  /// The new property allows external storage, and the store's attribute perhaps never did: a value that began with the
  /// byte 1 by chance lost it.
  @Test(arguments: ["x'0102'", "x'01'", "x'0261'", "x'02'"])
  func `data without files is asked for, whatever the property allows`(_ stored: String) throws {
    let fixture = try gallery()
    try FileManager.default.removeItem(at: files(of: fixture))
    try fixture.run(
      "DELETE FROM ZPHOTO; INSERT INTO ZPHOTO VALUES (1, 1, 1, 'a', \(stored), NULL);")
    let container = try memoryContainer(Gallery.Photo.self)
    let error = try transferError { try fixture.importing(to: container).run() }
    #expect(error.code == .unsupported && error.message.contains("Photo.image"), "\(error)")
    #expect(error.message.contains("externalStorage"))
    var mapping = CoreDataMapping()
    mapping.externalStorage["Photo"] = ["image": false]
    try fixture.importing(to: container, mapping: mapping).run()
    let image = try #require(try photos(in: container)["a"]?.image)
    #expect("x'" + image.map { String(format: "%02x", $0) }.joined() + "'" == stored)
    guard stored.hasPrefix("x'01") else { return }
    mapping.externalStorage["Photo"] = ["image": true]
    let other = try memoryContainer(Gallery.Photo.self)
    try fixture.importing(to: other, mapping: mapping).run()
    #expect(try photos(in: other)["a"]?.image == image.dropFirst())
  }

  @Test func `data of which some has no marker stays as it is`() throws {
    let fixture = try gallery(preview: "x'0102'")
    try fixture.run("UPDATE ZPHOTO SET ZPREVIEW = x'03', ZIMAGE = x'0304' WHERE Z_PK = 3;")
    try fixture.run("UPDATE ZPHOTO SET ZIMAGE = NULL WHERE Z_PK = 2;")
    let container = try memoryContainer(Gallery.Photo.self)
    try fixture.importing(to: container).run()
    let photos = try photos(in: container)
    #expect(photos["inline"]?.preview == Data([1, 2]) && photos["none"]?.preview == Data([3]))
    #expect(photos["inline"]?.image == Data([1, 0xAA, 0xBB, 0xCC]))
  }

  @Test(arguments: [
    "../secret", "../../secret", "/etc/passwd", "..", ".", "a/b", "", "missing", "link", "folder",
    "fifo",
  ])
  func `a name that leads elsewhere is refused`(_ reference: String) throws {
    let fixture = try gallery(reference: reference)
    let files = files(of: fixture)
    for place in [files.deletingLastPathComponent(), fixture.directory.url] {
      try Data("secret".utf8).write(to: place.appending(path: "secret"))
    }
    try FileManager.default.createSymbolicLink(
      atPath: files.appending(path: "link").filePath, withDestinationPath: "../../secret")
    try FileManager.default.createDirectory(
      at: files.appending(path: "folder"), withIntermediateDirectories: false)
    #expect(mkfifo(files.appending(path: "fifo").filePath, 0o600) == 0)
    let container = try memoryContainer(Gallery.Photo.self)
    let error = try transferError { try fixture.importing(to: container).run() }
    #expect(error.code == .notConverted && error.failures.map(\.item) == ["Photo 2"])
    #expect(error.failures.first?.reason.contains("image refers to") == true)
  }

  /// It said "1 failed", and only the run said why.
  @Test func `a preview says why a row does not fit`() throws {
    let fixture = try gallery(reference: "missing")
    let report = try fixture.importing(to: memoryContainer(Gallery.Photo.self)).preview()
    #expect(report.transfer.failures.map(\.item) == ["Photo 2"])
    #expect(report.description.contains("\nnot imported: Photo 2: image refers to"), "\(report)")
  }

  @Test func `a file of an immense size is refused`() throws {
    let fixture = try gallery(reference: "huge")
    let path = files(of: fixture).appending(path: "huge").filePath
    #expect(FileManager.default.createFile(atPath: path, contents: nil))
    try #require(truncate(path, 4_000_000_000_000) == 0)
    let container = try memoryContainer(Gallery.Photo.self)
    let error = try transferError { try fixture.importing(to: container).run() }
    #expect(error.failures.first?.reason.contains("1000000000 bytes") == true)
  }
}
