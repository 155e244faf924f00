import Foundation
import Observation
import SteadSQLite
import SteadTestSupport
import SwiftData
import Synchronization
import Testing
import WorkerModels

@testable import SteadRecords

@Suite("A history observer") struct HistoryObserverTests {
  /// Waits until an observer's counter has risen above a number.
  private func rises(_ observer: HistoryObserver, above number: Int) async {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    @Sendable func track() {
      withObservationTracking {
        if observer.eventCounter > number { continuation.yield() }
      } onChange: {
        // Tracking begins again outside the change.
        Task { track() }
      }
    }
    track()
    for await _ in stream {
      continuation.finish()
      return
    }
  }

  private func observer(
    _ store: TestStore, of models: [any PersistentModel.Type] = [], by authors: Set<String> = []
  ) throws -> HistoryObserver {
    try HistoryObserver(
      observedModels: models, authors: authors, modelContainer: store.container)
  }

  @Test(.hangLimit, arguments: StorePlace.allCases)
  func `hears other contexts`(_ place: StorePlace) async throws {
    let store = try TestStore.voyages(place)
    let observer = try observer(store)
    #expect(observer.eventCounter == 0)
    let context = store.context()
    context.insert(Label(title: "a"))
    try context.save()
    await rises(observer, above: 0)
  }

  @Test(.hangLimit)
  func `hears other containers and plain SQL`() async throws {
    let store = try TestStore.voyages()
    let observer = try observer(store)
    let context = ModelContext(try store.secondContainer())
    context.insert(Label(title: "a"))
    try context.save()
    await rises(observer, above: 0)
    let seen = observer.eventCounter
    try SQLiteConnection.foreign(store.url).execute("INSERT INTO Label (title) VALUES ('b')")
    await rises(observer, above: seen)
  }

  /// A store with one transaction, the context that saved it, and the store's identifier.
  private func storeWithHistory() throws -> (TestStore, ModelContext, String) {
    let store = try TestStore.voyages()
    let context = store.context()
    context.insert(Label(title: "a"))
    try context.save()
    let name = try #require(
      try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).first?
        .storeIdentifier)
    return (store, context, name)
  }

  /// With a token the store needn't be read before the first look.
  @Test(.hangLimit)
  func `throws if it can't read a store for which it has no token`() throws {
    let (store, _, name) = try storeWithHistory()
    try SQLiteConnection.foreign(store.url).execute("DROP TABLE stead_history")
    #expect(throws: SwiftDataError.self) { _ = try observer(store) }
    #expect(throws: Never.self) {
      _ = try HistoryObserver(
        historyTokens: [name: DefaultHistoryToken(store: name, number: 1)],
        modelContainer: store.container)
    }
  }

  /// The observer waited until the restored store had as many transactions as the token.
  @Test(.hangLimit)
  func `hears a store that is older than its token, and what is saved then`() async throws {
    let (store, context, name) = try storeWithHistory()
    let observer = try HistoryObserver(
      historyTokens: [name: DefaultHistoryToken(store: name, number: 100)],
      modelContainer: store.container)
    await rises(observer, above: 0)
    let seen = observer.eventCounter
    context.insert(Label(title: "b"))
    try context.save()
    await rises(observer, above: seen)
  }

  @Test(.hangLimit)
  func `hears other processes`() async throws {
    let store = try TestStore(.file, Ledger.self, Entry.self)
    let observer = try observer(store, of: [Ledger.self])
    let worker = try Worker(store.url, "write", "other", "1", "1")
    await rises(observer, above: 0)
    #expect(worker.finish() == 0)
  }

  /// The commit of a process that a context's fetch has seen first was news to nobody.
  @Test(.hangLimit)
  func `hears what another context has fetched before`() async throws {
    let store = try TestStore(.file, Ledger.self, Entry.self)
    let context = store.context()
    for number in 1...5 {
      let observer = try observer(store)
      let worker = try Worker(store.url, "write", "other", "\(number)", "1")
      #expect(worker.number() == number)
      #expect(try context.count(Ledger.self) == number)
      await rises(observer, above: 0)
      #expect(worker.finish() == 0)
    }
  }

  @Test func `counts observed models and authors alone`() throws {
    let store = try TestStore.voyages()
    let labels = try observer(store, of: [Label.self])
    let app = try observer(store, by: ["app"])
    let context = store.context()
    func counts(after model: any PersistentModel, by author: String?) throws -> [Int] {
      context.author = author
      context.insertAny(model)
      try context.save()
      return [labels, app].map { observer in
        // Whether or not the save has asked for a look yet.
        observer.queue.sync { observer.checkForCommits() }
        return observer.eventCounter
      }
    }
    #expect(try counts(after: Harbor(place: "a"), by: nil) == [0, 0])
    #expect(try counts(after: Harbor(place: "b"), by: "app") == [0, 1])
    #expect(try counts(after: Label(title: "c"), by: "sync") == [1, 1])
    #expect(labels.observedModels.map { ObjectIdentifier($0) } == [ObjectIdentifier(Label.self)])
    #expect(app.authors == ["app"])
  }

  @Test(.hangLimit)
  func `counts subclasses of an observed model`() async throws {
    let store = try TestStore.vehicles(.file)
    let vehicles = try observer(store, of: [Vehicle.self])
    let context = store.context()
    context.insert(Truck(name: "big", load: 1))
    try context.save()
    await rises(vehicles, above: 0)
  }

  @Test(.hangLimit)
  func `counts what came after its tokens`() async throws {
    let store = try TestStore.voyages()
    let context = store.context()
    for title in ["a", "b"] {
      context.insert(Label(title: title))
      try context.save()
    }
    let tokens = try context.fetchHistory(Transactions()).map(\.token)
    let identifier = try #require(tokens[0].tokenValue?.keys.first)
    let late = try HistoryObserver(
      historyTokens: [identifier: tokens[0]], modelContainer: store.container)
    await rises(late, above: 0)
    // What was deleted unseen counts, too.
    try context.deleteHistory(Transactions())
    let later = try HistoryObserver(
      historyTokens: [identifier: tokens[0]], modelContainer: store.container)
    await rises(later, above: 0)
  }

  @Test func `didSave has the tokens of the save`() throws {
    let store = try TestStore.voyages()
    let context = store.context()
    let found = Mutex<[String: DefaultHistoryToken]>([:])
    let token = NotificationCenter.default.addObserver(
      forName: ModelContext.didSave, object: context, queue: nil
    ) { note in found.withLock { $0 = note.historyTokens } }
    defer { NotificationCenter.default.removeObserver(token) }
    for title in ["a", "b"] {
      context.insert(Label(title: title))
      try context.save()
    }
    let last = try #require(try context.fetchHistory(Transactions()).last)
    #expect(found.withLock { $0 } == [last.storeIdentifier: last.token])
  }
}
