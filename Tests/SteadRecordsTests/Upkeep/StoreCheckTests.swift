import Foundation
import SwiftData
import Testing

@testable import SteadRecords

@Suite("Checking a store") struct StoreCheckTests {
  @Test(arguments: StorePlace.allCases)
  func `a sound store has no problems, and its rows are counted`(place: StorePlace) throws {
    let check = try UpkeepStore(place).container.check()
    #expect(check.problems.isEmpty, "\(check)")
    #expect(check.rowCounts["Member"] == 3)
    #expect(check.rowCounts["Vehicle"] == 0)
    #expect(check.rowCounts["Truck"] == 1)
  }

  struct Damage: Sendable, CustomTestStringConvertible {
    let sql: String
    let kind: StoreCheck.Problem.Kind
    let entity: String
    let rows: [Int64]
    var testDescription: String { "\(kind) \(sql)" }

    init(
      _ kind: StoreCheck.Problem.Kind, _ entity: String, _ rows: [Int64], _ sql: String
    ) {
      (self.kind, self.entity, self.rows, self.sql) = (kind, entity, rows, sql)
    }
  }

  @Test(arguments: [
    Damage(.danglingReference, "Member", [2], "UPDATE Member SET club = 99 WHERE _id = 2"),
    Damage(.danglingReference, "Member", [1, 2, 3], "DELETE FROM Club"),
    Damage(.danglingReference, "Skill", [1, 2], "DELETE FROM Skill"),
    Damage(.danglingReference, "Driver", [2], "DELETE FROM Vehicle WHERE _id = 2"),
    Damage(.ambiguousOrder, "Member", [3], "UPDATE Member SET _club_order = 1 WHERE _id = 3"),
    Damage(
      .ambiguousOrder, "Driver", [2], "UPDATE Driver_garage SET owner_order = 1"),
    Damage(.danglingReference, "Driver", [1], "UPDATE Vehicle SET _entity = 77 WHERE _id = 1"),
    Damage(
      .missingColumn, "Skill", [],
      "ALTER TABLE Skill RENAME COLUMN level TO height; ALTER TABLE Skill ADD COLUMN level BLOB"),
    Damage(.unknownClass, "Vehicle", [1], "UPDATE Vehicle SET _entity = 77 WHERE _id = 1"),
    Damage(
      .unusableNumber, "Member", [-2, -1, 0],
      "UPDATE Member SET _id = -_id WHERE _id < 3; UPDATE Member SET _id = 0 WHERE _id = 3"),
    Damage(.unusableNumber, "Truck", [-5], "UPDATE Vehicle SET _id = -5 WHERE load = 1"),
    Damage(.missingIndex, "Skill", [], "DROP INDEX Skill_title_unique"),
    Damage(.missingIndex, "Member", [], "DROP INDEX Member_club"),
    Damage(.missingTable, "Headline", [], "DROP TABLE Headline"),
    Damage(.missingColumn, "Skill", [], "ALTER TABLE Skill RENAME COLUMN level TO height"),
    Damage(
      .missingFile, "Headline", [1],
      "UPDATE Headline SET picture = '\(String(repeating: "0", count: 64))'"),
  ])
  func `what another program has done is a problem of its model and its rows`(damage: Damage) throws
  {
    let store = try UpkeepStore()
    try store.sql(damage.sql)
    let check = try store.container.check()
    let problem = try #require(
      check.problems.first { $0.kind == damage.kind && $0.entity == damage.entity }, "\(check)")
    #expect(problem.rows == damage.rows)
    #expect(problem.count == damage.rows.count)
    #expect(problem.store == store.store.url)
    for word in [damage.entity] + damage.rows.map(String.init) {
      #expect(problem.description.contains(word), "\(problem)")
    }
  }

  @Test func `a reference to a row of another class is a problem`() throws {
    let store = try TestStore(Vehicle.self, Car.self, Truck.self, Driver.self, Ride.self)
    let context = store.context()
    let ride = Ride()
    context.insertAll(ride, Truck(name: "big", load: 1))
    ride.car = Car(name: "mini", doors: 3)
    try context.save()
    #expect(try store.container.check().problems.isEmpty)
    let truck = try context.only(Truck.self).persistentModelID.row
    try StoreFile(ModelConfiguration(url: store.url)).open(writable: true)
      .execute("UPDATE Ride SET car = \(truck)")
    let problem = try #require(try store.container.check().problems.first)
    #expect(problem.kind == .danglingReference && problem.entity == "Ride" && problem.rows == [1])
  }

  /// Such an object was taken for one that was never saved: the save of its deletion succeeded, and the row stayed. The
  /// check found nothing.
  @Test(arguments: [Int64(-1), 0])
  func `an object with a number below 1 can be deleted once it has another one`(
    number: Int64
  ) throws {
    let store = try UpkeepStore()
    // The last member has no pairs that would have to follow it.
    try store.sql("UPDATE Member SET _id = \(number) WHERE _id = 3")
    #expect(try store.container.check().problems.map(\.kind) == [.unusableNumber])
    try store.sql("UPDATE Member SET _id = 4 WHERE _id = \(number)")
    #expect(try store.container.check().problems.isEmpty)
    let context = store.store.context()
    let members = try context.all(Member.self)
    context.delete(try #require(members.first { $0.persistentModelID.row == 4 }))
    try context.save()
    #expect(try store.store.context().count(Member.self) == 2)
  }

  @Test func `a member of a list that does not exist is a problem`() throws {
    let store = try TestStore(TwoListSchema.Yard.self, TwoListSchema.Shrub.self)
    let context = store.context()
    let yard = TwoListSchema.Yard()
    context.insert(yard)
    yard.wanted = [TwoListSchema.Shrub(name: "rose")]
    try context.save()
    #expect(try store.container.check().problems.isEmpty)
    try StoreFile(ModelConfiguration(url: store.url)).open(writable: true)
      .execute("UPDATE Shrub SET _yard_list = 99")
    let problem = try #require(try store.container.check().problems.first)
    #expect(problem.kind == .unknownList && problem.entity == "Shrub" && problem.rows == [1])
  }

  @Test func `what another program has changed about models and tables is a problem`() throws {
    let store = try TestStore(Label.self, Harbor.self, Voyage.self)
    let all = Schema([Label.self, Harbor.self, Voyage.self, Parcel.self])
    _ = try ModelContainer(for: all, configurations: ModelConfiguration(url: store.url))
    let writer = try StoreFile(ModelConfiguration(url: store.url)).open(writable: true)
    try writer.execute("DROP TABLE Parcel; DROP TABLE stead_sequence")
    let check = try store.container.check()
    let missing = check.problems.filter { $0.kind == .missingTable }.map(\.description)
    #expect(missing.count == 2, "\(check)")
    for name in ["Parcel", "stead_sequence"] {
      #expect(missing.contains { $0.contains("table \(name) ") }, "\(missing)")
    }
    let file = try RecordsTestSupport.StoreFile()
    let first = try file.open(BoatV1.Boat.self)
    _ = try file.open(BoatV2.Boat.self)
    #expect(try first.check().problems.map(\.kind).contains(.differentModels))
  }

  /// The check threw an error of decoding. Later it called the record a damage of pages, which SQLite had not found.
  @Test
  func `a record of the models that is no schema is a problem, and no damage of pages`() throws {
    let store = try UpkeepStore()
    try StoreFile(ModelConfiguration(url: store.store.url)).open(writable: true)
      .execute("UPDATE stead_metadata SET value = '{' WHERE key = 'schema'")
    let problems = try store.container.check().problems
    #expect(problems.map(\.kind) == [.differentModels], "\(problems)")
    #expect(problems.allSatisfy { $0.description.contains("record of its models") })
  }

  @Test func `files that no row refers to, and files that were changed, are problems`() throws {
    let store = try UpkeepStore()
    let name = try #require(try store.container.stores[0].blobs?.references().first)
    try Data("other".utf8).write(to: store.files.file(String(repeating: "a", count: 64)))
    try Data("changed".utf8).write(to: store.files.file(name))
    let check = try store.container.check()
    #expect(check.problems.map(\.kind) == [.damagedFile, .unusedFile])
    #expect(check.problems.map(\.count) == [1, 1])
    #expect(check.problems[0].rows == [1])
    #expect(!check.isSound)
  }

  /// A process that was killed leaves such files. A store that had lost nothing was said not to be sound.
  @Test func `files that no row refers to are no damage`() throws {
    let store = try UpkeepStore()
    try Data("other".utf8).write(to: store.files.file(String(repeating: "a", count: 64)))
    let check = try store.container.check()
    #expect(check.isSound && check.problems.map(\.kind) == [.unusedFile])
    try store.container.compact()
    #expect(try store.container.check().problems.isEmpty)
  }

  @Test func `files of a store that is read only are checked, too`() throws {
    let store = try UpkeepStore()
    try Data("other".utf8).write(to: store.files.file(String(repeating: "a", count: 64)))
    let container = try ModelContainer(
      for: store.store.schema,
      configurations: ModelConfiguration(url: store.store.url, allowsSave: false))
    #expect(try container.check().problems.map(\.kind) == [.unusedFile])
  }

  @Test func `pages that were overwritten are a problem`() throws {
    let url = try StoreFile().url
    do {
      let context = ModelContext(try openUnrelated(url))
      for number in 0..<2_000 { context.insert(Unrelated(number: number)) }
      try context.save()
    }
    var bytes = try Data(contentsOf: url)
    let last = bytes.count - 4096
    for offset in 0..<512 { bytes[last + offset] = 0xFF }
    try bytes.write(to: url)
    let check = try openUnrelated(url).check()
    #expect(check.problems.contains { $0.kind == .damagedPages }, "\(check)")
  }

  /// A check took each error for the one of numbers that are used up, and said so once for each table.
  @Test func `a table that cannot be read is a damage of pages, whatever is read from it`() throws {
    for table in ["stead_sequence", "stead_history", "Unrelated"] {
      let url = try StoreFile().url
      var page: Int64 = 0
      do {
        let container = try openUnrelated(url)
        let context = ModelContext(container)
        context.insert(Unrelated(number: 1))
        try context.save()
        let connection = try StoreFile(ModelConfiguration(url: url)).open(
          writable: false)
        page = try #require(
          try connection.integer(
            "SELECT rootpage FROM sqlite_schema WHERE name = ?1", [.text(table)]))
      }
      let container = try openUnrelated(url)
      var bytes = try Data(contentsOf: url)
      let size = Int(bytes[16]) << 8 | Int(bytes[17])
      // The kind of the page.
      bytes[Int(page - 1) * size] = 0xFF
      try bytes.write(to: url)
      let kinds = try container.check().problems.map(\.kind)
      #expect(
        kinds.contains(.damagedPages) && !kinds.contains(.exhaustedNumbers), "\(table) \(kinds)")
    }
  }

  private func openUnrelated(_ url: URL) throws -> ModelContainer {
    try ModelContainer(for: Unrelated.self, configurations: ModelConfiguration(url: url))
  }

  @Test func `a check changes nothing, and goes on beside a writer`() throws {
    let store = try UpkeepStore()
    let writer = try StoreFile(ModelConfiguration(url: store.store.url)).open(writable: true)
    let before = try writer.integer("PRAGMA data_version")
    let log = try Data(contentsOf: URL(filePath: store.store.url.path + "-wal"))
    try writer.execute("BEGIN IMMEDIATE")
    #expect(try store.container.check().problems.isEmpty)
    try writer.execute("ROLLBACK")
    #expect(try writer.integer("PRAGMA data_version") == before)
    #expect(try Data(contentsOf: URL(filePath: store.store.url.path + "-wal")) == log)
  }

  @Test func `progress comes by phases, and what it throws ends the check`() throws {
    let store = try UpkeepStore()
    var phases: [StoreProgress.Phase] = []
    _ = try store.container.check { if phases.last != $0.phase { phases.append($0.phase) } }
    #expect(phases == [.checkingPages, .checkingRows, .checkingFiles])
    #expect(throws: CancellationError.self) {
      try store.container.check { _ in throw CancellationError() }
    }
  }

  @Test func `a task that is cancelled ends its check`() async throws {
    let container = try UpkeepStore().container
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try container.check()
    }
    await #expect(throws: CancellationError.self) { try await task.value }
  }
}

/// What refers to one class of a hierarchy.
@Model final class Ride {
  var car: Car?

  init() {}
}
