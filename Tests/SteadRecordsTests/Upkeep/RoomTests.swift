import Dispatch
import Foundation
import SteadTestSupport
import SwiftData
import Testing
import WorkerModels

@testable import SteadRecords

@Suite("Compacting and erasing a store") struct RoomTests {
  @Test func `compacting gives back the room of what was deleted, and keeps the rest`() throws {
    let store = try UpkeepStore()
    let context = store.store.context()
    for number in 0..<3_000 {
      context.insert(Member(name: String(repeating: "\(number)", count: 50)))
    }
    try context.save()
    try context.delete(model: Member.self, where: #Predicate { $0.club == nil })
    let identifier = try context.only(Club.self).persistentModelID
    let before = try store.bytes().count
    let connection = try StoreFile(ModelConfiguration(url: store.store.url)).open(writable: false)
    let freePages = { try connection.integer("PRAGMA freelist_count") }
    try #require(try freePages() ?? 0 > 100)

    let freed = try store.container.compact()
    #expect(try freePages() == 0)
    #expect(freed > 500_000)
    #expect(abs(before - (try store.bytes().count) - Int(freed)) < 40_000)
    #expect(try store.container.check().problems.isEmpty)
    let reader = try store.store.reopened()
    #expect(try reader.only(Club.self).persistentModelID == identifier)
    #expect(try reader.only(Headline.self).picture == UpkeepStore.picture)
    #expect(try reader.count(Member.self) == 3)
    #expect(try store.container.compact() < 40_000)
  }

  @Test func `compacting removes files that no row refers to`() throws {
    let store = try UpkeepStore()
    try store.container.compact()
    let stray = store.files.file(String(repeating: "b", count: 64))
    try Data(count: 500_000).write(to: stray)
    let freed = try store.container.compact()
    #expect(freed >= 500_000 && freed < 540_000)
    #expect(!FileManager.default.fileExists(atPath: stray.path))
    #expect(try store.store.reopened().only(Headline.self).picture == UpkeepStore.picture)
  }

  @Test func `a store that was compacted is opened without writing`() throws {
    let store = try UpkeepStore()
    try store.container.compact()
    let writer = try StoreFile(ModelConfiguration(url: store.store.url)).open(writable: true)
    try writer.execute("BEGIN IMMEDIATE")
    #expect(try store.store.reopened().count(Club.self) == 1)
    try writer.execute("ROLLBACK")
  }

  @Test(arguments: StorePlace.allCases)
  func `compacting can be ended, and leaves the store as it is`(place: StorePlace) throws {
    let store = try UpkeepStore(place)
    #expect(throws: CancellationError.self) {
      try store.container.compact { if $0.phase == .compacting { throw CancellationError() } }
    }
    #expect(try store.container.check().problems.isEmpty)
    #expect(try store.store.context().count(Member.self) == 3)
  }

  @Test(arguments: StorePlace.allCases)
  func `a transaction that is open is a reason not to begin`(place: StorePlace) throws {
    let store = try UpkeepStore(place)
    let context = store.store.context()
    try context.transaction {
      #expect(throws: SwiftDataError.transactionOpen) { try store.container.compact() }
      #expect(throws: SwiftDataError.transactionOpen) { try store.container.erase() }
    }
    #expect(try store.store.context().count(Member.self) == 3)
  }

  @Test(.needs(.smallDisk))
  func `compacting without room throws, and leaves the store as it is`() throws {
    let disk = try SmallDisk(byteCount: 4 << 20)
    let container = try openLedgers(at: disk.directory.file("test.store"))
    let context = ModelContext(container)
    context.insert(Ledger(number: 1, writer: "test", amounts: Array(0..<10_000)))
    try context.save()
    try disk.fill(leaving: 64 * 1024)
    #expect(throws: SwiftDataError.storageFull) { try container.compact() }
    #expect(try ModelContext(container).only(Ledger.self).isWhole)
  }

  @Test func `erasing leaves no byte of what was stored in any file`() throws {
    let store = try UpkeepStore()
    let second = try store.store.secondContainer()
    let other = ModelContext(second)
    #expect(try other.count(Club.self) == 1)
    // The last two are what a process that was killed leaves of a plan's stages.
    for suffix in ["backup", "backup-new", "migrating", "dry-run"] {
      try store.container.backUp(to: URL(filePath: "\(store.store.url.path).\(suffix)"))
    }
    try #require(try store.bytes().range(of: Data("zugzwang".utf8)) != nil)
    try store.container.erase()

    let names = try FileManager.default.contentsOfDirectory(atPath: store.store.directory.path)
    #expect(names.sorted() == ["test.store", "test.store-shm", "test.store-wal"])
    let left = try store.bytes()
    for word in ["zugzwang", "Member 1", "openings", "Dora"] {
      #expect(left.range(of: Data(word.utf8)) == nil, "\(word)")
    }
    // The other container goes on with the empty store.
    #expect(try other.count(Club.self) == 0)
    other.insert(Headline(title: "new"))
    try other.save()
    #expect(try store.store.context().only(Headline.self).title == "new")
    #expect(try store.container.check().problems.isEmpty)
  }

  /// The log kept all bytes, since the timer that ends snapshots came after the five seconds for which it is waited for.
  @Test(.exitTests) func `erasing waits for no timer of a busy process`() async {
    await #expect(processExitsWith: .success) {
      let store = try UpkeepStore()
      // As many as all threads that the queue gets.
      let end = DispatchSemaphore(value: 0)
      for _ in 0..<1_000 { DispatchQueue.global(qos: .utility).async { end.wait() } }
      #expect(try ModelContext(store.store.secondContainer()).count(Club.self) == 1)
      #expect(try store.store.context().count(Club.self) == 1)
      try store.container.erase()
      #expect(try Data(contentsOf: URL(filePath: store.store.url.path + "-wal")).isEmpty)
      #expect(try store.bytes().range(of: Data("zugzwang".utf8)) == nil)
    }
  }

  @Test func `erasing asks each store before the first is erased`() throws {
    let files = try TestFiles.directory()
    func open(writable: Bool) throws -> ModelContainer {
      try ModelContainer(
        for: Schema([Unrelated.self, Headline.self]),
        configurations: [
          ModelConfiguration("one", schema: Schema([Unrelated.self]), url: files.file("a.db")),
          ModelConfiguration(
            "two", schema: Schema([Headline.self]), url: files.file("b.db"), allowsSave: writable),
        ])
    }
    let context = ModelContext(try open(writable: true))
    context.insertAll(Unrelated(number: 7), Headline(title: "seven"))
    try context.save()
    let container = try open(writable: false)
    #expect(throws: SwiftDataError.readOnlyStore) { try container.erase() }
    #expect(try ModelContext(container).only(Unrelated.self).number == 7)
  }

  /// The numbers of rows began again at 1, so that an identifier from before led to an object that was made later.
  @Test func `an identifier of an erased object never leads to a new one`() throws {
    let container = try openLedgers(at: StoreFile().url)
    let context = ModelContext(container)
    let old = Ledger(number: 1, writer: "test", amounts: [1, 2])
    context.insert(old)
    try context.save()
    let identifier = old.persistentModelID
    try container.erase()
    let fresh = ModelContext(container)
    let new = Ledger(number: 2, writer: "test", amounts: [3])
    fresh.insert(new)
    try fresh.save()
    #expect(new.persistentModelID != identifier)
  }

  @Test func `another process finds an erased store empty, and goes on with it`() throws {
    let url = try StoreFile().url
    let container = try openLedgers(at: url)
    let context = ModelContext(container)
    context.insert(Ledger(number: 1, writer: "test", amounts: [1, 2]))
    try context.save()
    let worker = try Worker(url, "watch", "1")
    #expect(worker.number() == 1)
    try container.erase()
    worker.send("look")
    #expect(worker.number() == 0)
    context.insert(Ledger(number: 1, writer: "test", amounts: [3]))
    try context.save()
    worker.send("look")
    #expect(worker.number() == 1)
    worker.end()
  }
}
