import Foundation
import SteadSQLite
import SwiftData
import Synchronization
import Testing

@testable import SteadRecords

/// SQLite says that a file has changed, and not by whom. A change without a new number is another program's, after which
/// every object is read again. The first save of a store marks its file by two commits without a number; in four of ten
/// processes a reader between them took one for another program's, and observers were told of a change that was none.
@Suite("Whose change of a store's file it is") struct OutsiderTests {
  /// Reads a store's commit again and again, on a thread of its own, until it is stopped.
  private final class Reading: Sendable {
    private let isStopped = Atomic<Bool>(false)
    private let end = DispatchSemaphore(value: 0)

    init(_ store: RecordStore) {
      Thread.detachNewThread { [self] in
        while !isStopped.load(ordering: .relaxed) { _ = try? store.read(.newest) { $1 } }
        end.signal()
      }
    }

    func stop() {
      isStopped.store(true, ordering: .relaxed)
      end.wait()
    }
  }

  private struct Failure: Error {}

  private func store(of container: ModelContainer) throws -> RecordStore {
    try #require(container.stores.first)
  }

  // A reader's two looks, of which one was between a commit of the mark and its being counted.
  @Test func `a reader between the commits of a mark notes nothing`() throws {
    let test = try TestStore(.file, Club.self, Member.self, Skill.self)
    let store = try store(of: test.container)
    let writer = try StoreFile(ModelConfiguration(url: test.url)).open(writable: true)
    func look() throws { _ = try store.read(.newest) { $1 } }
    try look()
    store.log.transactionBegins()
    try writer.beginWriting(namesLog: true) {
      try look()
      try store.log.commitQuietly {
        try look()
        try writer.commit()
        try look()
      }
      try look()
    } _: {
      store.endIdleSnapshots()
    }
    try writer.execute("ROLLBACK")
    store.log.transactionEnds()
    try look()
    #expect(store.log.outsiderCount == 0)
    // One that no transaction of this process explains.
    try writer.execute("UPDATE stead_metadata SET value = value || ' ' WHERE key = 'tables'")
    try look()
    #expect(store.log.outsiderCount == 1)
  }

  @Test(arguments: StorePlace.allCases, [1, 2])
  func `what a store's own contexts write is nobody else's`(
    place: StorePlace, containers: Int
  ) async throws {
    for round in 0..<Effort.times(3) {
      let test = try TestStore(place, Club.self, Member.self, Skill.self)
      var all = [test.container]
      if containers == 2, place == .file { all.append(try test.secondContainer()) }
      let stores = try all.map(store)
      let log = stores[0].log
      let readings = stores.map(Reading.init)
      let contexts = all.flatMap { [ModelContext($0), ModelContext($0)] }
      for number in 0..<8 {
        let context = contexts[number % contexts.count]
        context.insert(Club(name: "\(number)"))
        try context.save()
        // Takes back a transaction that may have marked the file.
        try? context.transaction {
          context.insert(Club(name: "not saved"))
          throw Failure()
        }
        context.rollback()
        if number == 5 { try context.deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>()) }
        // As SQLite does by itself, after which the next save marks the file again.
        if place == .file, number % 3 == 1 {
          try stores[0].exclusively {
            let connection = try stores[0].file.open(writable: true)
            _ = try connection.checkpoint(.full, patience: 0)
          }
        }
      }
      for reading in readings { reading.stop() }
      #expect(log.outsiderCount == 0, "round \(round)")
      #expect(try contexts[0].fetchCount(FetchDescriptor<Club>()) == 8)
      await Task.yield()
    }
  }

  /// A program that keeps no count: no trigger of the history exists, as in a store without one. A container's own
  /// commits don't hide it. Those of two containers do, unless each looks before the next one.
  @Test(arguments: [1, 2], 1...UInt64(3))
  func `another program's change shows at the next fetch, whatever is written beside it`(
    containerCount: Int, seed: UInt64
  ) async throws {
    var random = SplitMix(seed: seed)
    for _ in 0..<Effort.times(3) {
      let file = try RecordsTestSupport.StoreFile()
      var configuration = ModelConfiguration(url: file.url)
      configuration.history = .off
      let schema = Schema([Club.self, Member.self, Skill.self])
      let containers = try (0..<containerCount).map { _ in
        try ModelContainer(for: schema, configurations: configuration)
      }
      let contexts = (containers + containers).map { ModelContext($0) }
      contexts[0].insert(Club(name: "0"))
      try contexts[0].save()
      let clubs = try contexts.map { try #require(try $0.fetch(FetchDescriptor<Club>()).first) }
      func look(_ note: Comment) throws {
        for (context, club) in zip(contexts, clubs) {
          _ = try context.fetchCount(FetchDescriptor<Club>())
          #expect(club.name == name, note)
        }
      }
      let outsider = try StoreFile(configuration).open(writable: true)
      var name = "0"
      for step in 1...30 {
        let note = Comment(rawValue: "seed \(seed), step \(step)")
        let context = try #require(contexts.randomElement(using: &random))
        switch Int.random(in: 0..<6, using: &random) {
        case 0, 1:
          if containerCount > 1 { try look(note) }
          name = "\(step)"
          try outsider.run("UPDATE Club SET name = ?1 WHERE city IS NULL", [.text(name)])
          if containerCount > 1 { try look(note) }
        case 2:
          context.insert(Club(name: "own \(step)", city: "elsewhere"))
          try context.save()
        case 3: _ = try outsider.checkpoint(.full, patience: 0)
        case 4: try? context.transaction { throw Failure() }
        default: break
        }
        if Bool.random(using: &random) { try look(note) }
      }
      await Task.yield()
    }
  }
}
