import Foundation
import SteadFormats
import SteadTestSupport
import Testing

@testable import SteadFiles
@testable import SteadPreferences

/// Several programs have a domain open while its journal is taken away again and again, and notice it one after another.
///
/// Each restored what it had in memory. Which of two values was newer was guessed from the order of records in the
/// file, and not known at all once they were in a checkpoint. So in one run of fifteen with several programs an older
/// value replaced one that `set` had acknowledged.
struct SeveralStoresTests {
  /// What happens in a step. The numbers choose a store, a key or a length.
  private enum Step {
    case set(store: Int, key: Int, Bool)
    /// All stores notice what has happened, and then one sets a key that all of them set.
    case share(store: Int, key: Int)
    case notice(store: Int)
    case publish(store: Int)
    /// All stores notice what has happened, and one of them is opened again.
    case reopen(store: Int)
    case cut(Int)
    case cutShort(Int)
    case copyOver
    case replace
    case remove
    case moveAway
    case moveBack
    case backUp
    case check(first: Int)

    init(using random: inout SplitMix, stores: Int) {
      let store = Int.random(in: 0..<stores, using: &random)
      let key = Int.random(in: 0..<5, using: &random)
      switch Int.random(in: 0..<44, using: &random) {
      case 0: self = .cut(0)
      case 1, 2: self = .cut(Int.random(in: 0...6_000, using: &random))
      case 3: self = .cutShort(Int.random(in: 1...200, using: &random))
      case 4, 5: self = .copyOver
      case 6, 7: self = .replace
      case 8, 9: self = .remove
      case 10: self = .moveAway
      case 11: self = .moveBack
      case 12, 13, 14: self = .backUp
      case 15, 16: self = .publish(store: store)
      case 17, 18, 19: self = .notice(store: store)
      case 20: self = .reopen(store: store)
      case 21, 22: self = .share(store: store, key: key)
      case 23, 24: self = .check(first: store)
      default: self = .set(store: store, key: key, key == 4)
      }
    }
  }

  /// Carries out a sequence, and compares what a fresh opener finds with what was set last.
  private struct Run {
    let home: TestHome
    var stores: [DomainStore] = []
    var expected: [String: PropertyList] = [:]
    var backup = Data()
    var number: Int64 = 0
    var directory: URL { home.config.appending(path: "app") }
    var journal: URL { directory.appending(path: "app.journal") }
    var away: URL { home.directory.file("away") }

    init(stores count: Int, _ options: DomainStore.Options) throws {
      home = try TestHome(inMemory: true)
      for _ in 0..<count { stores.append(try store(options)) }
      backup = try Data(contentsOf: journal)
    }

    private func store(_ options: DomainStore.Options) throws -> DomainStore {
      try DomainStore("app", directory: directory, options: options)
    }

    mutating func set(_ store: Int, _ key: String, isRemoval: Bool = false) throws {
      number += 1
      let value = isRemoval ? nil : PropertyList.integer(number)
      try stores[store].set(value, forKey: key)
      expected[key] = value
    }

    func noticeAll(from first: Int = 0) throws {
      for index in stores.indices { try stores[(index + first) % stores.count].flush() }
    }

    mutating func take(_ step: Step) throws {
      let path = journal.filePath
      switch step {
      case .set(let store, let key, let isRemoval):
        try set(store, "\(store).\(key)", isRemoval: isRemoval)
      case .share(let store, let key):
        try noticeAll(from: store)
        try set(store, "shared.\(key)")
      case .notice(let store): try stores[store].flush()
      case .publish(let store): try stores[store].checkpoint()
      case .reopen(let store):
        try noticeAll(from: store)
        stores[store] = try self.store(stores[store].options)
      case .cut(let length): truncate(path, off_t(length))
      case .cutShort(let count):
        // What is cut are records, not the room behind them.
        let end = (try? Journal.end(of: journal)) ?? 0
        truncate(path, off_t(max(0, end - count)))
      case .copyOver: try copyOver()
      case .replace:
        let copy = home.directory.file("copy")
        try backup.write(to: copy)
        rename(copy.filePath, path)
      case .remove: unlink(path)
      case .moveAway: rename(path, away.filePath)
      case .moveBack: rename(away.filePath, path)
      case .backUp: backup = (try? Data(contentsOf: journal)) ?? backup
      case .check(let first): try noticeAll(from: first)
      }
    }

    /// As `cp` does.
    private func copyOver() throws {
      guard FileManager.default.fileExists(atPath: journal.filePath) else { return }
      let file = try FileHandle(forWritingTo: journal)
      try file.truncate(atOffset: 0)
      try file.write(contentsOf: backup)
      try file.close()
    }

    /// The keys that a fresh opener, or one of the stores, finds with other values than were set last.
    func wrong() throws -> [String] {
      let options = DomainStore.Options(isReadOnly: true)
      let fresh = try DomainStore("app", directory: directory, options: options)
      return (stores + [fresh]).enumerated().flatMap { index, store in
        let found = Dictionary(uniqueKeysWithValues: store.contents().map { ($0.key, $0.value) })
        let keys = Set(found.keys).union(expected.keys).sorted()
        return keys.filter { found[$0] != expected[$0] }.map {
          let values = [found[$0], expected[$0]].map { $0.map { "\($0)" } ?? "nothing" }
          return "for store \(index) \($0) is \(values[0]), not \(values[1])"
        }
      }
    }
  }

  private static func problem(
    of steps: [Step], stores: Int, _ options: DomainStore.Options
  ) throws -> (length: Int, description: String)? {
    var run = try Run(stores: stores, options)
    for (index, step) in (steps + [.check(first: 0)]).enumerated() {
      try run.take(step)
      guard case .check = step else { continue }
      let wrong = try run.wrong()
      if !wrong.isEmpty { return (index, wrong.joined(separator: ", ")) }
    }
    return nil
  }

  /// The steps without those that the problem doesn't need.
  private static func shrunk(_ steps: [Step], stores: Int, _ options: DomainStore.Options) -> [Step]
  {
    var steps = steps
    var size = max(1, steps.count / 2)
    while true {
      var start = 0
      while start < steps.count {
        var fewer = steps
        fewer.removeSubrange(start..<min(start + size, steps.count))
        // A sequence that throws is another problem.
        let isWrong = (try? problem(of: fewer, stores: stores, options)) ?? nil
        if isWrong != nil { steps = fewer } else { start += size }
      }
      if size == 1 { return steps }
      size /= 2
    }
  }

  @Test(.ownThread) func `what several programs have set survives losses in any order`()
    async throws
  {
    for seed in Effort.seed..<(Effort.seed + UInt64(Effort.times(40, long: 1_000))) {
      await Task.yield()
      var random = SplitMix(seed: seed)
      let stores = Int.random(in: 2...4, using: &random)
      let options = DomainStore.Options(
        format: Int.random(in: 0..<4, using: &random) == 0 ? .xml : .binary,
        logLimit: [600, 2_000, 20_000].randomElement(using: &random) ?? 2_000)
      let steps = (0..<60).map { _ in Step(using: &random, stores: stores) }
      guard let found = try Self.problem(of: steps, stores: stores, options)
      else { continue }
      let fewer = Self.shrunk(
        Array(steps.prefix(found.length + 1)), stores: stores, options)
      let shrunk = try Self.problem(of: fewer, stores: stores, options)
      Issue.record(
        """
        seed \(seed), \(stores) stores, \(options.format), log limit \(options.logLimit): \((shrunk ?? found).description) after \
        \(shrunk == nil ? steps : fewer)
        """)
      return
    }
  }
}

extension Journal {
  /// Where the last record of a journal's file ends.
  fileprivate static func end(of url: URL) throws -> Int {
    let data = try Data(contentsOf: url)
    guard data.count >= JournalLayout.headerByteCount else { return data.count }
    return data.withUnsafeBytes { bytes in
      Int(
        bytes.loadUnaligned(fromByteOffset: JournalLayout.tail, as: UInt64.self)
          & ~JournalLayout.flags)
    }
  }
}
