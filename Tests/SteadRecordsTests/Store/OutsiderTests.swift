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
    try writer.beginImmediate()
    try writer.markFile(writer.fileHeader, namesLog: true) {
      try look()
      try store.log.commitQuietly(writer) {
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
          try stores[0].writer.exclusively {
            let connection = try stores[0].file.open(writable: true)
            _ = try connection.checkpoint(.full, busyTimeout: 0)
          }
        }
      }
      for reading in readings { reading.stop() }
      #expect(log.outsiderCount == 0, "round \(round)")
      #expect(try contexts[0].fetchCount(FetchDescriptor<Club>()) == 8)
      await Task.yield()
    }
  }

  /// A program that keeps no count: no trigger of the history exists, as in a store without one. The commits of two
  /// containers hid it from each other, unless each had looked before the next one.
  @Test(arguments: [1, 2, 3], 1...UInt64(3))
  func `another program's change shows at the next fetch, whatever is written beside it`(
    containerCount: Int, seed: UInt64
  ) async throws {
    var random = SplitMix(seed: seed &+ (Effort.seed &- 1) &* 3)
    for _ in 0..<Effort.times(3) {
      var trial = try OutsiderTrial(containerCount)
      for step in 1...40 { try trial.run(step, &random) }
      try trial.look()
      if let problem = trial.problem {
        Issue.record("seed \(seed): \(problem)\n\(trial.log.joined(separator: "\n"))")
        return
      }
      await Task.yield()
    }
  }

  /// One change of another program, before or after that of another container, which may be closed afterwards.
  @Test(arguments: [false, true], [false, true])
  func `a container's commit hides no other program's change from another container`(
    comesFirst: Bool, isClosed: Bool
  ) throws {
    var trial = try OutsiderTrial(2)
    if comesFirst { try trial.changeElsewhere(1) }
    try trial.save(1, in: 1)
    if !comesFirst { try trial.changeElsewhere(1) }
    if isClosed { trial.close(1) }
    try trial.look()
    #expect(trial.problem == nil)
  }
}

/// A store without a history, which several containers and another program change by turns.
private struct OutsiderTrial {
  private struct Failure: Error {}

  /// A container with two contexts, which hold the object that the other program changes.
  private struct Reader {
    let contexts: [ModelContext]
    let clubs: [Club]
  }

  private let configuration: ModelConfiguration
  private let outsider: StoreConnection
  private var readers: [Reader?] = []
  private var name = "0"
  /// What was done, for who reads of a failure.
  private(set) var log: [String] = []
  private(set) var problem: String?

  init(_ containerCount: Int) throws {
    let file = try RecordsTestSupport.StoreFile()
    var configuration = ModelConfiguration(url: file.url)
    configuration.history = .off
    self.configuration = configuration
    let context = ModelContext(try Self.container(configuration))
    context.insert(Club(name: "0"))
    try context.save()
    outsider = try StoreFile(configuration).open(writable: true)
    for _ in 0..<containerCount { readers.append(try reader()) }
  }

  private static func container(_ configuration: ModelConfiguration) throws -> ModelContainer {
    try ModelContainer(
      for: Schema([Club.self, Member.self, Skill.self]), configurations: configuration)
  }

  private func reader() throws -> Reader {
    let container = try Self.container(configuration)
    let contexts = [ModelContext(container), ModelContext(container)]
    return Reader(contexts: contexts, clubs: try contexts.map(Self.club))
  }

  private static func club(_ context: ModelContext) throws -> Club {
    try context.only(where: #Predicate { $0.city == nil })
  }

  // MARK: Steps

  mutating func run(_ step: Int, _ random: inout SplitMix) throws {
    let place = Int.random(in: 0..<readers.count, using: &random)
    switch Int.random(in: 0..<10, using: &random) {
    case 0, 1, 2: try changeElsewhere(step)
    case 3, 4: try save(step, in: place)
    case 5:
      log.append("checkpoint")
      _ = try outsider.checkpoint(.full, busyTimeout: 0)
    case 6:
      log.append("roll back in \(place)")
      try? readers[place]?.contexts[0].transaction { throw Failure() }
    case 7:
      // One stays open.
      if place > 0 { close(place) }
    case 8: try saveInAnotherProcess()
    default:
      if readers[place] == nil {
        log.append("open \(place)")
        readers[place] = try reader()
      }
    }
    switch Int.random(in: 0..<4, using: &random) {
    case 0: try look()
    case 1: try look(at: Int.random(in: 0..<readers.count, using: &random))
    default: break
    }
  }

  mutating func changeElsewhere(_ step: Int) throws {
    log.append("another program")
    name = "\(step)"
    try outsider.run("UPDATE Club SET name = ?1 WHERE city IS NULL", [.text(name)])
  }

  mutating func save(_ step: Int, in place: Int) throws {
    guard let context = readers[place]?.contexts.last else { return }
    log.append("save in \(place)")
    context.insert(Club(name: "own \(step)", city: "elsewhere"))
    try context.save()
  }

  /// A commit with a number that this process has not made.
  private mutating func saveInAnotherProcess() throws {
    log.append("another process saves")
    try outsider.beginImmediate()
    try outsider.write(outsider.lastCommit().next(atLeast: 0), nil, by: nil)
    try outsider.commit()
  }

  mutating func close(_ place: Int) {
    log.append("close \(place)")
    readers[place] = nil
  }

  mutating func look() throws {
    for place in readers.indices { try look(at: place) }
    // What a new container has is what the store has.
    guard try Self.club(ModelContext(try Self.container(configuration))).name == name else {
      problem = problem ?? "the store doesn't have \(name)"
      return
    }
  }

  private mutating func look(at place: Int) throws {
    guard let reader = readers[place] else { return }
    log.append("look in \(place)")
    for (number, (context, club)) in zip(reader.contexts, reader.clubs).enumerated() {
      _ = try context.fetchCount(FetchDescriptor<Club>())
      if club.name == name { continue }
      problem = problem ?? "context \(number) of \(place) has \(club.name), the store \(name)"
    }
  }
}
