import Dispatch
import Foundation
import SteadFiles
import SteadSQLite
import SteadTestSupport
import Synchronization
import Testing

@testable import SteadCaches

/// Changes and removals at the same time, and a disk that can't be written.
@Suite(.hangLimit) struct ResponseStoreTests {
  private static let now = Date(timeIntervalSince1970: 1_800_000_000)
  private static let body = Data("body".utf8)

  private let directory: TemporaryDirectory
  private let place: URL

  init() throws {
    directory = try TemporaryDirectory(inMemory: true)
    place = directory.url.appending(path: "http", directoryHint: .isDirectory)
  }

  private func store(isOnDisk: Bool) -> ResponseStore {
    ResponseStore(
      disk: isOnDisk ? DiskCache(directory: place) : nil, limits: .init(),
      respondsToMemoryPressure: false)
  }

  private func response(
    _ id: String, to request: HTTPCache.Request
  ) throws -> StoredResponse {
    var draft = try #require(
      StoreDecision.draft(
        of: .init(status: 200, fields: ["Cache-Control": "max-age=9", "Vary": "A"]), to: request,
        requestedAt: Self.now, receivedAt: Self.now, id: id))
    draft.bodySize = Self.body.count
    return draft
  }

  /// A change that has read the page doesn't bring back what is removed before it is written.
  @Test(arguments: [true, false], ["URL", "host", "all"])
  func `removes what is being changed`(isOnDisk: Bool, how: String) throws {
    let store = store(isOnDisk: isOnDisk)
    let request = try Origin.request()
    let key = try #require(CacheKey(request.url))
    let old = try response("old", to: request)
    #expect(store.store(old, Self.body, for: request, under: key))
    let removal = DispatchGroup()
    let work: @Sendable () -> Void = {
      switch how {
      case "URL": store.remove(key)
      case "host": store.remove(host: key.host)
      default: store.removeAll()
      }
    }
    let flags = Flags()
    store.update(key) { list in
      if !flags.hasBegun {
        flags.hasBegun = true
        DispatchQueue.global().async(group: removal) {
          work()
          flags.isRemoved = true
        }
        // The removal ends here, or waits for the change.
        for _ in 0..<10_000 where !flags.isRemoved { sched_yield() }
      }
      return list.map { stored in
        var stored = stored
        stored.bodySize += 1
        return stored
      }
    }
    removal.wait()
    #expect(store.responses(for: key).isEmpty)
  }

  private final class Flags: Sendable {
    private let flags = Mutex((hasBegun: false, isRemoved: false))
    var hasBegun: Bool {
      get { flags.withLock { $0.hasBegun } }
      set { flags.withLock { $0.hasBegun = newValue } }
    }
    var isRemoved: Bool {
      get { flags.withLock { $0.isRemoved } }
      set { flags.withLock { $0.isRemoved = newValue } }
    }
  }

  /// Of many changes of one page at the same time none is lost, whichever object makes it.
  @Test func `loses no change`() throws {
    let stores = [store(isOnDisk: true), store(isOnDisk: true)]
    var written = 0
    for round in 0..<20 {
      let key = try #require(CacheKey(Origin.request("/\(round)").url))
      let requests = try (0..<8).map { try Origin.request("/\(round)", ["A": "\($0)"]) }
      let responses = try requests.enumerated().map {
        try response("\(round) \($0.offset)", to: $0.element)
      }
      DispatchQueue.concurrentPerform(iterations: requests.count) { number in
        _ = stores[number % 2].store(
          responses[number], Self.body, for: requests[number], under: key)
      }
      // On a busy machine one may not get the disk's lock in time. It keeps its change in memory then.
      let isWritten = !stores.contains { $0.pendingRemovals.mayContain(key.string) }
      guard isWritten else { continue }
      written += 1
      for store in stores { #expect(store.responses(for: key).count == requests.count) }
    }
    #expect(written > 0)
  }

  /// Does something between the look-up for a response that is stored and the update of its URL's variants: the store asks
  /// for the time after the first, and again before the second.
  private final class Interruption: Sendable {
    private let state = Mutex<(count: Int, work: (@Sendable () -> Void)?)>((0, nil))

    func set(_ work: @escaping @Sendable () -> Void) { state.withLock { $0 = (0, work) } }

    func now() -> Date {
      let work = state.withLock { state -> (@Sendable () -> Void)? in
        state.count += 1
        guard state.count == 2 else { return nil }
        defer { state.work = nil }
        return state.work
      }
      work?()
      return ResponseStoreTests.now
    }

    func store(_ disk: DiskCache?) -> ResponseStore {
      ResponseStore(
        disk: disk, limits: .init(), respondsToMemoryPressure: false, now: { self.now() })
    }
  }

  /// The update uses the list of a look-up before it, and must notice that there is another one since.
  @Test(arguments: [true, false], [true, false])
  func `keeps what another stores during the storing`(isOther: Bool, isFirst: Bool) throws {
    let interruption = Interruption()
    let store = interruption.store(DiskCache(directory: place))
    let other = isOther ? self.store(isOnDisk: true) : store
    let requests = try (0..<3).map { try Origin.request("/", ["A": "\($0)"]) }
    let responses = try requests.enumerated().map {
      try response("\($0.offset)", to: $0.element)
    }
    let key = try #require(CacheKey(requests[0].url))
    if !isFirst { #expect(store.store(responses[0], Self.body, for: requests[0], under: key)) }
    let isStored = Mutex(false)
    interruption.set {
      let result = other.store(responses[1], Self.body, for: requests[1], under: key)
      isStored.withLock { $0 = result }
    }
    #expect(store.store(responses[2], Self.body, for: requests[2], under: key))
    #expect(isStored.withLock { $0 })
    #expect(store.responses(for: key).map(\.id) == (isFirst ? ["1", "2"] : ["0", "1", "2"]))
  }

  /// Then the list of memory can't be compared with that of the look-up, and is not empty for that.
  @Test func `keeps what memory evicts during the storing`() throws {
    let interruption = Interruption()
    let store = interruption.store(DiskCache(directory: place))
    let (old, new) = (try Origin.request("/", ["A": "0"]), try Origin.request("/", ["A": "1"]))
    let key = try #require(CacheKey(old.url))
    #expect(store.store(try response("old", to: old), Self.body, for: old, under: key))
    interruption.set { store.memory.removeAll() }
    #expect(store.store(try response("new", to: new), Self.body, for: new, under: key))
    #expect(store.responses(for: key).map(\.id) == ["old", "new"])
  }

  /// The disk has the same bytes as before after an update that could not be written to it.
  @Test func `brings back nothing that memory alone has lost during the storing`() throws {
    let interruption = Interruption()
    let store = interruption.store(DiskCache(directory: place))
    let (old, new) = (try Origin.request("/", ["A": "0"]), try Origin.request("/", ["A": "1"]))
    let key = try #require(CacheKey(old.url))
    #expect(store.store(try response("old", to: old), Self.body, for: old, under: key))
    let file = SQLiteOptions(.file(place.file("DiskCache.sqlite").filePath))
    interruption.set {
      do {
        let other = try SQLiteConnection(file)
        try other.run("BEGIN IMMEDIATE")
        store.update(key) { _ in [] }
        try other.run("ROLLBACK")
      } catch {
        Issue.record(error)
      }
    }
    #expect(store.store(try response("new", to: new), Self.body, for: new, under: key))
    #expect(store.responses(for: key).map(\.id) == ["new"])
  }

  @Test(arguments: ["all", "host", "date"])
  func `uses no disk that could not be cleared`(how: String) async throws {
    let origin = Origin(["Cache-Control": "max-age=100"])
    let cache = origin.cache(in: place)
    _ = try await origin.get(from: cache)
    let other = try SQLiteConnection(SQLiteOptions(.file(place.file("DiskCache.sqlite").filePath)))
    try other.run("BEGIN IMMEDIATE")
    switch how {
    case "all": cache.removeAll()
    case "host": cache.removeResponses(fromHost: "a.example")
    default: cache.removeResponses(storedSince: origin.now - 1)
    }
    let request = try Origin.request()
    #expect(cache.storedResponse(to: request) == nil)
    origin.answer(["Cache-Control": "max-age=100"], body: "new")
    #expect(try await origin.get(from: cache).text == "new")
    // In memory, as long as the disk can't be used.
    #expect(try await origin.get(from: cache).outcome.source == .hit)
    try other.run("ROLLBACK")
    _ = try await origin.get("/b", from: cache)
    #expect(try await cache.storedResponse(to: request)?.text == "new")
    let reader = origin.cache(in: place)
    #expect(reader.storedResponse(to: request) == nil)
    #expect(try await reader.storedResponse(to: Origin.request("/b"))?.text == "new")
  }

  // Each body that was read from the disk was added to those of its URL in memory, up to all of the memory; then the page had
  // no room, and left it with all its bodies.
  @Test func `the bodies of a URL take at most half of the memory`() async throws {
    let limits = HTTPCache.Limits(memorySizeLimit: 1 << 20)
    let origin = Origin { request in
      (
        .init(status: 200, fields: ["Cache-Control": "max-age=100", "Vary": "A"]),
        .init(Data(repeating: UInt8(request.fields["A"] ?? "") ?? 0, count: 100_000))
      )
    }
    let writer = origin.cache(in: place, limits: limits)
    for number in 0..<16 { _ = try await origin.get("/", ["A": "\(number)"], from: writer) }
    let reader = origin.cache(in: place, limits: limits)
    let key = try #require(CacheKey(Origin.request().url))
    for number in (0..<16) + (0..<16).reversed() {
      let reply = try await origin.get("/", ["A": "\(number)"], from: reader)
      #expect(reply.outcome.source == .hit)
      #expect(reply.body.bytes?.first == UInt8(number))
      let page = try #require(reader.store.memory.value(for: key))
      #expect(page.cost <= limits.memorySizeLimit / 2)
      #expect(page.bodies.values.contains { $0.data.first == UInt8(number) })
    }
  }

  // Of two equal responses whose bodies ended at the same time, the one whose place the other took counted as not stored,
  // so that both were removed: the page was looked at again after the change.
  @Test(arguments: [true, false])
  func `responses that end at the same time leave one of them`(isOnDisk: Bool) throws {
    let store = store(isOnDisk: isOnDisk)
    let request = try Origin.request()
    let key = try #require(CacheKey(request.url))
    for round in 0..<Effort.times(isOnDisk ? 5 : 500) {
      let responses = try (0..<4).map { try response("\(round) \($0)", to: request) }
      let storedCount = Atomic(0)
      DispatchQueue.concurrentPerform(iterations: responses.count) { number in
        let isStored = store.store(responses[number], Self.body, for: request, under: key)
        if isStored { storedCount.add(1, ordering: .relaxed) }
      }
      #expect(storedCount.load(ordering: .relaxed) == responses.count)
      let left = store.responses(for: key)
      #expect(left.count == 1)
      #expect(left.allSatisfy { store.body(of: $0, at: 0..<1, for: key) != nil })
    }
  }
}
