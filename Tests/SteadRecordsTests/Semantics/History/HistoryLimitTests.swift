import Foundation
import SwiftData
import Testing

@testable import SteadRecords

@Suite("The limits of a history") struct HistoryLimitTests {
  private func open(
    _ store: TestStore, _ limits: ModelConfiguration.HistoryLimits
  ) throws -> ModelContext {
    var configuration = ModelConfiguration(url: store.url)
    configuration.historyLimits = limits
    return ModelContext(try ModelContainer(for: store.schema, configurations: configuration))
  }

  private func fill(_ context: ModelContext, _ count: Int) throws {
    for number in 0..<count {
      context.insert(Label(title: "\(number)"))
      try context.save()
    }
  }

  private func numbers(_ context: ModelContext) throws -> [Int64] {
    try context.fetchHistory(Transactions()).map(\.transactionIdentifier)
  }

  @Test func `keep the last transactions by count, bytes and age`() throws {
    let store = try TestStore.voyages()
    try fill(store.context(), 10)
    try open(store, .none).container.trimHistory()
    try open(store, .init(age: 3600)).container.trimHistory()
    #expect(try numbers(store.context()).count == 10)
    let counted = try open(store, .init(transactions: 6))
    let old = try #require(try counted.fetchHistory(Transactions()).first?.token)
    try counted.container.trimHistory()
    #expect(try numbers(counted) == [5, 6, 7, 8, 9, 10])
    #expect(throws: SwiftDataError.historyTokenExpired) {
      try counted.fetchHistory(Transactions(predicate: #Predicate { $0.token > old }))
    }
    // A list of one insert has some 25 bytes.
    let small = try open(store, .init(bytes: 60))
    try small.container.trimHistory()
    let left = try numbers(small)
    #expect(!left.isEmpty && left.count < 4 && left.last == 10)
    try open(store, .init(age: -60)).container.trimHistory()
    #expect(try numbers(small).isEmpty)
    try fill(small, 1)
    #expect(try numbers(small) == [11])
  }

  /// The smallest integer and an infinite age ended the program; an age of thousands of years removed everything.
  @Test func `may be any number`() throws {
    let store = try TestStore.voyages()
    try fill(store.context(), 4)
    for age in [Double.infinity, .nan, 1e300, 2e11, 1e12] {
      try open(store, .init(age: age)).container.trimHistory()
      #expect(try numbers(store.context()) == [1, 2, 3, 4], "\(age)")
    }
    for count in [Int.max, .min, -1] {
      for limits: ModelConfiguration.HistoryLimits in [
        .init(transactions: count), .init(bytes: count),
        .init(transactions: count, unreadTransactions: count),
      ] {
        try open(store, limits).container.trimHistory()
        let left = try numbers(store.context())
        #expect(left == (count < 0 ? [] : [1, 2, 3, 4]), "\(limits)")
      }
    }
  }

  /// It removed what its readers had handled, and the transactions of a history without readers.
  @Test(arguments: [nil, 3, 9], [0, 4])
  func `keep what only the limit of unread transactions exceeds`(reader: Int?, count: Int) throws {
    let store = try TestStore.voyages()
    let context = try open(store, .init(unreadTransactions: count))
    try fill(context, 10)
    if let reader {
      let tokens = try context.fetchHistory(Transactions()).map(\.token)
      try context.container.setHistoryReader("sync", at: tokens[reader])
    }
    try context.container.trimHistory()
    #expect(try numbers(context) == Array(1...10))
  }

  /// Other programs may make the commits at which a removal was due.
  @Test func `are kept whoever makes the commits`() throws {
    let store = try TestStore.voyages()
    let limited = try open(store, .init(transactions: 10))
    let other = store.context()
    for _ in 0..<2 {
      try fill(other, Int(HistoryTrimming.interval))
      try fill(limited, 1)
    }
    #expect(try numbers(limited).count == 10)
  }

  @Test func `keep what a reader has not handled, up to a limit of its own`() throws {
    let store = try TestStore.voyages()
    let context = try open(store, .init(transactions: 2))
    try fill(context, 10)
    let tokens = try context.fetchHistory(Transactions()).map(\.token)
    try context.container.setHistoryReader("sync", at: tokens[3])
    #expect(try store.container.historyReaders == ["sync": tokens[3]])
    // The slowest of several counts.
    try context.container.setHistoryReader("index", at: tokens[6])
    try context.container.trimHistory()
    #expect(try numbers(context) == [5, 6, 7, 8, 9, 10])
    let strict = try open(store, .init(transactions: 2, unreadTransactions: 4))
    try strict.container.trimHistory()
    #expect(try numbers(context) == [7, 8, 9, 10])
    for name in ["sync", "index"] { try context.container.removeHistoryReader(name) }
    try context.container.trimHistory()
    #expect(try numbers(context) == [9, 10])
  }

  @Test func `are applied by saves`() throws {
    let store = try TestStore.voyages()
    let context = try open(store, .init(transactions: 10))
    try fill(context, Int(HistoryTrimming.interval) + 1)
    #expect(try numbers(context).count == 11)
  }
}
