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

  @Test func `a trigger calls no function of queries, and nothing is lost`() throws {
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

  @Test(arguments: [false, true])
  func `a view that replaces a table is not read, and the error says what to do`(isOpen: Bool)
    throws
  {
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
  @Test(arguments: exhausting)
  func `a number that leaves none for what is new makes saves throw`(statement: String) throws {
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

  /// Rows that have one value where another program has dropped the index that forbids it.
  struct Sharing: Sendable, CustomTestStringConvertible {
    let properties: String
    let rows: [Int64]
    let sql: String
    var testDescription: String { sql }
  }

  /// The error said that nothing was saved, and to change the object's value.
  @Test(arguments: [
    Sharing(
      properties: "Badge.code", rows: [1, 3],
      sql: "DROP INDEX Badge_code_unique; UPDATE Badge SET code = 'secret 1' WHERE _id = 3"),
    Sharing(
      properties: "Seat.hall and Seat.number", rows: [1, 2, 3],
      sql: "DROP INDEX Seat_hall_number_unique; UPDATE Seat SET number = 7"),
    Sharing(
      properties: "Seat.hall and Seat.holder", rows: [1, 2],
      sql: "DROP INDEX Seat_hall_holder_unique; UPDATE Seat SET holder = 'secret' WHERE _id < 3"),
    Sharing(
      properties: "Locker.owner", rows: [1, 2],
      sql: "DROP INDEX Locker_owner_unique; UPDATE Locker SET owner = 1"),
  ])
  func `rows that share a unique value are named, when the store is opened and by a check`(
    damage: Sharing
  ) throws {
    let store = try TestStore(
      .file, Badge.self, Scan.self, Seat.self, Locker.self, LockerOwner.self)
    let context = store.context()
    for number in 1...3 {
      context.insert(Badge(code: "secret \(number)"))
      context.insert(Seat(hall: "secret", number: number))
      if number < 3 {
        context.insert(Locker(number: number, owner: LockerOwner(name: "\(number)")))
      }
      try context.save()
    }
    let other = try StoreFile(ModelConfiguration(url: store.url)).open(writable: true)
    try other.execute(damage.sql)

    let error = try #require(throws: SwiftDataError.self) { try store.secondContainer() }
    var rows = FoundRows()
    for row in damage.rows { rows.add(row) }
    #expect(error.code == .loadIssueModelContainer, "\(error)")
    #expect(error.message.contains("\(damage.properties) is unique"), "\(error)")
    #expect(error.message.contains("share a value: \(rows) of the table"), "\(error)")
    #expect(!"\(error)".contains("secret"))
    let readOnly = try ModelContainer(
      for: store.schema, configurations: ModelConfiguration(url: store.url, allowsSave: false))
    for container in [store.container, readOnly] {
      let problem = try #require(try container.check().problems.first { $0.kind == .missingIndex })
      #expect(problem.rows == damage.rows, "\(problem)")
      #expect(problem.description.contains("share a value: \(rows)"), "\(problem)")
    }

    // What the message says.
    let table = damage.properties.prefix { $0 != "." }
    try other.execute("DELETE FROM \(table) WHERE _id > 1")
    #expect(try store.secondContainer().check().isSound)
  }

  @Test
  func `a store, what lies beside it, and directories made for it are their owner's alone`() throws
  {
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
