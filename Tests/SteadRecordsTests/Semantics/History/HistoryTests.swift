import Foundation
import SteadSQLite
import SwiftData
import Testing

@testable import SteadRecords

@Suite("The history of a store") struct HistoryTests {
  @Test(arguments: StorePlace.allCases)
  func `H1 has a transaction of each save, with its changes`(_ place: StorePlace) throws {
    let store = try TestStore.voyages(place)
    let context = store.context()
    let start = Date()
    let voyage = Voyage(code: "a", name: "Around the world", price: 12.5)
    context.insert(voyage)
    context.insert(Harbor(place: "Lisbon"))
    try context.save()
    let identifier = voyage.persistentModelID.storeIdentifier
    voyage.name = "Around the lake"
    voyage.note = "shorter"
    try context.save()
    context.delete(voyage)
    try context.save()

    let history = try store.reopened().fetchHistory(Transactions())
    #expect(
      history.map(\.summary) == [
        ["+Harbor/1", "+Voyage/1"], ["~Voyage/1 name,note"], ["-Voyage/1 Around the lake"],
      ])
    #expect(history.map(\.transactionIdentifier) == [1, 2, 3])
    #expect(history.map(\.author) == [nil, nil, nil])
    #expect(Set(history.map(\.storeIdentifier)) == [identifier])
    #expect(history.allSatisfy { abs($0.timestamp.timeIntervalSince(start)) < 60 })
    #expect(history.map(\.timestamp) == history.map(\.timestamp).sorted())
    #expect(
      history.allSatisfy {
        $0.processIdentifier == "\(ProcessInfo.processInfo.processIdentifier)"
          && !$0.bundleIdentifier.isEmpty
      })
    #expect(history.map(\.token) == history.map(\.token).sorted() && Set(history).count == 3)
  }

  @Test func `H5 casts to the changes of a class, as public code does`() throws {
    let store = try TestStore.voyages()
    let context = store.context()
    let voyage = Voyage(code: "a", name: "North", price: -0.1)
    voyage.mark = UUID()
    context.insert(voyage)
    try context.save()
    let (identifier, mark) = (voyage.persistentModelID, voyage.mark)
    voyage.price = 1e300 / 3
    try context.save()
    context.delete(voyage)
    try context.save()
    let changes = try context.fetchHistory(Transactions()).flatMap(\.changes)
    guard case .insert(let insert as DefaultHistoryInsert<Voyage>) = changes[0],
      case .update(let update as DefaultHistoryUpdate<Voyage>) = changes[1],
      case .delete(let deletion as DefaultHistoryDelete<Voyage>) = changes[2]
    else {
      Issue.record("\(changes)")
      return
    }
    #expect(insert.changedPersistentIdentifier == identifier)
    #expect(update.containsAttribute(\.price) && !update.containsAttribute(\.name))
    #expect(update.updatedAttributes.contains { $0 as PartialKeyPath<Voyage> == \.price })
    #expect(deletion.changedPersistentIdentifier == identifier)
    #expect(deletion.tombstone[\.name] as? String == "North")
    #expect(deletion.tombstone[\.price] as? Double == 1e300 / 3)
    #expect(deletion.tombstone[\.mark] as? UUID == mark)
    #expect(deletion.tombstone[\.code] == nil && Array(deletion.tombstone).count == 3)
    let schema = Schema([Voyage.self, Harbor.self, Label.self])
    let preserved = schema.entitiesByName["Voyage"]?.attributes.filter {
      $0.options.contains(.preserveValueOnDeletion)
    }
    #expect(preserved?.map(\.name).sorted() == ["mark", "name", "price"])
  }

  @Test func `H4 finds transactions after a token, of authors, so many, in an order`() throws {
    let store = try TestStore.voyages()
    let context = store.context()
    for (number, author) in ["app", nil, "sync", "app", "app"].enumerated() {
      context.author = author
      context.insert(Harbor(place: "\(number)"))
      try context.save()
    }
    func numbers(_ descriptor: Transactions) throws -> [Int64] {
      try context.fetchHistory(descriptor).map(\.transactionIdentifier)
    }
    func numbers(_ predicate: Predicate<DefaultHistoryTransaction>) throws -> [Int64] {
      try numbers(Transactions(predicate: predicate))
    }
    let token = try context.fetchHistory(Transactions())[1].token
    #expect(try numbers(#Predicate { $0.token > token }) == [3, 4, 5])
    #expect(try numbers(#Predicate { $0.token >= token }) == [2, 3, 4, 5])
    #expect(try numbers(#Predicate { token > $0.token }) == [1])
    #expect(try numbers(#Predicate { $0.token <= token }) == [1, 2])
    #expect(try numbers(#Predicate { $0.token == token }) == [2])
    #expect(try numbers(#Predicate { $0.author == "app" }) == [1, 4, 5])
    #expect(try numbers(#Predicate { $0.author != "app" }) == [2, 3])
    #expect(try numbers(#Predicate { $0.author == nil }) == [2])
    #expect(try numbers(#Predicate { $0.token > token && $0.author != "app" }) == [3])
    #expect(try numbers(#Predicate { $0.token > token || $0.author == "app" }) == [1, 3, 4, 5])
    #expect(try numbers(#Predicate { $0.transactionIdentifier % 2 == 0 }) == [2, 4])
    var descriptor = Transactions(
      predicate: #Predicate { $0.author == "app" },
      sortBy: [SortDescriptor(\.token, order: .reverse)])
    descriptor.fetchLimit = 2
    #expect(try numbers(descriptor) == [5, 4])
    descriptor.sortBy = [SortDescriptor(\.transactionIdentifier, order: .reverse)]
    descriptor.fetchLimit = 1
    #expect(try numbers(descriptor) == [5])
    descriptor.sortBy = [SortDescriptor(\.timestamp, order: .reverse)]
    #expect(try numbers(descriptor) == [5])
  }

  @Test func `tokens survive coding, and compare`() throws {
    let store = try TestStore.voyages()
    let context = store.context()
    for number in 0..<2 {
      context.insert(Harbor(place: "\(number)"))
      try context.save()
    }
    let tokens = try context.fetchHistory(Transactions()).map(\.token)
    let coded = try JSONDecoder().decode(
      [DefaultHistoryToken].self, from: JSONEncoder().encode(tokens))
    #expect(coded == tokens && tokens[0] < tokens[1] && tokens[0].id < tokens[1].id)
    let identifier = try #require(context.fetchHistory(Transactions()).first?.storeIdentifier)
    #expect(tokens[1].tokenValue == [identifier: 2])
    let several = DefaultHistoryToken(["a": 1, "b": 2])
    #expect(
      several.tokenValue == ["a": 1, "b": 2] && several < DefaultHistoryToken(["a": 2, "b": 2]))
  }

  @Test(arguments: StorePlace.allCases)
  func `H2 leaves out ephemeral attributes, and names relationships`(_ place: StorePlace) throws {
    let store = try TestStore.voyages(place)
    let context = store.context()
    let voyage = Voyage(code: "a", name: "North")
    let harbor = Harbor(place: "Lisbon")
    let label = Label(title: "far")
    for model in [voyage, harbor, label] as [any PersistentModel] { context.insertAny(model) }
    try context.save()
    voyage.views = 3
    try context.save()
    voyage.views = 4
    voyage.note = "seen"
    try context.save()
    harbor.voyage = voyage
    harbor.labels.append(label)
    try context.save()
    let history = try context.fetchHistory(Transactions())
    #expect(
      history.dropFirst().map(\.summary) == [
        ["~Voyage/1 note"], ["~Harbor/1 labels,voyage", "~Label/1 harbors", "~Voyage/1 harbors"],
      ])
  }

  @Test(arguments: StorePlace.allCases)
  func `an upsert is an update`(_ place: StorePlace) throws {
    let store = try TestStore.voyages(place)
    let context = store.context()
    context.insert(Voyage(code: "a", name: "North"))
    try context.save()
    context.insert(Voyage(code: "a", name: "South"))
    context.insert(Voyage(code: "b", name: "East"))
    try context.save()
    let last = try #require(try context.fetchHistory(Transactions()).last)
    #expect(last.summary.count == 2 && last.summary[0] == "+Voyage/2")
    #expect(last.summary[1].hasPrefix("~Voyage/1 "))
  }

  @Test(arguments: StorePlace.allCases)
  func `H6 a deletion by predicate is in it, with its values`(_ place: StorePlace) throws {
    let store = try TestStore.voyages(place)
    let context = store.context()
    for number in 0..<5 { context.insert(Voyage(code: "\(number)", name: "v\(number)")) }
    for number in 0..<3 { context.insert(Label(title: "\(number)")) }
    try context.save()
    context.author = "cleaner"
    try context.delete(model: Voyage.self, where: #Predicate { $0.code > "2" })
    try context.delete(model: Label.self)
    let history = try context.fetchHistory(
      Transactions(predicate: #Predicate { $0.author == "cleaner" }))
    #expect(
      history.map(\.summary) == [
        ["-Voyage/4 v3", "-Voyage/5 v4"], ["-Label/1", "-Label/2", "-Label/3"],
      ])
  }

  @Test func `H6 a migration is in it: what its stages save, but no new attribute's default value`()
    throws
  {
    let store = try TestStore(NotesV1.Note.self)
    let context = store.context()
    context.insert(NotesV1.Note(text: "one", isDone: true))
    context.insert(NotesV1.Note(text: "two", isDone: false))
    try context.save()
    let container = try ModelContainer(
      for: Schema(versionedSchema: NotesV2.self), migrationPlan: NotesPlan.self,
      configurations: ModelConfiguration(url: store.url))
    let history = try ModelContext(container).fetchHistory(Transactions())
    #expect(
      history.map(\.summary) == [
        ["+Note/1", "+Note/2"], ["~Note/1 text", "~Note/2 text"],
        ["~Note/1 length", "~Note/2 length"],
      ])
  }

  @Test func `H6 values that a migration gives rows without one are in it`() throws {
    let store = try TestStore(BoatV1.Boat.self)
    let context = store.context()
    for name in ["Argo", nil, "Fram", nil] { context.insert(BoatV1.Boat(name: name)) }
    try context.save()
    let changed = try ModelContext(
      ModelContainer(for: BoatV2.Boat.self, configurations: ModelConfiguration(url: store.url)))
    #expect(
      try changed.fetchHistory(Transactions()).map(\.summary) == [
        ["+Boat/1", "+Boat/2", "+Boat/3", "+Boat/4"], ["~Boat/2 name", "~Boat/4 name"],
      ])
  }

  @Test(arguments: StorePlace.allCases)
  func `a failed save is not in it, and an empty one neither`(_ place: StorePlace) throws {
    struct Failure: Error {}
    let store = try TestStore.voyages(place)
    let context = store.context()
    #expect(throws: Failure.self) {
      try context.transaction {
        context.insert(Label(title: "never"))
        throw Failure()
      }
    }
    context.rollback()
    try context.save()
    try context.transaction { context.insert(Label(title: "once")) }
    #expect(try context.fetchHistory(Transactions()).map(\.summary) == [["+Label/1"]])
  }

  @Test func `the stamp of a change is taken at the edit, and rises`() async throws {
    let store = try TestStore.voyages()
    let context = store.context()
    let (first, second) = (Label(title: "first"), Label(title: "second"))
    context.insert(first)
    await nextMillisecond()
    context.insert(second)
    await nextMillisecond()
    try context.save()
    let transaction = try #require(try context.fetchHistory(Transactions()).first)
    let stamps = transaction.changes.compactMap {
      if case .insert(let change as DefaultHistoryInsert<Label>) = $0 { change.stamp } else { nil }
    }
    #expect(stamps.count == 2 && stamps == stamps.sorted())
    let milliseconds = (stamps + [transaction.stamp]).map { $0 >> EditClock.counterBits }
    #expect(milliseconds[0] < milliseconds[1] && milliseconds[1] < milliseconds[2])
    // What is edited after this context has seen the transaction is stamped above it.
    let other = store.context()
    try other.all(Label.self)[0].title = "third"
    try other.save()
    let last = try #require(try context.fetchHistory(Transactions()).last)
    #expect(last.stamp > transaction.stamp)
  }
}
