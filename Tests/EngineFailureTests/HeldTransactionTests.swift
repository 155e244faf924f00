import Dispatch
import Foundation
import RecordsTestSupport
import SteadTestSupport
import SwiftData
import Synchronization
import Testing

@testable import SteadRecords

/// What becomes of a transaction's locks and rows if a save in its block fails, or SQLite ends it itself.
@Suite("Transactions that go on", .hangLimit) struct HeldTransactionTests {
  private let files: [RecordsTestSupport.StoreFile]
  private let container: ModelContainer

  /// A store of counters and one of accounts.
  init() throws {
    files = [try RecordsTestSupport.StoreFile(), try RecordsTestSupport.StoreFile()]
    container = try ModelContainer(
      for: Schema([Counter.self, Account.self]),
      configurations: [
        ModelConfiguration("first", schema: Schema([Counter.self]), url: files[0].url),
        ModelConfiguration("second", schema: Schema([Account.self]), url: files[1].url),
      ])
  }

  private final class Flag: Sendable {
    private let value = Atomic(false)
    var isSet: Bool { value.load(ordering: .acquiring) }
    func set() { value.store(true, ordering: .releasing) }
  }

  /// A save that is refused: two accounts of one other have its email and its login.
  private func addRefused(_ context: ModelContext) throws -> Account {
    let both = Account(email: "a", login: "b")
    context.insert(both)
    context.insert(Counter(number: 1))
    return both
  }

  // The save ended the transaction of the one store and kept that of the other, in which another context had committed.
  // It then waited for a thread that had the first lock and waited for the second, for ever.
  @Test func `a refused save in a block waits for no thread that waits for it`() throws {
    let context = ModelContext(container)
    context.insertAll(Account(email: "a", login: "a"), Account(email: "b", login: "b"))
    try context.save()
    let (isDone, others) = (Flag(), DispatchGroup())
    let container = container
    for _ in 0..<2 {
      DispatchQueue.global().async(group: others) {
        while !isDone.isSet {
          let other = ModelContext(container)
          other.insert(Counter(number: 2))
          other.insert(Account(email: UUID().uuidString, login: UUID().uuidString))
          try? other.save()
        }
      }
    }
    for round in 0..<Effort.times(60) {
      let other = ModelContext(container)
      try context.transaction {
        if round % 2 == 0 {
          other.insert(Account(email: "\(round)", login: "\(round)"))
          try other.save()
        }
        let refused = try addRefused(context)
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        context.delete(refused)
      }
    }
    isDone.set()
    others.wait()
    let found = try ModelContext(container).fetch(FetchDescriptor<Counter>())
    #expect(found.count { $0.number == 1 } == Effort.times(60))
    #expect(try container.check().isSound)
  }

  /// Which save is next after SQLite has ended the transaction of the block.
  enum Next: CaseIterable { case own, others, deletion }

  // Each row was committed by itself, COMMIT failed, and the next attempt inserted all objects again. A savepoint began a
  // transaction that nothing had checked, whose commit was then taken for lost.
  @Test(arguments: Next.allCases, [false, true])
  func `after SQLite has ended it nothing is written outside a transaction`(
    next: Next, hasOthersWork: Bool
  ) throws {
    let (context, other) = (ModelContext(container), ModelContext(container))
    for number in 5..<8 { context.insert(Counter(number: number)) }
    try context.save()
    func stored() throws -> [Int] {
      let all = try ModelContext(container).fetch(FetchDescriptor<Counter>())
      return all.map(\.number).filter { $0 != 2 }.sorted()
    }
    let store = try #require(container.stores.first)
    func block() throws {
      context.insert(Counter(number: 1))
      other.insert(Counter(number: 2))
      if hasOthersWork { try other.save() }
      // As after a full disk.
      try store.writer.joinTransaction { try $0.execute("ROLLBACK") }
      switch next {
      case .own:
        #expect(throws: SwiftDataError.storeFailure) { try context.save() }
        // The block's transaction has begun again.
        try context.save()
      case .others:
        other.insert(Counter(number: 2))
        try other.save()
      case .deletion: try other.delete(model: Counter.self)
      }
    }
    if next == .own {
      try context.transaction(block: block)
    } else {
      #expect(throws: SwiftDataError.storeFailure) { try context.transaction(block: block) }
      #expect(try stored() == [5, 6, 7])
      try context.save()
    }
    #expect(!context.hasChanges)
    #expect(try stored() == [1, 5, 6, 7])
    #expect(try container.check().isSound)
  }

  // The inner one's save had ended it in one store and failed in the other. It took the outer one, which was open, for
  // its own, and ended that with its locks.
  @Test func `a transaction within another context's leaves that open`() throws {
    let (outer, inner) = (ModelContext(container), ModelContext(container))
    let other = ModelContext(container)
    let second = try #require(container.stores.last)
    func renameHistory(_ old: String, _ new: String) throws {
      try second.writer.joinTransaction { try $0.execute("ALTER TABLE \(old) RENAME TO \(new)") }
    }
    try outer.transaction {
      outer.insert(Counter(number: 0))
      try inner.transaction {
        inner.insert(Counter(number: 1))
        inner.insert(Account(email: "a", login: "a"))
        other.insert(Counter(number: 2))
        other.insert(Account(email: "b", login: "b"))
        try other.save()
        // The second store cannot commit.
        try renameHistory("stead_history", "aside")
        #expect(throws: SwiftDataError.self) { try inner.save() }
        // Unless the failure has rolled it back.
        try? renameHistory("aside", "stead_history")
      }
      for store in container.stores {
        #expect(store.writer.level == 1 && store.writer.isInTransaction)
      }
    }
    for store in container.stores { #expect(store.writer.level == 0) }
    let context = ModelContext(container)
    let numbers = try context.fetch(FetchDescriptor<Counter>()).map(\.number)
    #expect(Set(numbers) == [0, 1, 2])
    #expect(try Set(context.fetch(FetchDescriptor<Account>()).map(\.email)) == ["a", "b"])
    #expect(try container.check().isSound)
  }

  // It took the inner transaction for its own, and ended it: saves that had succeeded were lost, and no error said so.
  @Test(arguments: [false, true])
  func `an outer context's save in the block of an inner one is part of that`(isRefused: Bool)
    throws
  {
    let (outer, inner) = (ModelContext(container), ModelContext(container))
    outer.insertAll(Account(email: "a", login: "a"), Account(email: "b", login: "b"))
    try outer.save()
    try outer.transaction {
      try inner.transaction {
        inner.insert(Counter(number: 5))
        if isRefused {
          let refused = try addRefused(outer)
          #expect(throws: SwiftDataError.modelValidationFailure) { try outer.save() }
          outer.delete(refused)
        } else {
          outer.insert(Counter(number: 1))
          try outer.save()
        }
        for store in container.stores { #expect(store.writer.level == 2) }
      }
      for store in container.stores {
        #expect(store.writer.level == 1 && store.writer.isInTransaction)
      }
      let refused = Account(email: "a", login: "b")
      outer.insert(refused)
      #expect(throws: SwiftDataError.modelValidationFailure) { try outer.save() }
      outer.delete(refused)
      outer.insert(Counter(number: 6))
    }
    for store in container.stores { #expect(store.writer.level == 0) }
    let numbers = try ModelContext(container).fetch(FetchDescriptor<Counter>()).map(\.number)
    #expect(numbers.sorted() == [1, 5, 6])
    #expect(try container.check().isSound)
  }

  // The same with one store, where nothing is a savepoint without need.
  @Test(arguments: StorePlace.allCases)
  func `an outer context's save in an inner one's block stays with one store`(
    _ place: StorePlace
  ) throws {
    let store = try TestStore(place, Counter.self, Account.self)
    let (outer, inner) = (store.context(), store.context())
    outer.insertAll(Account(email: "a", login: "a"), Account(email: "b", login: "b"))
    try outer.save()
    try outer.transaction {
      try inner.transaction {
        outer.insert(Counter(number: 1))
        try outer.save()
        let refused = try addRefused(outer)
        #expect(throws: SwiftDataError.modelValidationFailure) { try outer.save() }
        outer.delete(refused)
        inner.insert(Counter(number: 5))
      }
      outer.insert(Counter(number: 6))
    }
    let numbers = try store.reopened().all(Counter.self).map(\.number)
    #expect(numbers.sorted() == [1, 1, 5, 6])
    #expect(try store.container.check().isSound)
  }
}
