import Foundation
import SteadTestSupport
import SwiftData
import Testing

@testable import SteadRecords

@Suite("A history with old values") struct OldValueTests {
  @Test(arguments: StorePlace.allCases)
  func `shows what updates and deletions changed`(_ place: StorePlace) throws {
    let context = try TestStore.voyages(place).keepingOldValues()
    let voyage = Voyage(code: "a", name: "North", price: 1.5)
    let harbor = Harbor(place: "Lisbon", days: 2)
    context.insertAll(voyage, harbor)
    try context.save()
    harbor.voyage = voyage
    voyage.price = nil
    voyage.note = "new"
    try context.save()
    harbor.voyage = nil
    try context.save()
    context.delete(voyage)
    try context.save()
    let changes = try context.fetchHistory(Transactions()).map(\.changes)
    let updates = changes[1].compactMap {
      if case .update(let update as DefaultHistoryUpdate<Voyage>) = $0 { update } else { nil }
    }
    let update = try #require(updates.first)
    #expect(update.oldValue(of: \.price) as? Double == 1.5)
    #expect(update.oldValue(of: \.note) == nil && update.oldValue(of: \.name) == nil)
    let moved = changes[2].compactMap {
      if case .update(let update as DefaultHistoryUpdate<Harbor>) = $0 { update } else { nil }
    }
    #expect(
      moved.first?.oldValue(of: \.voyage) as? PersistentIdentifier
        == update.changedPersistentIdentifier)
    guard case .delete(let deletion as DefaultHistoryDelete<Voyage>) = changes[3][0] else {
      Issue.record("\(changes[3])")
      return
    }
    #expect(deletion.oldValues?[\.code] as? String == "a")
    #expect(deletion.oldValues?[\.note] as? String == "new")
  }

  @Test func `has none unless asked to, and loses them with another setting`() throws {
    let store = try TestStore.voyages()
    let plain = store.context()
    plain.insert(Label(title: "a"))
    try plain.save()
    try plain.all(Label.self)[0].title = "b"
    try plain.save()
    let token = try #require(try plain.fetchHistory(Transactions()).first?.token)
    #expect(throws: SwiftDataError.oldValuesMissing) { try store.container.asOf(token) }
    let context = try store.keepingOldValues()
    #expect(throws: SwiftDataError.historyTokenExpired) { try context.container.asOf(token) }
    try context.all(Label.self)[0].title = "c"
    try context.save()
    let last = try #require(try context.fetchHistory(Transactions()).last)
    guard case .update(let update as DefaultHistoryUpdate<Label>) = last.changes[0] else {
      Issue.record("\(last.changes)")
      return
    }
    #expect(update.oldValue(of: \.title) as? String == "b")
    _ = try store.secondContainer()
    // The first container goes on, without them.
    try context.all(Label.self)[0].title = "d"
    try context.save()
    #expect(throws: SwiftDataError.oldValuesMissing) { try context.container.asOf(last.token) }
  }

  @Test(arguments: StorePlace.allCases)
  func `opens the store as it was, with its objects and history`(_ place: StorePlace) throws {
    let context = try TestStore.voyages(place).keepingOldValues()
    let voyage = Voyage(code: "a", name: "North")
    voyage.harbors = [Harbor(place: "Lisbon")]
    context.insert(voyage)
    try context.save()
    let token = try #require(try context.fetchHistory(Transactions()).last?.token)
    voyage.name = "South"
    voyage.harbors.append(Harbor(place: "Goa"))
    try context.save()
    context.delete(voyage)
    try context.save()
    let past = ModelContext(try context.container.asOf(token))
    let found = try past.only(Voyage.self)
    #expect(found.name == "North" && found.harbors.map(\.place) == ["Lisbon"])
    #expect(found.persistentModelID.row == 1)
    #expect(try past.fetchHistory(Transactions()).map(\.token) == [token])
    found.name = "never"
    let error = try #require(throws: SwiftDataError.self) { try past.save() }
    #expect(error.code == .readOnlyStore)
    // It said that the program had opened the store with allowsSave: false.
    #expect(error.message.contains("past state") && error.message.contains("restore(to:)"))
    #expect(try context.all(Voyage.self).isEmpty)
  }

  @Test func `reads large values of then, and refuses a token of the future`() throws {
    let context = try TestStore(Headline.self).keepingOldValues()
    let headline = Headline(title: "a")
    headline.picture = Data(repeating: 7, count: 200_000)
    context.insert(headline)
    try context.save()
    let token = try #require(try context.fetchHistory(Transactions()).last?.token)
    headline.title = "b"
    try context.save()
    let past = try ModelContext(context.container.asOf(token)).only(Headline.self)
    #expect(past.title == "a" && past.picture == Data(repeating: 7, count: 200_000))
    let identifier = try #require(token.tokenValue?.keys.first)
    let future = DefaultHistoryToken(store: identifier, number: 99)
    #expect(throws: SwiftDataError.invalidTransactionFetchRequest) {
      try context.container.asOf(future)
    }
  }
}
