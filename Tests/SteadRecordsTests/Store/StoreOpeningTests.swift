import Foundation
import SteadSQLite
import SwiftData
import Testing

@testable import SteadRecords

@Suite("Opening stores again") struct StoreOpeningTests {
  private func connection(_ store: TestStore) throws -> StoreConnection {
    try StoreFile(ModelConfiguration(url: store.url)).open(writable: true)
  }

  /// Opening made and dropped a table, wrote the schema and took the write lock, each time.
  @Test func `a store that needs no change is opened without writing`() throws {
    let store = try TestStore(.file, Club.self, Member.self, Skill.self)
    let writer = try connection(store)
    let before = try writer.integer("PRAGMA data_version")
    let version = try writer.integer("PRAGMA schema_version")
    // Whoever writes waits until this transaction ends; whoever only reads does not.
    try writer.execute("BEGIN IMMEDIATE")
    #expect(try store.reopened().count(Club.self) == 0)
    try writer.execute("ROLLBACK")
    #expect(try writer.integer("PRAGMA data_version") == before)
    #expect(try writer.integer("PRAGMA schema_version") == version)
  }

  /// The error said that two configurations are named b or share a file, and to give them other names, which they had.
  @Test(
    arguments: [
      ("a", "b", "one", "one", "The configurations a and b share the file FILE. Give each a file"),
      ("a", "a", "one", "two", "Two configurations are named a. Give each a different name."),
      ("a", "a", "one", "one", "are named a and share the file FILE. Give each a name and a file"),
      ("a", "a", nil, nil, "Two configurations are named a. Give each a different name."),
      ("a", "a", "one", nil, "Two configurations are named a. Give each a different name."),
      ("a", "b", nil, nil, nil), ("a", "b", "one", nil, nil), ("a", "b", "one", "two", nil),
    ] as [(String, String, String?, String?, String?)])
  func `two configurations are told what they share`(
    name: String, otherName: String, file: String?, otherFile: String?, expected: String?
  ) throws {
    let directory = try TestFiles.directory()
    func configuration(
      _ name: String, _ file: String?, _ model: any PersistentModel.Type
    ) -> ModelConfiguration {
      let schema = Schema([model])
      guard let file else {
        return ModelConfiguration(name, schema: schema, isStoredInMemoryOnly: true)
      }
      return ModelConfiguration(name, schema: schema, url: directory.appending(path: file))
    }
    let configurations = [
      configuration(name, file, Picture.self),
      configuration(otherName, otherFile, ShopAccount.self),
    ]
    let schema = Schema([Picture.self, ShopAccount.self])
    guard let expected else {
      _ = try ModelContainer(for: schema, configurations: configurations)
      return
    }
    let error = try #require(throws: SwiftDataError.duplicateConfiguration) {
      _ = try ModelContainer(for: schema, configurations: configurations)
    }
    let path = directory.appending(path: "one").path(percentEncoded: false)
    #expect(error.message.contains(expected.replacing("FILE", with: path)), "\(error)")
  }

  /// Both wrote, and each save waited a minute for the other.
  @Test(arguments: ["./one", "sub/../one", "link/one"])
  func `a file is one file however its path is written`(spelling: String) throws {
    let directory = try TestFiles.directory()
    let files = FileManager.default
    try files.createDirectory(
      at: directory.appending(path: "sub"), withIntermediateDirectories: false)
    try files.createSymbolicLink(
      at: directory.appending(path: "link"), withDestinationURL: directory)
    let paths = ["\(directory.path)/one", "\(directory.path)/\(spelling)"]
    let models: [any PersistentModel.Type] = [Picture.self, ShopAccount.self]
    let configurations = zip(paths, models).enumerated().map {
      ModelConfiguration(
        "\($0)", schema: Schema([$1.1]), url: URL(filePath: $1.0, directoryHint: .notDirectory))
    }
    let error = try #require(throws: SwiftDataError.duplicateConfiguration) {
      _ = try ModelContainer(for: Schema(models), configurations: configurations)
    }
    #expect(error.message.contains("share the file"), "\(error)")
  }

  @Test func `a store that is only read is not created, and the error names it`() throws {
    let url = try TestFiles.directory().appending(path: "missing.store")
    let error = try #require(throws: SwiftDataError.self) {
      _ = try ModelContainer(
        for: Picture.self, configurations: ModelConfiguration(url: url, allowsSave: false))
    }
    #expect(error.message.contains("no store at \(url.path)"), "\(error)")
    #expect(!FileManager.default.fileExists(atPath: url.path))
  }

  @Test func `an index that another program has dropped is made again`() throws {
    let store = try TestStore(.file, Club.self, Member.self, Skill.self)
    let writer = try connection(store)
    let count = "SELECT count(*) FROM sqlite_schema WHERE name = 'Member_club'"
    try writer.execute(#"DROP INDEX "Member_club""#)
    #expect(try writer.integer(count) == 0)
    _ = try store.reopened()
    #expect(try writer.integer(count) == 1)
  }

  @Test func `models that differ in their version alone are recorded`() throws {
    let store = try TestStore(.file, Club.self, Member.self, Skill.self)
    let schema = Schema([Club.self, Member.self, Skill.self], version: .init(2, 0, 0))
    _ = try ModelContainer(for: schema, configurations: ModelConfiguration(url: store.url))
    let rows = try connection(store).rows("SELECT value FROM stead_metadata WHERE key = 'schema'")
    guard case .text(let text)? = rows.first?.first else {
      Issue.record("no schema")
      return
    }
    let stored = try JSONDecoder().decode(Schema.self, from: Data(text.utf8))
    #expect(stored.version == Schema.Version(2, 0, 0))
  }

  /// It was said to belong to another user.
  @Test(arguments: [true, false], [true, false])
  func `a store whose path is a symbolic link is refused as one`(
    leadsToStore: Bool, allowsSave: Bool
  ) throws {
    let store = try StoreFile()
    if leadsToStore { _ = try store.open(Club.self, Member.self, Skill.self) }
    let link = store.directory.appending(path: "link.store")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: store.url)
    let error = try #require(throws: SwiftDataError.self) {
      try ModelContainer(
        for: Club.self, Member.self, Skill.self,
        configurations: ModelConfiguration(url: link, allowsSave: allowsSave))
    }
    #expect(error.code == .unreadableStore)
    #expect(error.message.contains("link.store is a symbolic link"))
    #expect(FileManager.default.fileExists(atPath: store.url.path) == leadsToStore)
  }

  /// The user whose home root had made a store in was told that the file is not a store.
  @Test(.needs(.ordinaryUser))
  func `a store that this user may not read is said to be unreadable`() throws {
    let url = try TestFiles.directory().file("foreign.store")
    try Data(repeating: 1, count: 4096).write(to: url)
    try url.setMode(0o000)
    let error = try #require(throws: SwiftDataError.self) {
      try ModelContainer(for: Club.self, configurations: ModelConfiguration(url: url))
    }
    #expect(error.code == .unreadableStore)
    #expect(error.message.contains("cannot be read"), "\(error)")
  }

  @Test func `an error of SQLite that has no code here says what to do`() {
    let error = StoreErrors.error(SQLiteError(code: 21, message: "bad use", sql: "SELECT 1"))
    #expect(error.code == .storeFailure)
    #expect(
      error.message.hasPrefix("SQLite refused to work on the store (error 21: bad use). Try again;")
    )
    #expect(error.message.hasSuffix(" The statement: SELECT 1"))
  }

  @Test func `each failure to open a container is caught as SwiftData's own error for it`() throws {
    let url = try TestFiles.directory().file("text.store")
    try Data("This is no store, and stays as it is.".utf8).write(to: url)
    do {
      _ = try ModelContainer(for: Club.self, configurations: ModelConfiguration(url: url))
      Issue.record("opened")
    } catch SwiftDataError.loadIssueModelContainer {
    }
    let error = try #require(throws: SwiftDataError.self) {
      try ModelContainer(for: Club.self, configurations: ModelConfiguration(url: url))
    }
    #expect(error.code == .unreadableStore)
    // What a context throws is none.
    let context = ModelContext(try TestStore(.file, Club.self, Member.self, Skill.self).container)
    do {
      try context.transaction { throw SwiftDataError.unreadableStore }
    } catch SwiftDataError.loadIssueModelContainer {
      Issue.record("taken for a failure to open")
    } catch {}
  }
}
