import Foundation
import SteadFiles
import SteadTestSupport
import Testing

@testable import SteadFiles
@testable import SteadPreferences

/// A domain that is written fast keeps its journal's lock for a moment, and a thread frees it.
struct DomainKeptLockTests {
  private let home: TestHome

  init() throws { home = try TestHome() }

  private var directory: URL { home.config.appending(path: "app") }

  /// Each is like a process of its own.
  private func open() throws -> DomainStore {
    try DomainStore("app", directory: directory, options: DomainStore.Options())
  }

  private func keepsLock(_ store: DomainStore) -> Bool {
    store.state.withLock { state in state.file?.journal.keepsLock ?? false }
  }

  /// Sets a key until the lock is kept, and says how often.
  private func setUntilLockIsKept(_ store: DomainStore) throws -> Int {
    for number in 1...1_000_000 {
      try store.set(.integer(Int64(number)), forKey: "n")
      if keepsLock(store) { return number }
    }
    throw CocoaError(.fileLocking)
  }

  /// Programs of another version do not ask for it.
  @Test(arguments: 0..<3) func `the lock is free a moment after the last set`(_: Int) throws {
    let store = try open()
    _ = try setUntilLockIsKept(store)
    let file = directory.appending(path: "app.journal")
    let descriptor = try POSIXDisk().open(file.checkedPath, O_RDWR, mode: 0)
    defer { close(descriptor) }
    let start = ContinuousClock.now
    while try !POSIXDisk().lock(descriptor, wait: false, path: file.checkedPath) {
      // A thousand times as long as it is kept, since the thread that frees it has to wait for a processor.
      try #require(ContinuousClock.now - start < Journal.idleLockLimit * 1_000)
      sched_yield()
    }
    #expect(!keepsLock(store))
  }

  /// A call of `set` once slept for up to 5 ms while it had the store locked, so that nobody could read.
  @Test(arguments: [Duration.zero, .seconds(1)])
  func `reading goes on while the lock is left to another program`(lockWait: Duration) throws {
    let store = try DomainStore(
      "app", directory: directory, options: DomainStore.Options(lockWait: lockWait))
    try store.set(.integer(1), forKey: "n")
    let journal = try #require(store.state.withLock { $0.file?.journal })
    let word = JournalLayout.keptLock
    journal.file.setWord(3, at: word)
    try store.set(.integer(2), forKey: "n")
    #expect(journal.file.word(at: word) == 5, "it has returned before anybody has had the lock")
    #expect(store.value(forKey: "n") == .integer(2))
    // Nobody takes it, so this waits, and gets it.
    try store.set(.integer(3), forKey: "n")
    #expect(journal.file.word(at: word) == 0)
    #expect(try open().value(forKey: "n") == .integer(3))
  }

  /// Eight programs wrote without a pause on a busy machine, and one of them said after a second that another was stopped.
  @Test(arguments: [(LockDeadline.contendedLimit, 50), (.zero, 1_000_000)])
  func `a program waits for its turn while others write`(limit: Duration, turn: Int) throws {
    let other = try open()
    let store = try DomainStore(
      "app", directory: directory,
      options: DomainStore.Options(lockWait: .milliseconds(1), contendedLockWait: limit))
    var attempts = 0
    let edit = DomainEdit(key: "n", value: .integer(1))
    func change() throws {
      try store.changing { _ in
        [edit]
      } _: { _, _ in
        attempts += 1
        guard attempts < turn else { return }
        try other.set(.integer(Int64(attempts)), forKey: "o")
        throw FileError(code: .busy, message: "Others were faster.", path: "app.journal")
      }
    }
    guard limit == .zero else {
      try change()
      #expect(attempts == turn)
      return
    }
    let error = #expect(throws: PreferencesError.self) { try change() }
    #expect(error?.code == .locked)
    // The value waits, and the next change writes it.
    #expect(store.value(forKey: "n") == .integer(1))
    try store.set(.integer(2), forKey: "later")
    #expect(try open().value(forKey: "n") == .integer(1))
  }

  @Test func `another writer waits for a moment`() throws {
    let (store, other) = (try open(), try open())
    for round in 0..<3 {
      let last = try setUntilLockIsKept(store)
      // Throws if the lock is not to be had.
      try other.set(.integer(Int64(round)), forKey: "o")
      #expect(other.value(forKey: "n") == .integer(Int64(last)))
    }
    #expect(store.value(forKey: "o") == .integer(2))
  }

  @Test func `two writers that never pause lose nothing`() throws {
    let count = 20_000
    let stores = [try open(), try open()]
    try inThreads(2) { thread in
      for number in 0..<count {
        try stores[thread].set(.integer(Int64(number)), forKey: "\(thread).\(number % 100)")
      }
    }
    for (thread, store) in [(0, stores[1]), (1, stores[0])] {
      for number in 0..<100 {
        let expected = Int64(count - 100 + number)
        #expect(store.value(forKey: "\(thread).\(number)") == .integer(expected))
      }
    }
  }

  /// A write that is no set, of which no thread knows.
  @Test func `a compaction keeps no lock`() throws {
    let store = try open()
    for _ in 0..<50 {
      for number in 0..<Journal.writesPerLook {
        try store.set(.integer(Int64(number)), forKey: "n")
      }
      #expect(!keepsLock(store))
      store.finish(nil, isLast: true)
      #expect(!keepsLock(store))
    }
  }

  @Test func `a domain that is closed frees the lock`() throws {
    let other = try open()
    do {
      let store = try open()
      _ = try setUntilLockIsKept(store)
    }
    try other.set(.integer(1), forKey: "o")
    #expect(try open().value(forKey: "o") == .integer(1))
  }
}
