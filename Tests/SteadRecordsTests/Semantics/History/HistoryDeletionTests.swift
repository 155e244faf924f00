import Foundation
import SteadSQLite
import SwiftData
import Testing

@testable import SteadRecords

@Suite("Deleting history") struct HistoryDeletionTests {
  private func filled(_ place: StorePlace, _ count: Int = 5) throws -> (TestStore, ModelContext) {
    let store = try TestStore.voyages(place)
    let context = store.context()
    for number in 0..<count {
      context.author = number % 2 == 0 ? "even" : "odd"
      context.insert(Harbor(place: "\(number)"))
      try context.save()
    }
    return (store, context)
  }

  @Test(arguments: StorePlace.allCases)
  func `H3 expires the tokens before what was deleted, and no others`(_ place: StorePlace) throws {
    let (store, context) = try filled(place)
    let tokens = try context.fetchHistory(Transactions()).map(\.token)
    let third = tokens[2]
    try context.deleteHistory(Transactions(predicate: #Predicate { $0.token <= third }))
    let (second, fourth) = (tokens[1], tokens[3])
    #expect(throws: SwiftDataError.historyTokenExpired) {
      try context.fetchHistory(Transactions(predicate: #Predicate { $0.token > second }))
    }
    func numbers(after token: DefaultHistoryToken) throws -> [Int64] {
      try store.reopened().fetchHistory(Transactions(predicate: #Predicate { $0.token > token }))
        .map(\.transactionIdentifier)
    }
    #expect(try numbers(after: third) == [4, 5])
    #expect(try numbers(after: fourth) == [5])
    #expect(try context.fetchHistory(Transactions()).map(\.transactionIdentifier) == [4, 5])
  }

  /// The fetch was empty, and left out what was saved after the restore until the numbers were beyond the token's.
  @Test func `H3 a token that is newer than a restored backup expires`() throws {
    let (store, context) = try filled(.file)
    let backup = store.directory.appending(path: "backup.store")
    try store.container.backUp(to: backup)
    let last = try context.fetchHistory(Transactions()).map(\.token)[4]
    context.insert(Harbor(place: "lost"))
    try context.save()
    let newer = try context.fetchHistory(Transactions()).map(\.token)[5]
    let restored = ModelContext(
      try ModelContainer(for: store.schema, configurations: ModelConfiguration(url: backup)))
    #expect(
      try restored.fetchHistory(Transactions(predicate: #Predicate { $0.token > last })).isEmpty)
    let error = try #require(throws: SwiftDataError.historyTokenExpired) {
      try restored.fetchHistory(Transactions(predicate: #Predicate { $0.token > newer }))
    }
    #expect(error.message.contains("it names transaction 6, and the store has 5"))
    // A token may bound the transactions from above.
    #expect(
      try restored.fetchHistory(Transactions(predicate: #Predicate { $0.token <= newer })).count
        == 5)
  }

  @Test(arguments: StorePlace.allCases)
  func `of everything lets the numbers go on`(_ place: StorePlace) throws {
    let (store, context) = try filled(place)
    try context.deleteHistory(Transactions())
    #expect(try context.fetchHistory(Transactions()).isEmpty)
    try context.deleteHistory(Transactions())
    context.insert(Harbor(place: "next"))
    try context.save()
    #expect(
      try store.reopened().fetchHistory(Transactions()).map(\.transactionIdentifier) == [6])
    #expect(try context.all(Harbor.self).count == 6)
  }

  @Test(arguments: StorePlace.allCases)
  func `of an author leaves the others`(_ place: StorePlace) throws {
    let (_, context) = try filled(place)
    try context.deleteHistory(Transactions(predicate: #Predicate { $0.author == "even" }))
    #expect(try context.fetchHistory(Transactions()).map(\.transactionIdentifier) == [2, 4])
  }

  @Test(arguments: StorePlace.allCases)
  func `an erased store has none, and its tokens expire`(_ place: StorePlace) throws {
    let (store, context) = try filled(place)
    let tokens = try context.fetchHistory(Transactions()).map(\.token)
    try store.container.erase()
    let fresh = store.context()
    #expect(try fresh.fetchHistory(Transactions()).isEmpty)
    // The newest did not, so that its reader never learned of the erasure.
    for token in tokens {
      #expect(throws: SwiftDataError.historyTokenExpired) {
        try fresh.fetchHistory(Transactions(predicate: #Predicate { $0.token > token }))
      }
    }
    fresh.insert(Harbor(place: "new"))
    try fresh.save()
    let next = try #require(try fresh.fetchHistory(Transactions()).first?.token)
    #expect(try fresh.fetchHistory(Transactions(predicate: #Predicate { $0.token > next })).isEmpty)
  }
}
