import Foundation
import SwiftData
import Testing
import WorkerModels

@Suite("concurrency") struct ConcurrencyTests {
  @Test
  func `C1 containers and identifiers cross tasks, models and contexts do not`() async throws {
    // Compiles only because they are; with ModelContext or Member it does not.
    requireSendable(ModelContainer.self)
    requireSendable(PersistentIdentifier.self)
    requireSendable(Schema.self)
    requireSendable(FetchDescriptor<Member>.self)
    // A user may vouch for a class of theirs.
    let vouched = Vouched(name: "Ann")
    #expect(await Task { vouched.name }.value == "Ann")

    let store = try TestStore.clubs(.memory)
    let container = store.container
    let id = try await Task {
      let context = ModelContext(container)
      let ann = Member(name: "Ann")
      context.insert(ann)
      try context.save()
      return ann.persistentModelID
    }.value
    #expect((store.context().model(for: id) as? Member)?.name == "Ann")
  }

  private func requireSendable<T: Sendable>(_: T.Type) {}

  @Test(arguments: StorePlace.allCases) @MainActor
  func `C2 a model actor works on its own executor`(_ place: StorePlace) async throws {
    let store = try TestStore.clubs(place)
    let importer = MemberImporter(modelContainer: store.container)
    #expect(await !importer.isOnMainThread())
    let id = try await importer.insert("Ann")
    #expect(try store.context().only(Member.self).name == "Ann")
    #expect(await importer.isRegistered(id))
    #expect(try await importer.rename(id, to: "Anna"))
    #expect(try store.context().only(Member.self).name == "Anna")

    let other = MemberImporter(modelContainer: store.container)
    #expect(await other.isRegistered(id))
    #expect(try await other.rename(id, to: "Annette"))
    #expect(importer.modelContainer === store.container)
    let context = store.context()
    context.delete(try context.only(Member.self))
    try context.save()
    #expect(try await !other.rename(id, to: "nobody"))
  }

  @Test func `C2 an actor with an initializer of its own`() async throws {
    let store = try TestStore.clubs(.memory)
    let counter = MemberCounter(container: store.container, prefix: "m")
    #expect(try await counter.add(3) == 3)
    #expect(try await counter.add(2) == 5)
    #expect(try store.context().count(Member.self) == 5)
  }

  @Test(arguments: StorePlace.allCases)
  func `C3 contexts that write at the same time all succeed`(_ place: StorePlace) async throws {
    let store = try TestStore.clubs(place)
    let container = store.container
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<8 {
        group.addTask {
          let context = ModelContext(container)
          for number in 0..<25 {
            context.insert(
              Member(name: "\(writer).\(number)", club: Club(name: "club of \(writer)")))
            try context.save()
            _ = try context.fetchCount(FetchDescriptor<Member>())
          }
        }
      }
      try await group.waitForAll()
    }
    let reader = try store.reopened()
    #expect(try reader.count(Member.self) == 200)
    #expect(try Set(reader.all(Member.self).map(\.name)).count == 200)
    #expect(try reader.all(Member.self).allSatisfy { $0.club != nil })
  }

  @Test func `C3 readers go on while another context writes`() async throws {
    let store = try TestStore.clubs(.file)
    let container = store.container
    let context = store.context()
    let club = Club(name: "Chess")
    context.insert(club)
    try context.save()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        let context = ModelContext(container)
        let club = try context.fetch(FetchDescriptor<Club>())[0]
        for number in 0..<50 {
          // Two rows at once: no reader may see one without the other.
          club.members += [Member(name: "a\(number)"), Member(name: "b\(number)")]
          try context.save()
        }
      }
      for _ in 0..<3 {
        group.addTask {
          var last = 0
          while last < 100 {
            let context = ModelContext(container)
            let count = try context.fetchCount(FetchDescriptor<Member>())
            #expect(count % 2 == 0)
            #expect(count >= last)
            last = count
            await Task.yield()
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try context.only(Club.self).members.count == 100)
  }

  @Test(arguments: StorePlace.allCases)
  func `C3 upserts of the same values from many contexts leave one row`(_ place: StorePlace)
    async throws
  {
    let store = try TestStore(place, Badge.self, Scan.self)
    let container = store.container
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<4 {
        group.addTask {
          for number in 0..<25 {
            let context = ModelContext(container)
            context.insert(Badge(code: "code \(number)", label: "by \(writer)"))
            try context.save()
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try store.reopened().count(Badge.self) == 25)
  }

  @Test func `C4 two processes write to one store`() throws {
    let url = try StoreFile().url
    let context = ModelContext(try openLedgers(at: url))
    let workers = try [
      Worker(url, "write", "one", "1000", "60"), Worker(url, "write", "two", "2000", "60"),
    ]
    for number in 1..<61 {
      context.insert(Ledger(number: number, writer: "test", amounts: [number, 2, 3]))
      try context.save()
    }
    #expect(workers[0].numbers() == Array(1000..<1060))
    #expect(workers[1].numbers() == Array(2000..<2060))
    for worker in workers { #expect(worker.finish() == 0) }
    let ledgers = try context.all(Ledger.self)
    #expect(ledgers.count == 180)
    #expect(ledgers.allSatisfy { $0.isWhole })
    #expect(Set(ledgers.map(\.number)).count == 180)
  }

  @Test func `C4 a process sees what another has saved`() throws {
    let url = try StoreFile().url
    let context = ModelContext(try openLedgers(at: url))
    let worker = try Worker(url, "watch", "7")
    #expect(worker.number() == 0)
    context.insert(Ledger(number: 7, writer: "test", amounts: [1]))
    try context.save()
    worker.send("look")
    #expect(worker.number() == 1)
    context.delete(try context.only(Ledger.self))
    try context.save()
    worker.send("look")
    #expect(worker.number() == 0)
    worker.endInput()
    #expect(worker.finish() == 0)
  }

  @Test func `C4 another process's changes reach registered objects`() throws {
    let url = try StoreFile().url
    let context = ModelContext(try openLedgers(at: url))
    let ledger = Ledger(number: 1, writer: "test", amounts: [1, 2, 3, 4])
    context.insert(ledger)
    try context.save()
    let before = ledger.checksum
    let worker = try Worker(url, "revise", "other", "1")
    #expect(worker.numbers() == [0])
    #expect(worker.finish() == 0)
    context.processPendingChanges()
    #expect(ledger.checksum != before)
    #expect(ledger.isWhole)
    #expect(try context.only(Ledger.self) === ledger)
  }
}

@Model final class Vouched {
  var name: String
  init(name: String) { self.name = name }
}

// Sendable: its test uses it in one task at a time.
extension Vouched: @unchecked Sendable {}

/// An actor as written by hand, without the macro.
actor MemberCounter: ModelActor {
  nonisolated let modelContainer: ModelContainer
  nonisolated let modelExecutor: any ModelExecutor
  private let prefix: String

  init(container: ModelContainer, prefix: String) {
    modelContainer = container
    modelExecutor = DefaultSerialModelExecutor(modelContext: ModelContext(container))
    self.prefix = prefix
  }

  func add(_ count: Int) throws -> Int {
    for number in 0..<count { modelContext.insert(Member(name: "\(prefix)\(number)")) }
    try modelContext.save()
    return try modelContext.fetchCount(FetchDescriptor<Member>())
  }
}
