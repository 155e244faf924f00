import Foundation
import SteadTestSupport
import SwiftData
import Testing

@testable import SteadRecords

@Suite("Stores that somebody else has changed") struct HostileStoreTests {
  /// A store with one member, after statements that any program could have run on its file.
  private func store(_ statements: String) throws -> TestStore {
    let store = try TestStore(.file, Club.self, Member.self, Skill.self)
    let context = store.context()
    context.insert(Member(name: "Ann"))
    try context.save()
    let connection = try StoreFile(ModelConfiguration(url: store.url)).open(writable: true)
    try connection.execute(statements)
    return store
  }

  @Test("a trigger calls no function of queries, and nothing is lost")
  func triggers() throws {
    let store = try store(
      """
      CREATE TRIGGER spy AFTER INSERT ON "Member"
      BEGIN SELECT stead_contains(new."name", 'a'); END
      """)
    let context = try store.reopened()
    context.insert(Member(name: "Bob"))
    let error = try #require(throws: SwiftDataError.self) { try context.save() }
    #expect("\(error)".contains("stead_contains"))
    #expect(!"\(error)".contains("Bob"))
    #expect(context.insertedModelsArray.count == 1)
    #expect(try store.reopened().count(Member.self) == 1)
  }

  @Test(
    "a view that replaces a table is not read, and the error says what to do",
    arguments: [false, true])
  func views(isOpen: Bool) throws {
    let store = try store(
      """
      ALTER TABLE "Member" RENAME TO "Other";
      CREATE VIEW "Member" AS SELECT * FROM "Other";
      """)
    let error = try #require(throws: SwiftDataError.self) {
      try (isOpen ? store.context() : store.reopened()).all(Member.self)
    }
    #expect(error.code == .unreadableStore && "\(error.code)" == "unreadableStore", "\(error)")
    #expect(error.message.contains("Member") && error.message.contains("Open a backup"))
  }

  /// Numbers at the end of their range, each as a statement.
  static let exhausting = [
    "INSERT OR REPLACE INTO stead_sequence VALUES ('Member', 9223372036854775807)",
    "INSERT OR REPLACE INTO stead_sequence VALUES ('Member', 9223372036854770000)",
    "UPDATE \"Member\" SET \"_id\" = 9223372036854775807",
    "INSERT OR REPLACE INTO stead_sequence VALUES ('JOIN', 9223372036854775807)",
    "UPDATE stead_history SET stamp = 9223372036854775807",
    "UPDATE stead_history SET stamp = -1",
    "INSERT INTO stead_history (number, stamp) VALUES (9223372036854775807, 0)",
    "INSERT INTO stead_history (number, stamp) VALUES (2147483647, 0)",
  ]

  /// Three of them ended the program at each save, and `check()` found the store sound.
  @Test("a number that leaves none for what is new makes saves throw", arguments: exhausting)
  func exhausted(statement: String) throws {
    let layout = try StoreLayout(schema: Schema([Club.self, Member.self, Skill.self]))
    let joins = layout.entities.flatMap { entity in
      entity.joined.compactMap { entity.properties[$0].joinTable?.name }
    }
    let join = try #require(joins.first)
    let store = try store(statement.replacing("JOIN", with: join))
    for context in [store.context(), try store.reopened()] {
      #expect(try context.only(Member.self).name == "Ann")
      let new = Member(name: "Bob")
      context.insert(new)
      new.skills = [Skill(title: "chess")]
      let error = try #require(throws: SwiftDataError.self) { try context.save() }
      #expect(error.code == .unreadableStore && error.message.contains("Open a backup"), "\(error)")
      #expect(context.insertedModelsArray.count == 2)
      context.rollback()
      #expect(try context.count(Member.self) == 1)
    }
    let problems = try store.container.check().problems
    #expect(problems.map(\.kind).contains(.exhaustedNumbers), "\(problems)")
  }

  @Test("a store, what lies beside it, and directories made for it are their owner's alone")
  func permissions() throws {
    let directory = try TestFiles.directory().appending(path: "a/b", directoryHint: .isDirectory)
    let url = directory.file("app.store")
    let configuration = ModelConfiguration(url: url)
    let container = try ModelContainer(for: Member.self, configurations: configuration)
    let context = ModelContext(container)
    context.insert(Member(name: "Ann"))
    try context.save()
    #expect(try directory.mode == 0o700)
    #expect(try directory.deletingLastPathComponent().mode == 0o700)
    for suffix in ["", "-wal", "-shm"] {
      #expect(try directory.file("app.store\(suffix)").mode == 0o600)
    }
  }
}
