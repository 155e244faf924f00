import Foundation
import SteadTestSupport
import SwiftData
import Testing

@testable import SteadRecords

/// Models whose tables have no column but the number of the row.
private enum Grove {
  @Model final class Pebble {
    init() {}
  }

  @Model final class Crate {
    @Relationship(inverse: \Apple.crate) var apples: [Apple] = []
    init() {}
  }

  @Model final class Apple {
    var name: String
    var crate: Crate?
    init(name: String) { self.name = name }
  }
}

@Suite("A store that is restored") struct RestoringTests {
  private static func lastToken(_ context: ModelContext) throws -> DefaultHistoryToken {
    try #require(try context.fetchHistory(Transactions()).last?.token)
  }

  @Test
  func `has its objects, relationships and identifiers again, and the history says so`() throws {
    let context = try TestStore.voyages().keepingOldValues()
    let voyage = Voyage(code: "a", name: "North")
    voyage.harbors = [Harbor(place: "Lisbon"), Harbor(place: "Goa")]
    context.insert(voyage)
    try context.save()
    let (then, identifier) = (try Self.lastToken(context), voyage.persistentModelID)
    voyage.name = "South"
    voyage.harbors.removeFirst()
    context.insert(Voyage(code: "b", name: "East"))
    try context.save()
    context.delete(voyage)
    try context.save()
    let later = try Self.lastToken(context)

    let container = context.container
    let token = try container.restore(to: then, author: "undo")
    let found = try ModelContext(container).only(Voyage.self)
    #expect(found.persistentModelID == identifier && found.name == "North")
    #expect(found.harbors.map(\.place) == ["Lisbon", "Goa"])
    // A context that was there before sees it as a save of another one.
    #expect(try context.all(Voyage.self).map(\.code) == ["a"])
    let last = try #require(try context.fetchHistory(Transactions()).last)
    #expect(last.token == token && last.author == "undo")
    #expect(last.changes.contains { $0.changedPersistentIdentifier == identifier })
    #expect(try container.check().problems.isEmpty)

    // What was taken back is there again.
    try container.restore(to: later)
    #expect(try ModelContext(container).all(Voyage.self).map(\.code) == ["b"])
  }

  // The UPDATE of such a table assigned nothing, which SQLite refused, so the store could not be restored.
  @Test func `has its objects again whose models have no columns`() throws {
    let store = try TestStore(Grove.Pebble.self, Grove.Crate.self, Grove.Apple.self)
    let context = try store.keepingOldValues()
    let (pebble, crate) = (Grove.Pebble(), Grove.Crate())
    context.insertAll(pebble, crate)
    crate.apples = [Grove.Apple(name: "Elstar"), Grove.Apple(name: "Boskoop")]
    try context.save()
    let then = try Self.lastToken(context)
    let identifiers = [pebble.persistentModelID, crate.persistentModelID]
    crate.apples.removeFirst()
    context.insertAll(Grove.Pebble(), Grove.Crate())
    try context.save()
    context.delete(pebble)
    context.delete(crate)
    try context.save()
    let later = try Self.lastToken(context)

    func expectThen(_ container: ModelContainer) throws {
      let found = ModelContext(container)
      let pebble = try found.only(Grove.Pebble.self)
      let crate = try found.only(Grove.Crate.self)
      #expect([pebble.persistentModelID, crate.persistentModelID] == identifiers)
      #expect(crate.apples.map(\.name) == ["Elstar", "Boskoop"])
    }
    let container = context.container
    let past = try container.asOf(then)
    #expect(try ModelContext(past).count(Grove.Pebble.self) == 1)
    #expect(try ModelContext(past).only(Grove.Crate.self).apples.count == 2)
    try container.restore(to: then)
    try expectThen(container)
    #expect(try container.check().problems.isEmpty)
    try container.restore(to: later)
    let last = ModelContext(container)
    #expect(try last.count(Grove.Pebble.self) == 1)
    #expect(try last.count(Grove.Crate.self) == 1)
    #expect(try last.all(Grove.Apple.self).allSatisfy { $0.crate == nil })
    // Restored again from rows that other ones have replaced.
    try container.restore(to: then)
    try expectThen(container)
  }

  @Test func `notes the next save as before`() throws {
    let context = try TestStore.voyages().keepingOldValues()
    context.insert(Label(title: "a"))
    try context.save()
    let token = try Self.lastToken(context)
    try context.only(Label.self).title = "b"
    try context.save()
    try context.container.restore(to: token)
    context.author = "app"
    try context.only(Label.self).title = "c"
    try context.save()
    let last = try #require(try context.fetchHistory(Transactions()).last)
    guard case .update(let update as DefaultHistoryUpdate<Label>) = last.changes.first else {
      Issue.record("\(last.changes)")
      return
    }
    #expect(last.changes.count == 1 && last.author == "app")
    #expect(update.oldValue(of: \.title) as? String == "a")
  }

  @Test func `gives back unique values that two objects have changed with each other`() throws {
    let context = try TestStore.voyages().keepingOldValues()
    context.insertAll(Voyage(code: "a", name: "North"), Voyage(code: "b", name: "South"))
    try context.save()
    let token = try Self.lastToken(context)
    let codes = { try context.all(Voyage.self).map { "\($0.code) \($0.name)" }.sorted() }
    for (name, code) in [("North", "c"), ("South", "a"), ("North", "b")] {
      try #require(context.all(Voyage.self).first { $0.name == name }).code = code
      try context.save()
    }
    #expect(try codes() == ["a South", "b North"])
    try context.container.restore(to: token)
    #expect(try codes() == ["a North", "b South"])
  }

  @Test func `stays as it is when a large value of then is gone`() throws {
    let store = try TestStore(Headline.self)
    let context = try store.keepingOldValues()
    let headline = Headline(title: "a")
    headline.picture = Data(repeating: 7, count: 200_000)
    context.insert(headline)
    try context.save()
    let token = try Self.lastToken(context)
    headline.title = "b"
    headline.picture = nil
    try context.save()
    // What checks, compacts and copies the store knows that the old row needs the file.
    #expect(try context.container.check().problems.isEmpty)
    try context.container.compact()
    let copy = store.directory.appending(path: "copy.store")
    try context.container.backUp(to: copy)
    let backup = try ModelContainer(
      for: store.schema, configurations: ModelConfiguration(url: copy, history: .withOldValues))
    try backup.restore(to: token)
    #expect(
      try ModelContext(backup).only(Headline.self).picture == Data(repeating: 7, count: 200_000))
    try context.container.restore(to: token)
    #expect(
      try ModelContext(context.container).only(Headline.self).picture
        == Data(repeating: 7, count: 200_000))
    try context.only(Headline.self).title = "b"
    try context.only(Headline.self).picture = nil
    try context.save()
    let files = store.url.deletingLastPathComponent().appending(
      path: ".\(store.url.lastPathComponent)_external")
    for name in try FileManager.default.contentsOfDirectory(atPath: files.path) {
      try FileManager.default.removeItem(at: files.appending(path: name))
    }
    let error = try #require(throws: SwiftDataError.self) {
      try context.container.restore(to: token)
    }
    #expect(error.code == .unreadableValue)
    #expect(try ModelContext(context.container).only(Headline.self).title == "b")
    // The next save is noted by this library again.
    context.author = "app"
    try context.only(Headline.self).title = "c"
    try context.save()
    #expect(try context.fetchHistory(Transactions()).last?.author == "app")
  }

  @Test func `refuses what was under other models`() throws {
    let store = try StoreFile()
    func open(_ models: any PersistentModel.Type...) throws -> ModelContext {
      var configuration = ModelConfiguration(url: store.url)
      configuration.history = .withOldValues
      return ModelContext(try ModelContainer(for: Schema(models), configurations: configuration))
    }
    let token: DefaultHistoryToken
    do {
      let context = try open(DenV1.Beast.self, DenV1.Wolf.self)
      let wolf = DenV1.Wolf(name: "Tom")
      context.insert(wolf)
      try context.save()
      token = try Self.lastToken(context)
      wolf.name = "Tim"
      try context.save()
    }
    let context = try open(DenV2.Bear.self, DenV2.Beast.self, DenV2.Wolf.self)
    #expect(throws: SwiftDataError.historyTokenExpired) { try context.container.restore(to: token) }
    #expect(throws: SwiftDataError.historyTokenExpired) { try context.container.asOf(token) }
    #expect(try context.only(DenV2.Wolf.self).name == "Tim")
  }

  @Test func `refuses what it cannot know`() throws {
    let store = try TestStore.voyages()
    let plain = store.context()
    plain.insert(Label(title: "a"))
    try plain.save()
    let token = try Self.lastToken(plain)
    #expect(throws: SwiftDataError.oldValuesMissing) { try store.container.restore(to: token) }
    let context = try store.keepingOldValues()
    try context.only(Label.self).title = "b"
    try context.save()
    #expect(throws: SwiftDataError.historyTokenExpired) {
      try context.container.restore(
        to: DefaultHistoryToken(store: #require(token.tokenValue?.keys.first), number: 0))
    }
    try context.transaction {
      #expect(throws: SwiftDataError.transactionOpen) {
        try context.container.restore(to: Self.lastToken(context))
      }
    }
    let memory = try TestStore.voyages(.memory).keepingOldValues()
    memory.insert(Label(title: "a"))
    try memory.save()
    #expect(throws: SwiftDataError.oldValuesMissing) {
      try memory.container.restore(to: Self.lastToken(memory))
    }
  }
}
