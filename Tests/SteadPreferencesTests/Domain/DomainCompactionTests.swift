import Foundation
import SteadFormats
import Testing

@testable import SteadFiles
@testable import SteadPreferences

/// Compactions that are made beside those who write.
@Suite(.hangLimit) struct DomainCompactionTests {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private var plist: URL { directory.file("app.plist") }
  private let short = DomainStore.Options(logLimit: 8 << 10)

  private func store(_ options: DomainStore.Options = DomainStore.Options()) throws -> DomainStore {
    // Not `open`: each store here plays another process.
    try DomainStore("app", directory: directory.url, options: options)
  }

  private func prepare(_ store: DomainStore) throws -> PreparedDomainCompaction {
    let prepared = try PreparedDomainCompaction(
      "app", in: directory.url, store.options, hasReportedFormat: false)
    return try #require(prepared)
  }

  private func published() throws -> PropertyList.Fields {
    try PropertyList.fields(of: Data(contentsOf: plist))
  }

  private func logByteCount(_ store: DomainStore) -> Int {
    store.state.withLock { state in state.file?.journal.logByteCount ?? 0 }
  }

  private func waitForCompaction(of store: DomainStore) {
    while store.state.withLock({ $0.file?.compaction.phase != BackgroundCompaction.none }) {
      sched_yield()
    }
  }

  /// Writes until the log is as long as a compaction wants it.
  private func fill(_ store: DomainStore, to length: Int) throws {
    var number: Int64 = 0
    while logByteCount(store) <= length {
      try store.set(.integer(number), forKey: "count")
      number += 1
    }
  }

  private typealias BackgroundCompaction = DomainFile.BackgroundCompaction

  @Test func `what is set meanwhile is kept`() throws {
    let (first, second) = (try store(), try store())
    try first.apply([
      DomainEdit(key: "a", value: .integer(1)), DomainEdit(key: "removed", value: .integer(1)),
    ])
    let prepared = try prepare(first)
    try first.set(.integer(2), forKey: "a")
    try second.set(nil, forKey: "removed")
    try second.set(.string(String(repeating: "x", count: 140_000)), forKey: "long")
    #expect(first.finish(prepared, isLast: true) == .ended)
    try second.set(.integer(3), forKey: "after")
    let expected: PropertyList.Fields = [
      "a": .integer(2), "long": .string(String(repeating: "x", count: 140_000)),
      "after": .integer(3),
    ]
    for store in [first, second, try store()] {
      #expect(PropertyList.Fields(store.contents()) == expected)
    }
    #expect(try directory.names == ["app.journal", "app.plist"])
  }

  @Test func `the files have what was there when it began`() throws {
    let store = try store()
    try fill(store, to: 100_000)
    let prepared = try prepare(store)
    try store.set(.bool(true), forKey: "later")
    #expect(store.finish(prepared, isLast: true) == .ended)
    #expect(logByteCount(store) < 100)
    #expect(try published()["count"] != nil && published()["later"] == nil)
    try store.checkpoint()
    #expect(try published()["later"] == .bool(true))
  }

  @Test(arguments: [false, true])
  func `an edit meanwhile is merged`(isFlushed: Bool) throws {
    let store = try store()
    try store.set(.integer(1), forKey: "set")
    try store.set(.integer(1), forKey: "edited")
    try store.checkpoint()
    try store.set(.integer(2), forKey: "set")
    let prepared = try prepare(store)
    var fields = try published()
    fields["edited"] = .string("by hand")
    try BinaryPropertyList.encode(fields).write(to: plist)
    if isFlushed { try store.flush() }
    #expect(store.finish(prepared, isLast: true) == .ended)
    store.refresh()
    for store in [store, try self.store()] {
      #expect(store.value(forKey: "set") == .integer(2))
      #expect(store.value(forKey: "edited") == .string("by hand"))
    }
  }

  @Test func `another compaction meanwhile wins`() throws {
    let (first, second) = (try store(), try store())
    try first.set(.integer(1), forKey: "a")
    let prepared = try prepare(first)
    try second.set(.integer(2), forKey: "b")
    try second.checkpoint()
    #expect(first.finish(prepared, isLast: true) == .ended)
    #expect(try published() == ["a": .integer(1), "b": .integer(2)])
    #expect(PropertyList.Fields(first.contents()) == ["a": .integer(1), "b": .integer(2)])
  }

  @Test func `a directory that was removed is not made anew`() throws {
    let store = try store()
    try store.set(.integer(1), forKey: "a")
    let prepared = try prepare(store)
    // The next write is one that looks whether the files are still there.
    store.state.withLock { $0.file?.journal.writesUntilRevalidation = 0 }
    try FileManager.default.removeItem(at: directory.url)
    #expect(store.finish(prepared, isLast: true) == .ended)
    #expect(!FileManager.default.fileExists(atPath: directory.url.filePath))
    #expect(store.value(forKey: "a") == .integer(1))
  }

  /// Once the writer that found the compaction due made it, and waited 30 ms and more for the disk.
  @Test func `nobody waits for what holds it up`() throws {
    let store = try store(short)
    let errors = DomainProblems(store)
    let directory = open(self.directory.url.filePath, O_RDONLY | O_DIRECTORY)
    defer { close(directory) }
    // The property list file cannot be put in place.
    #expect(flock(directory, LOCK_EX | LOCK_NB) == 0)
    for number in 0..<2_000 { try store.set(.integer(Int64(number)), forKey: "count") }
    #expect(errors.take().isEmpty)
    #expect(logByteCount(store) > 0 && store.value(forKey: "count") == .integer(1_999))
    #expect(flock(directory, LOCK_UN) == 0)
    waitForCompaction(of: store)
    #expect(errors.take().isEmpty)
    #expect(try published()["count"] != nil)
    #expect(try self.store().value(forKey: "count") == .integer(1_999))
  }

  /// The log has a limit where the thread that compacts does not go on.
  @Test func `a log of the larger length is compacted by its writer`() throws {
    let store = try store(DomainStore.Options(logLimit: 8 << 10, waitingLogLimit: 32 << 10))
    store.state.withLock { $0.file?.compaction.phase = .running(generation: forkGeneration) }
    try fill(store, to: (32 << 10) - 100)
    #expect(!FileManager.default.fileExists(atPath: plist.filePath))
    for number in 0..<10 { try store.set(.integer(Int64(number)), forKey: "count") }
    #expect(logByteCount(store) < 1_000)
    #expect(try published()["count"] != nil)
  }

  /// One program after the other that ends before it has compacted: the log would grow for ever.
  @Test func `a log that was left long is compacted by the first write`() throws {
    let patient = DomainStore.Options(logLimit: 1 << 20)
    try fill(store(patient), to: 12 << 10)
    let store = try store(short)
    store.state.withLock { $0.file?.compaction.phase = .running(generation: forkGeneration) }
    try store.set(.integer(-1), forKey: "count")
    #expect(logByteCount(store) == 0)
    #expect(try published()["count"] == .integer(-1))
  }

  /// One large value is not a log that others have left.
  @Test func `a large value is not waited for`() throws {
    let store = try store(short)
    store.state.withLock { $0.file?.compaction.phase = .running(generation: forkGeneration) }
    try store.set(.string(String(repeating: "x", count: 20_000)), forKey: "text")
    #expect(logByteCount(store) > 20_000)
  }

  @Test func `what XML cannot hold is reported once and holds nobody up`() throws {
    let store = try store(DomainStore.Options(format: .xml, logLimit: 8 << 10))
    let errors = DomainProblems(store)
    try store.set(.string("bell \u{7}"), forKey: "bell")
    for _ in 0..<3 {
      try fill(store, to: 8 << 10)
      waitForCompaction(of: store)
    }
    #expect(errors.take() == [.notAPropertyList])
    let again = try PreparedDomainCompaction(
      "app", in: directory.url, store.options, hasReportedFormat: true)
    #expect(again != nil)
    #expect(try published()["bell"] == .string("bell \u{7}"))
  }

  @Test func `a domain that nobody has any more is compacted all the same`() throws {
    weak var released: DomainStore?
    do {
      let store = try store(short)
      released = store
      try fill(store, to: 8 << 10)
    }
    while released != nil { sched_yield() }
    #expect(try published()["count"] != nil)
    #expect(try directory.names == ["app.journal", "app.plist"])
    #expect(logByteCount(try store()) < 8 << 10)
  }

  /// Handlers are called before `set` returns, and in order, whoever compacts.
  @Test func `handlers are told by their writer`() throws {
    let store = try store(short)
    let told = ForkSafeLock<Int64>(-1)
    let token = store.addHandler { event in
      guard case .integer(let number)? = event.changes.last?.new else { return }
      told.withLock { $0 = number }
    }
    defer { store.removeHandler(token) }
    for number in 0..<5_000 {
      try store.set(.integer(Int64(number)), forKey: "count")
      #expect(told.withLock { $0 } == number)
    }
    waitForCompaction(of: store)
  }

  /// Dispatch does nothing in the child of a fork, nor does the parent's thread.
  @Test(.exitTests, .needs(.noThreadSanitizer)) func `the child of a fork compacts`() async throws {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory()
      let store = try DomainStore(
        "app", directory: directory.url, options: DomainStore.Options(logLimit: 8 << 10))
      try store.set(.integer(0), forKey: "count")
      // The parent's compaction is under way.
      store.state.withLock { $0.file?.compaction.phase = .running(generation: forkGeneration) }
      let child = try ForkedChild {
        for number in 0..<1_000 { try store.set(.integer(Int64(number)), forKey: "count") }
        while store.state.withLock({ $0.file?.compaction.phase != BackgroundCompaction.none }) {
          sched_yield()
        }
      }
      let status = child.finish()
      let names = try directory.names
      exit(status == 0 && names == ["app.journal", "app.plist"] ? 0 : 1)
    }
  }
}
