import Foundation
import SteadSQLite
import SwiftData
import Testing

@testable import SteadRecords

/// Programs that write to the file with plain SQL.
@Suite("The history of other programs") struct ForeignWriterTests {
  private func summaries(_ context: ModelContext) throws -> [[String]] {
    try context.fetchHistory(Transactions()).map(\.summary)
  }

  @Test func `has each row that they write, without author and process`() throws {
    let store = try TestStore.voyages()
    let context = store.context()
    context.author = "app"
    context.insert(Voyage(code: "a", name: "North"))
    context.insert(Label(title: "far"))
    try context.save()
    let writer = try SQLiteConnection.foreign(store.url)
    try writer.execute(
      """
      INSERT INTO Voyage (code, name, views) VALUES ('b', 'It''s "quoted" \\ here', 0);
      UPDATE Voyage SET name = 'West', note = 'x' WHERE code = 'a';
      UPDATE Voyage SET name = 'West', views = 7 WHERE code = 'a';
      INSERT INTO Harbor (place, days, voyage) VALUES ('Lisbon', 2, 1);
      INSERT INTO Harbor_labels (owner, target) VALUES (1, 1);
      DELETE FROM Harbor_labels;
      DELETE FROM Voyage WHERE code = 'b';
      """)
    context.insert(Label(title: "last"))
    try context.save()
    let history = try context.fetchHistory(Transactions())
    #expect(
      history.map(\.summary) == [
        ["+Label/1", "+Voyage/1"], ["+Voyage/2"], ["~Voyage/1 name,note"], ["+Harbor/1"],
        ["~Harbor/1 labels"], ["~Label/1 harbors"], ["~Harbor/1 labels"], ["~Label/1 harbors"],
        ["-Voyage/2 It's \"quoted\" \\ here"], ["+Label/2"],
      ])
    #expect(history.map(\.author) == ["app"] + Array(repeating: nil, count: 8) + ["app"])
    #expect(history[1].processIdentifier.isEmpty && history[1].bundleIdentifier.isEmpty)
    #expect(history.map(\.stamp) == history.map(\.stamp).sorted())
    #expect(Set(history.map(\.stamp)).count == history.count)
    #expect(abs(history[1].timestamp.timeIntervalSinceNow) < 60)
  }

  @Test func `takes back what they roll back`() throws {
    let store = try TestStore.voyages()
    let writer = try SQLiteConnection.foreign(store.url)
    try writer.execute("BEGIN; INSERT INTO Label (title) VALUES ('never'); ROLLBACK")
    #expect(try summaries(store.context()).isEmpty)
  }

  @Test func `names the classes of a hierarchy`() throws {
    let store = try TestStore(.file, Vehicle.self, Car.self, Truck.self, Driver.self)
    let context = store.context()
    context.insert(Car(name: "small", doors: 3))
    context.insert(Truck(name: "large", load: 2))
    try context.save()
    let writer = try SQLiteConnection.foreign(store.url)
    try writer.execute("UPDATE Vehicle SET name = 'other'; DELETE FROM Vehicle WHERE _id = 2")
    let entities = try context.fetchHistory(Transactions()).map {
      $0.changes.map(\.changedPersistentIdentifier.entityName).sorted()
    }
    #expect(entities == [["Car", "Truck"], ["Car"], ["Truck"], ["Truck"]])
    let updates = try context.fetchHistory(Transactions()).flatMap(\.changes).compactMap {
      if case .update(let update as DefaultHistoryUpdate<Car>) = $0 { update } else { nil }
    }
    #expect(updates.map { $0.containsAttribute(\.name) } == [true])
    #expect(updates.first?.containsAttribute(\.doors) == false)
  }

  /// A user's own triggers must fire for the library's saves, as before there was a history.
  @Test func `a store with a user's trigger keeps it, and records everything once`() throws {
    let store = try TestStore.voyages()
    let context = store.context()
    context.insert(Label(title: "first"))
    try context.save()
    let writer = try SQLiteConnection.foreign(store.url)
    try writer.execute(
      """
      CREATE TABLE audit (title TEXT);
      CREATE TRIGGER audited AFTER INSERT ON Label BEGIN INSERT INTO audit VALUES (new.title); END;
      """)
    context.author = "app"
    context.insert(Label(title: "second"))
    context.insert(Harbor(place: "Lisbon"))
    try context.save()
    #expect(try writer.integer("SELECT count(*) FROM audit") == 1)
    try writer.execute("DROP TRIGGER audited")
    try context.all(Label.self)[0].title = "third"
    try context.save()
    let history = try context.fetchHistory(Transactions())
    #expect(
      history.map(\.summary) == [["+Label/1"], ["+Harbor/1", "+Label/2"], ["~Label/1 title"]])
    #expect(history.map(\.author) == [nil, "app", "app"])
  }

  @Test func `a history that is off records nothing, and takes the triggers away`() throws {
    let store = try TestStore.voyages()
    let container = try ModelContainer(
      for: store.schema, configurations: ModelConfiguration(url: store.url, history: .off))
    let context = ModelContext(container)
    for number in 0..<3 {
      context.insert(Label(title: "\(number)"))
      try context.save()
    }
    try context.delete(model: Label.self, where: #Predicate { $0.title == "1" })
    let writer = try SQLiteConnection.foreign(store.url)
    try writer.execute("UPDATE Label SET title = 'x'")
    #expect(try summaries(context).isEmpty)
    #expect(try writer.rows("SELECT number, changes FROM stead_history") == [[.integer(4), .null]])
    let again = try store.reopened()
    again.insert(Label(title: "on"))
    try again.save()
    try writer.execute("UPDATE Label SET title = 'y' WHERE _id = 1")
    #expect(try summaries(again) == [["+Label/4"], ["~Label/1 title"]])
  }
}
