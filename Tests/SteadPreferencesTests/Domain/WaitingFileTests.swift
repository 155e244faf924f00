import Foundation
import SteadFiles
import SteadTestSupport
import Testing

@testable import SteadPreferences

/// Values that are set while another process has the journal locked and does nothing, since it was stopped.
///
/// Each set once waited a second for it, and a program that set a value and ended lost it in 13 of 15 runs.
@Suite(.hangLimit) struct WaitingFileTests {
  private let home: TestHome

  init() throws { home = try TestHome(inMemory: true) }

  private var directory: URL { home.config.appending(path: "app") }
  private var journal: URL { directory.file("app.journal") }
  private var waiting: URL { directory.file("app.waiting") }

  private func open(lockWait: Duration = .zero) throws -> DomainStore {
    try DomainStore(
      "app", directory: directory, options: DomainStore.Options(lockWait: lockWait))
  }

  private func stop(_ file: URL? = nil) throws -> Int32 {
    let path = (file ?? journal).filePath
    let descriptor = try POSIXDisk().open(path, O_RDWR, mode: 0)
    // Waits for a store that keeps the lock between writes, for some milliseconds.
    #expect(try POSIXDisk().lock(descriptor, wait: true, path: path))
    return descriptor
  }

  private func setInVain(_ value: PropertyList?, _ key: String, _ store: DomainStore) {
    #expect { try store.set(value, forKey: key) } throws: {
      ($0 as? PreferencesError)?.code == .locked
    }
  }

  /// The message once said that values were in memory alone, wherever they were.
  @Test func `the error says where the values are`() throws {
    let store = try open()
    try store.set(.integer(1), forKey: "k")
    let holder = try stop()
    func message() -> String? {
      do { try store.set(.integer(2), forKey: "k") } catch {
        return (error as? PreferencesError)?.message
      }
      return nil
    }
    let saved = try #require(message())
    #expect(saved.contains("app.waiting") && !saved.contains("memory"), "\(saved)")
    // Nobody can add to the waiting file either: something has its name, and cannot be kept aside.
    try FileManager.default.removeItem(at: waiting)
    for name in [""] + (1...8).map({ ".damaged-\($0)" }) {
      try FileManager.default.createDirectory(
        atPath: waiting.filePath + name, withIntermediateDirectories: false)
    }
    let kept = try #require(message())
    #expect(kept.contains("memory") && !kept.contains("app.waiting"), "\(kept)")
    let published = #expect(throws: PreferencesError.self) { try store.checkpoint() }
    #expect(published?.message.contains("memory") == true)
    try FileManager.default.removeItem(at: waiting)
    unlockAndClose(holder)
    try store.set(.integer(3), forKey: "k")
    #expect(try open().value(forKey: "k") == .integer(3))
    let other = try stop()
    let list = #expect(throws: PreferencesError.self) { try store.checkpoint() }
    #expect(list?.message.contains("in the journal") == true)
    close(other)
  }

  /// What a program had written for another one was not among the values that it restores, as known to be newer than what
  /// others have read.
  @Test(arguments: [false, true])
  func `a value that waited survives a loss right after`(isWriterFirst: Bool) throws {
    let reader = try open()
    try reader.set(.integer(1), forKey: "a")
    let holder = try stop()
    do { setInVain(.integer(2), "a", try open()) }
    unlockAndClose(holder)
    let writer = try open()
    #expect(!FileManager.default.fileExists(atPath: waiting.filePath))
    #expect(truncate(journal.filePath, 0) == 0)
    for store in isWriterFirst ? [writer, reader] : [reader, writer] { try store.flush() }
    #expect(try open().value(forKey: "a") == .integer(2))
    #expect(reader.value(forKey: "a") == .integer(2))
  }

  /// Each call once added an entry, as long as nothing could be written.
  @Test func `values that cannot be written take room once a key`() throws {
    let store = try open()
    let holder = try stop()
    let file = try #require(store.state.withLock { $0.file })
    for number in 0..<100 { setInVain(.integer(Int64(number)), "k", store) }
    #expect(file.pending.edits.count == 1)
    #expect(file.stampSources.changes.isEmpty)
    unlockAndClose(holder)
    try store.flush()
    #expect(try open().value(forKey: "k") == .integer(99))
  }

  @Test func `a program that ends leaves its value to the next one`() throws {
    try open().set(.integer(1), forKey: "a")
    let holder = try stop()
    do {
      let store = try open()
      setInVain(.integer(2), "a", store)
      setInVain(nil, "b", store)
      setInVain(.string("new"), "c", store)
    }
    #expect(try open().value(forKey: "a") == .integer(2), "it is in effect at once")
    #expect(FileManager.default.fileExists(atPath: waiting.filePath))
    unlockAndClose(holder)
    let store = try open()
    #expect(store.value(forKey: "a") == .integer(2) && store.value(forKey: "c") == .string("new"))
    #expect(!FileManager.default.fileExists(atPath: waiting.filePath))
    #expect(try store.storedContents().count == 2)
  }

  @Test func `a stopped process is waited for once`() throws {
    let first = try open()
    try first.set(.integer(0), forKey: "n")
    let holder = try stop()
    setInVain(.integer(0), "n", first)
    #expect(first.state.withLock { $0.file?.isLockHolderStuck } == true)
    // Whoever opens the domain now knows, too. A single wait would exceed the time limit of the suite.
    let store = try open(lockWait: .seconds(3_600))
    let count = 1_000
    for number in 1...count { setInVain(.integer(Int64(number)), "n", store) }
    unlockAndClose(holder)
    try store.set(.integer(5), forKey: "m")
    #expect(store.value(forKey: "n") == .integer(Int64(count)))
    #expect(try open().value(forKey: "n") == .integer(Int64(count)))
  }

  /// Each opening waited a second for it, as long as nobody had set anything.
  @Test(arguments: [false, true], [false, true])
  func `who only reads does not wait for a stopped process`(hasWaiting: Bool, isCompacted: Bool)
    throws
  {
    let first = try open()
    try first.set(.integer(1), forKey: "k")
    if isCompacted { try first.checkpoint() }
    let holder = try stop()
    if hasWaiting { setInVain(.integer(2), "k", first) }
    for _ in 0..<2 {
      let store = try open(lockWait: .seconds(2))
      #expect(store.value(forKey: "k") == .integer(hasWaiting ? 2 : 1))
      // It would be after a wait in vain.
      #expect(store.state.withLock { $0.file?.journal.isOpenedWithoutLock } == hasWaiting)
    }
    let writer = try open()
    setInVain(.integer(3), "k", writer)
    unlockAndClose(holder)
    try setOnceFree(.integer(4), "l", writer)
    let values = try open().contents().map { ($0.key, $0.value) }
    #expect(
      Dictionary(uniqueKeysWithValues: values) == ["k": .integer(3), "l": .integer(4)])
  }

  /// What another process has written for us, and others have changed since, is not written once more.
  @Test func `a value that another process has written is not written again`() throws {
    let (store, other) = (try open(), try open())
    try store.set(.integer(1), forKey: "k")
    let holder = try stop()
    setInVain(.integer(2), "k", store)
    unlockAndClose(holder)
    let next = try open()
    #expect(next.value(forKey: "k") == .integer(2))
    try other.set(.integer(3), forKey: "k")
    #expect(store.value(forKey: "k") == .integer(3))
    try store.set(.integer(1), forKey: "l")
    #expect(try open().value(forKey: "k") == .integer(3))
  }

  @Test(arguments: [false, true])
  func `a kill within the writing of the waiting values repeats nothing`(hasWritten: Bool) throws {
    let store = try open()
    try store.set(.integer(1), forKey: "k")
    let holder = try stop()
    setInVain(.integer(2), "k", store)
    let left = try Data(contentsOf: waiting)
    unlockAndClose(holder)
    var place = Data()
    try store.state.withLock { state in
      let journal = try #require(state.file).journal
      try journal.write(catchingUp: { _ in }) { writer in
        var words = [writer.place.salt, writer.place.offset]
        place = Data(bytes: &words, count: 16)
      }
    }
    // Killed once it has noted where it writes them, or once it has written them, too.
    if hasWritten { _ = try open() }
    try (left.prefix(24) + place + left.dropFirst(40)).write(to: waiting)
    let other = try open()
    #expect(other.value(forKey: "k") == .integer(2))
    if hasWritten {
      try (left.prefix(24) + place + left.dropFirst(40)).write(to: waiting)
      try other.set(.integer(3), forKey: "k")
      // It was merged before the set, or found written; either way the later value stays.
      #expect(try open().value(forKey: "k") == .integer(3))
    }
    #expect(!FileManager.default.fileExists(atPath: waiting.filePath))
  }

  @Test func `a damaged waiting file costs only what it held`() throws {
    let store = try open()
    try store.set(.integer(1), forKey: "k")
    let holder = try stop()
    setInVain(.integer(2), "a", store)
    setInVain(.integer(3), "b", store)
    unlockAndClose(holder)
    let whole = try Data(contentsOf: waiting)
    for length in 0..<whole.count {
      try whole.prefix(length).write(to: waiting)
      #expect(try open().value(forKey: "k") == .integer(1))
    }
  }

  /// Sets a value after the lock was free, which it is between any two calls of other stores.
  private func setOnceFree(_ value: PropertyList?, _ key: String, _ store: DomainStore) throws {
    for _ in 0..<100 {
      unlockAndClose(try stop())
      do {
        return try store.set(value, forKey: key)
      } catch let error as PreferencesError where error.code == .locked {}
    }
    Issue.record("the lock was never free, though nobody held it")
  }

  /// Stores come and go while the lock is held now and then. Each has keys of its own, and the last value that was
  /// set counts, whether or not it could be written at once.
  @Test func `random sequences lose nothing`() async throws {
    for seed in 0..<UInt64(Effort.times(10, long: 400)) {
      await Task.yield()
      var random = SplitMix(seed: seed)
      var expected: [String: PropertyList] = [:]
      var stores: [DomainStore?] = [try open(), try open(), nil]
      var holder: Int32?
      var waitingHolder: Int32?
      var calls: [String] = []
      for number in 0..<40 {
        let (place, key) = (
          Int.random(in: 0..<3, using: &random), Int.random(in: 0..<4, using: &random)
        )
        let choice = Int.random(in: 0..<12, using: &random)
        calls.append("\(choice) \(place) \(key)")
        switch choice {
        case 0: if holder == nil { holder = try stop() }
        case 1:
          if let held = holder { unlockAndClose(held) }
          holder = nil
        case 2: stores[place] = nil
        case 3: _ = try? stores[place]?.flush()
        case 4: stores[place]?.refresh()
        case 10:
          // Somebody was stopped while it added to the file.
          if waitingHolder == nil, FileManager.default.fileExists(atPath: waiting.filePath) {
            waitingHolder = try stop(waiting)
          }
        case 11:
          if let held = waitingHolder { unlockAndClose(held) }
          waitingHolder = nil
        default:
          let store = try stores[place] ?? open()
          stores[place] = store
          let value = choice == 5 ? nil : PropertyList.integer(Int64(number))
          do {
            try store.set(value, forKey: "\(place).\(key)")
          } catch let error as PreferencesError {
            #expect(error.code == .locked)
            // Without a holder, another of these stores was at work, which none waits for. It is done soon.
            if holder == nil { try setOnceFree(value, "\(place).\(key)", store) }
          }
          expected["\(place).\(key)"] = value
        }
      }
      for held in [holder, waitingHolder] { if let held { unlockAndClose(held) } }
      stores = []
      let found = try open().contents().map { ($0.key, $0.value) }
      guard Dictionary(uniqueKeysWithValues: found) == expected else {
        Issue.record("seed \(seed): \(found) instead of \(expected) after \(calls)")
        return
      }
      try FileManager.default.removeItem(at: directory)
    }
  }

  /// Two processes that moved away the same stranger chose the same free name, and the second one moved the first one's values
  /// there.
  @Test(.ownThread) func `nobody moves away values that another process has just saved`()
    async throws
  {
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    let (url, kept) = (waiting, waiting.filePath + ".damaged-1")
    for round in 0..<Effort.times(50) {
      await Task.yield()
      try? FileManager.default.removeItem(at: url)
      try? FileManager.default.removeItem(atPath: kept)
      try Data("none of ours".utf8).write(to: url)
      let saved = ForkSafeLock<Set<String>>([])
      try inThreads(4) { thread in
        var file = WaitingFile(url)
        _ = try? file.quarantineForeignFile()
        let edit = DomainEdit(key: "\(thread)", value: .integer(1))
        guard (try? file.append([edit])) != nil else { return }
        saved.withLock { _ = $0.insert("\(thread)") }
      }
      let found = Set(try WaitingFile(url).read()?.edits.map(\.key) ?? [])
      #expect(found == saved.withLock { $0 }, "round \(round)")
      #expect(try Data(contentsOf: URL(filePath: kept)) == Data("none of ours".utf8))
    }
  }
}
