@testable import SteadRecords

/// What a migration does to files of large values, to required references and to classes that nobody looked at.
@Suite("migrations and what they leave") struct MigratedElsewhereTests {
  private let file: RecordsTestSupport.StoreFile

  init() throws { file = try RecordsTestSupport.StoreFile() }

  private static func picture(_ seed: UInt8) -> Data {
    Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) &+ seed })
  }

  private func open(_ version: any VersionedSchema.Type) throws -> ModelContainer {
    try ModelContainer(
      for: Schema(versionedSchema: version), configurations: ModelConfiguration(url: file.url))
  }

  private func open(_ plan: any SchemaMigrationPlan.Type, _ version: any VersionedSchema.Type)
    throws
    -> ModelContainer
  {
    try ModelContainer(
      for: Schema(versionedSchema: version), migrationPlan: plan,
      configurations: ModelConfiguration(url: file.url))
  }

  /// A store that a container with the first models has open while another has added a large value to them.
  private func migrated() throws -> (old: ModelContainer, new: ModelContainer) {
    let old = try open(Album1.self)
    let writer = ModelContext(old)
    let first = Album1.Photo()
    writer.insert(first)
    first.image = Self.picture(1)
    try writer.save()
    let new = try open(Album2.self)
    let context = ModelContext(new)
    try context.only(Album2.Photo.self).original = Self.picture(2)
    try context.save()
    return (old, new)
  }

  /// A container that another process's migration had left behind knew only its own columns, and removed the files of
  /// values that the migration had added.
  @Test func `compacting by a container with older models keeps the files of newer ones`() throws {
    let (old, _) = try migrated()
    _ = try? old.compact()
    let photo = try ModelContext(open(Album2.self)).only(Album2.Photo.self)
    #expect(photo.original == Self.picture(2))
    #expect(photo.image == Self.picture(1))
    #expect(try open(Album2.self).check().isSound)
  }

  @Test func `a backup by a container with older models has the files of newer ones`() throws {
    let (old, _) = try migrated()
    let url = file.directory.file("backup.store")
    try old.backUp(to: url)
    let backup = try ModelContainer(
      for: Schema(versionedSchema: Album2.self), configurations: ModelConfiguration(url: url))
    let photo = try ModelContext(backup).only(Album2.Photo.self)
    #expect(photo.original == Self.picture(2))
    #expect(photo.image == Self.picture(1))
  }

  /// A plan's migration removed them behind the back of objects that had not read them yet.
  @Test func `an object keeps the large value that a plan's migration drops`() throws {
    let (_, new) = try migrated()
    let photo = try ModelContext(new).only(Album2.Photo.self)
    let migrated = try open(AlbumPlan.self, Album3.self)
    #expect(photo.original == Self.picture(2))
    #expect(try ModelContext(migrated).only(Album1.Photo.self).image == Self.picture(1))
    let names = try FileManager.default.contentsOfDirectory(
      atPath: file.directory.file(".test.store_external").path)
    #expect(names.filter { BlobFiles.isReference($0) }.count == 1, "\(names)")
  }

  /// Opening a backup and being killed leaves a log beside it, which the next backup was put next to.
  @Test func `the log of an earlier backup does not stay beside a new one`() throws {
    let backup = file.url.path + StoreBackup.suffix
    let context = ModelContext(try file.open(Album2.Photo.self))
    context.insert(Album2.Photo())
    try context.save()
    _ = try file.open(Album1.Photo.self)
    #expect(FileManager.default.fileExists(atPath: backup))
    for suffix in ["-wal", "-shm", "-journal"] {
      try Data("left".utf8).write(to: URL(filePath: backup + suffix))
    }
    let second = ModelContext(try file.open(Album2.Photo.self))
    try second.only(Album2.Photo.self).original = Self.picture(3)
    try second.save()
    _ = try file.open(Album1.Photo.self)
    for suffix in ["-wal", "-shm", "-journal"] {
      #expect(!FileManager.default.fileExists(atPath: backup + suffix))
    }
    let copy = try ModelContainer(
      for: Schema(versionedSchema: Album2.self),
      configurations: ModelConfiguration(url: URL(filePath: backup)))
    #expect(try ModelContext(copy).only(Album2.Photo.self).original == Self.picture(3))
  }

  /// The deletion of one object counted as a look at every class of its hierarchy.
  @Test func `a stage that deletes objects of one class has not looked at another`() throws {
    let context = ModelContext(try open(Herd1.self))
    context.insertAll(Herd1.Sheep(), Herd1.Sheep(), Herd1.Goose())
    try context.save()
    let error = #expect(throws: SwiftDataError.self) { try open(HerdPlan.self, Herd2.self) }
    #expect(error?.message.contains("Goose (1)") ?? false, "\(error?.message ?? "")")
    #expect(!(error?.message.contains("Sheep") ?? true))
    #expect(try ModelContext(open(Herd1.self)).count(Herd1.Animal.self) == 3)
  }

  /// A required relationship was refused before the closure ran that gives it its objects.
  @Test func `a custom stage gives new required relationships their objects`() throws {
    try makeBooks()
    let context = ModelContext(try open(ShelfPlan.self, Shelf2.self))
    let books = try context.all(Shelf2.Book.self)
    #expect(Set(books.map(\.author.name)) == ["Ann", "Ben"])
    #expect(books.allSatisfy { $0.author === $0.editor && $0.author === $0.first })
  }

  @Test func `a custom stage that leaves a required relationship without its object is refused`()
    throws
  {
    try makeBooks()
    let error = #expect(throws: SwiftDataError.self) {
      try open(ForgetfulShelfPlan.self, Shelf2.self)
    }
    #expect(error == .loadIssueModelContainer)
    #expect(error?.message.contains("Book.first in row 2") ?? false, "\(error?.message ?? "")")
    #expect(try ModelContext(open(Shelf1.self)).count(Shelf1.Book.self) == 2)
  }

  private func makeBooks() throws {
    let context = ModelContext(try open(Shelf1.self))
    for name in ["Ann", "Ben"] {
      let book = Shelf1.Book()
      context.insert(book)
      book.author = name
    }
    try context.save()
  }
}
