import Foundation
import SwiftData
import Synchronization
import Testing

@testable import SteadRecords

/// A container with two configurations, whose tokens have a number for each.
@Suite("The history of several stores") struct SeveralStoresTests {
  private let files: [URL]
  private let container: ModelContainer
  private let context: ModelContext
  private let stores: [String]

  init() throws {
    let directory = try TestFiles.directory()
    files = ["first", "second"].map { directory.appending(path: "\($0).store") }
    container = try Self.open(files)
    context = ModelContext(container)
    stores = container.stores.map(\.identity.identifier)
  }

  private static func open(_ files: [URL]) throws -> ModelContainer {
    try ModelContainer(
      for: Schema([Label.self, Harbor.self, Voyage.self, Parcel.self]),
      configurations: [
        ModelConfiguration(
          "first", schema: Schema([Label.self, Harbor.self, Voyage.self]), url: files[0]),
        ModelConfiguration("second", schema: Schema([Parcel.self]), url: files[1]),
      ])
  }

  /// Saves a label, a parcel, or both in one save.
  private func save(_ kinds: String, by author: String? = nil) throws {
    context.author = author
    if kinds.contains("L") { context.insert(Label(title: kinds)) }
    if kinds.contains("P") { context.insert(Parcel(weight: 1)) }
    try context.save()
  }

  private func fetch(
    _ predicate: Predicate<DefaultHistoryTransaction>? = nil
  ) throws -> [DefaultHistoryTransaction] {
    try ModelContext(Self.open(files)).fetchHistory(Transactions(predicate: predicate))
  }

  private func numbers(_ token: DefaultHistoryToken) -> [Int64] {
    stores.map { token.number(in: $0) ?? -1 }
  }

  @Test func `is in the order of time, and each token names both`() throws {
    for kinds in ["L", "P", "LP", "P", "L"] { try save(kinds) }
    let history = try fetch()
    #expect(
      history.map { $0.storeIdentifier == stores[0] } == [true, false, true, false, false, true])
    #expect(
      history.map { numbers($0.token) } == [[1, 0], [1, 1], [2, 1], [2, 2], [2, 3], [3, 3]])
    #expect(history.map(\.token) == history.map(\.token).sorted())
    for (place, transaction) in history.enumerated() {
      let token = transaction.token
      #expect(
        try fetch(#Predicate { $0.token > token }).map(\.token)
          == history.dropFirst(place + 1).map(\.token))
      #expect(
        try fetch(#Predicate { $0.token <= token }).map(\.token)
          == history.prefix(place + 1).map(\.token))
    }
  }

  /// Many commits are made within a millisecond.
  @Test func `is in the order of the commits, whatever the clock shows`() throws {
    let kinds = (0..<300).map { ["LP", "P", "L", "PL"][$0 % 4] }
    for kinds in kinds { try save(kinds) }
    let wanted = kinds.flatMap { kinds in
      (kinds.contains("L") ? [true] : []) + (kinds.contains("P") ? [false] : [])
    }
    #expect(try fetch().map { $0.storeIdentifier == stores[0] } == wanted)
  }

  @Test func `keeps a reader's places in the stores that a token does not name`() throws {
    for kinds in ["LP", "L", "P"] { try save(kinds) }
    let all = try #require(try fetch().last?.token)
    try container.setHistoryReader("sync", at: all)
    let one = DefaultHistoryToken(store: stores[0], number: 1)
    try container.setHistoryReader("sync", at: one)
    #expect(try container.historyReaders["sync"].map(numbers) == [1, 2])
    try container.setHistoryReader("sync", at: nil)
    #expect(try container.historyReaders["sync"].map(numbers) == [0, 0])
  }

  /// Trimming waits for its store's lock, which another save may have that waits for the other store.
  @Test func `is trimmed when the save has let go of all stores`() throws {
    let configurations = zip(["first", "second"], files).map { name, url in
      var configuration = ModelConfiguration(
        name, schema: name == "first" ? Schema([Label.self]) : Schema([Parcel.self]),
        url: url.appendingPathExtension("trimmed"))
      configuration.historyLimits = .init(transactions: 10)
      return configuration
    }
    let container = try ModelContainer(
      for: Schema([Label.self, Parcel.self]), configurations: configurations)
    let context = ModelContext(container)
    for _ in 1..<HistoryTrimming.interval {
      context.insert(Label(title: "a"))
      try context.save()
    }
    let (isTaken, isCommitted, isDone) = (
      DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
    )
    let sawCommit = Mutex(false)
    let listeners = [CommitListener(), CommitListener()]
    listeners[0].setTurn {
      // Between the commits to both stores another thread takes the first one, until the second has its commit.
      Thread.detachNewThread {
        container.stores[0].writer.exclusively {
          isTaken.signal()
          let result = isCommitted.wait(timeout: .now() + .seconds(30))
          sawCommit.withLock { $0 = result == .success }
        }
        isDone.signal()
      }
      isTaken.wait()
    }
    listeners[1].setTurn { isCommitted.signal() }
    for (store, listener) in zip(container.stores, listeners) {
      // Of several contexts the others are told of a commit.
      for _ in 0..<2 { store.log.addContext() }
      store.log.listen(listener)
    }
    context.insert(Label(title: "b"))
    context.insert(Parcel(weight: 1))
    try context.save()
    isDone.wait()
    #expect(sawCommit.withLock { $0 })
    #expect(try context.fetchHistory(Transactions()).count == 10 + 1)
    withExtendedLifetime(listeners) {}
  }

  @Test func `is found by author, limit and reverse order across both`() throws {
    for (place, kinds) in ["L", "P", "L", "P"].enumerated() {
      try save(kinds, by: place < 2 ? "app" : "sync")
    }
    let token = try fetch()[0].token
    #expect(
      try fetch(#Predicate { $0.token > token && $0.author == "sync" }).map { numbers($0.token) }
        == [[2, 1], [2, 2]])
    var descriptor = Transactions(sortBy: [SortDescriptor(\.token, order: .reverse)])
    descriptor.fetchLimit = 2
    #expect(try context.fetchHistory(descriptor).map { numbers($0.token) } == [[2, 2], [2, 1]])
  }

  @Test func `H3 deleting expires the tokens before, in either store`() throws {
    for kinds in ["L", "P", "L", "P", "L"] { try save(kinds) }
    let tokens = try fetch().map(\.token)
    let second = tokens[1]
    try context.deleteHistory(Transactions(predicate: #Predicate { $0.token <= second }))
    #expect(try fetch().map { numbers($0.token) } == [[2, 1], [2, 2], [3, 2]])
    let first = tokens[0]
    #expect(throws: SwiftDataError.historyTokenExpired) {
      try fetch(#Predicate { $0.token > first })
    }
    #expect(try fetch(#Predicate { $0.token > second }).count == 3)
    try context.deleteHistory(Transactions())
    #expect(try fetch().isEmpty)
    let fourth = tokens[3]
    #expect(throws: SwiftDataError.historyTokenExpired) {
      try fetch(#Predicate { $0.token > fourth })
    }
    try save("LP")
    #expect(try fetch().map { numbers($0.token) } == [[4, 2], [4, 3]])
  }

  /// A token that was made when a store had no transaction names it with 0, and not as unknown.
  @Test func `H3 a token from before a store's first transaction expires with that one`() throws {
    try save("L")
    let token = try fetch()[0].token
    try save("P")
    try save("P")
    let parcels = stores[1]
    #expect(try fetch(#Predicate { $0.token > token }).count == 2)
    try context.deleteHistory(Transactions(predicate: #Predicate { $0.storeIdentifier == parcels }))
    #expect(throws: SwiftDataError.historyTokenExpired) {
      try fetch(#Predicate { $0.token > token })
    }
    // A token that is made now goes on from what was deleted.
    let fresh = try fetch()[0].token
    #expect(numbers(fresh) == [1, 2])
    try save("P")
    #expect(try fetch(#Predicate { $0.token > fresh }).map { numbers($0.token) } == [[1, 3]])
  }
}
