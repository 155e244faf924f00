import Foundation
import SteadSQLite
import SwiftData
import Testing

@testable import SteadRecords

@Suite("The number of a store's commits") struct CommitNumberTests {
  private func connection(_ store: TestStore, writable: Bool = false) throws -> StoreConnection {
    try StoreFile(ModelConfiguration(url: store.url)).open(writable: writable)
  }

  private func numbers(_ connection: StoreConnection) throws -> [[SQLValue]] {
    try connection.rows("SELECT max(number) FROM stead_history")
  }

  @Test func `a new store has committed nothing`() throws {
    let store = try TestStore(.file, Club.self, Member.self, Skill.self)
    #expect(try numbers(connection(store)) == [[.integer(0)]])
    _ = try store.reopened()
    #expect(try numbers(connection(store)) == [[.integer(0)]])
  }

  @Test func `a store of an earlier version goes on with its number when it is opened for writing`()
    throws
  {
    let store = try TestStore(.file, Club.self, Member.self, Skill.self)
    let writer = try connection(store, writable: true)
    try writer.execute("DROP TABLE stead_history")
    try writer.execute("CREATE TABLE stead_commit (number INTEGER NOT NULL)")
    try writer.execute("INSERT INTO stead_commit VALUES (41)")
    let context = try store.reopened()
    #expect(try numbers(connection(store)) == [[.integer(41)]])
    context.insert(Club(name: "next"))
    try context.save()
    #expect(try numbers(connection(store)) == [[.integer(42)]])
  }

  @Test func `a store of an earlier version that is opened read-only stays as it is`() throws {
    let store = try TestStore(.file, Club.self, Member.self, Skill.self)
    let writer = try connection(store, writable: true)
    try writer.execute("DROP TABLE stead_history")
    let before = try writer.integer("PRAGMA data_version")
    let context = ModelContext(
      try ModelContainer(
        for: store.schema,
        configurations: ModelConfiguration(url: store.url, allowsSave: false)))
    #expect(try context.count(Club.self) == 0)
    #expect(try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).isEmpty)
    #expect(try writer.integer("PRAGMA data_version") == before)
    #expect(
      try writer.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'stead_history'") == 0)
  }

  /// The next free number of a row is kept between saves, as long as nobody else has written.
  @Test func `a save notices a row that a program past Stead has inserted`() throws {
    let store = try TestStore(.file, Club.self, Member.self, Skill.self)
    let context = store.context()
    context.insert(Club(name: "first"))
    try context.save()
    let outsider = try connection(store, writable: true)
    try outsider.execute("INSERT INTO \"Club\" (\"_id\", name) VALUES (2, 'outside')")
    context.insert(Club(name: "third"))
    try context.save()
    let rows = try outsider.rows("SELECT \"_id\", name FROM \"Club\" ORDER BY \"_id\"")
    #expect(
      rows == [
        [.integer(1), .text("first")], [.integer(2), .text("outside")],
        [.integer(3), .text("third")],
      ])
  }

  @Test(arguments: StorePlace.allCases)
  func `a failed save takes no numbers, and the next one counts on`(_ place: StorePlace) throws {
    struct Failure: Error {}
    let store = try TestStore(place, Club.self, Member.self, Skill.self)
    let context = store.context()
    context.insert(Club(name: "first"))
    try context.save()
    #expect(throws: Failure.self) {
      try context.transaction {
        context.insert(Club(name: "second"))
        throw Failure()
      }
    }
    try context.save()
    let other = store.context()
    other.insert(Club(name: "third"))
    try other.save()
    #expect(try store.reopened().all(Club.self).map(\.name) == ["first", "second", "third"])
  }
}
