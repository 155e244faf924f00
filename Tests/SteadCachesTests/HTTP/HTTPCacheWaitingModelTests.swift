import Foundation
import SteadTestSupport
import Synchronization
import Testing

@testable import SteadCaches

/// Random orders of crowds of requests, chunks, ends, breaks, pauses and cancellations, of two URLs at the same time.
///
/// Whatever the order: each request ends once the server has sent all that it sends and time has passed, with a whole
/// body, or with the error that broke a body off, or cancelled. If equal requests may use the response, there is one
/// fetch, and at most one more for each break, pause and cancellation: a fault costs a fetch, not one for each that
/// waits. If they may not, each has a fetch of its own, and no more.
@Suite(.hangLimit) struct HTTPCacheWaitingModelTests {
  @Test(arguments: 0..<UInt64(4))
  func `every request ends well, with no more fetches than needed, in any order of events`(
    group: UInt64
  ) async throws {
    let count = UInt64(Effort.times(25))
    for seed in group * count..<(group + 1) * count {
      await Task.yield()
      let course = Course(seed: seed)
      await course.run()
      if let fault = try await course.fault() {
        return #expect(Bool(false), "\(seed): \(fault)\n\(course.story)")
      }
    }
  }
}

/// One URL, and what its server sends.
private struct Page: CustomStringConvertible {
  /// Whether equal requests may use a response that is stored whole.
  private static let kinds: [(fields: HTTPCache.Fields, isForOthers: Bool)] = [
    (["Cache-Control": "max-age=10"], true),
    (["Cache-Control": "max-age=10", "ETag": "\"a\""], true),
    (["Cache-Control": "max-age=10, must-revalidate", "ETag": "\"a\""], true),
    (["Cache-Control": "no-cache"], false),
    (["Cache-Control": "no-cache", "ETag": "\"a\""], false),
    (["Cache-Control": "max-age=0", "ETag": "\"a\""], false),
    (["Cache-Control": "no-store"], false),
    (["Cache-Control": "no-store", "ETag": "\"a\""], false), ([:], false),
  ]

  let path: String
  let text: String
  let fields: HTTPCache.Fields
  let isForOthers: Bool

  init(_ path: String, _ text: String, isLarge: Bool, _ random: inout SplitMix) {
    (self.path, self.text) = (path, text)
    // Half of the pages are of use to others: there are fewer kinds of these.
    let isForOthers = Bool.random(using: &random)
    let kinds = Self.kinds.filter { $0.isForOthers == isForOthers }
    var fields = kinds[Int.random(in: 0..<kinds.count, using: &random)].fields
    if Bool.random(using: &random) { fields["Content-Length"] = "\(text.count)" }
    self.fields = fields
    self.isForOthers = isForOthers && !isLarge
  }

  var mayBeStored: Bool { fields["Cache-Control"] != "no-store" }
  var description: String { "\(path) \(fields["Cache-Control"] ?? "-"), \(fields.count) fields" }
}

/// The bodies that a server sends, letter by letter.
private final class LetterServer: Sendable {
  struct Broken: Error {}

  private struct Transfer {
    let chunks = Chunks()
    let path: String
    var rest: Substring
    var isOver = false
  }

  private let transfers = Mutex<[Transfer]>([])

  func count(_ page: Page) -> Int { transfers.withLock { $0.count { $0.path == page.path } } }

  func begin(_ page: Page) -> HTTPCache.Body {
    let transfer = Transfer(path: page.path, rest: page.text[...])
    transfers.withLock { $0.append(transfer) }
    return transfer.chunks.body
  }

  /// Sends a letter of a body, or its end.
  func send(_ number: Int) {
    transfers.withLock { all in
      guard !all.isEmpty else { return }
      let place = number % all.count
      guard let letter = all[place].rest.popFirst() else {
        all[place].isOver = true
        return all[place].chunks.finish()
      }
      all[place].chunks.send(String(letter))
    }
  }

  /// Breaks off a body, and returns whose; nil if there was none to break off.
  func breakOff(_ number: Int) -> String? {
    transfers.withLock { all in
      guard !all.isEmpty, !all[number % all.count].isOver else { return nil }
      all[number % all.count].isOver = true
      all[number % all.count].chunks.finish(Broken())
      return all[number % all.count].path
    }
  }

  func sendAll() {
    transfers.withLock { all in
      for place in all.indices where !all[place].isOver {
        if !all[place].rest.isEmpty { all[place].chunks.send(String(all[place].rest)) }
        all[place].rest = ""
        all[place].isOver = true
        all[place].chunks.finish()
      }
    }
  }
}

/// A random order of events, and what came of it.
private final class Course {
  private static let stepCount = 14
  private static let crowdSize = 5

  /// What happened to one URL.
  private struct Count {
    var breaks = 0
    var cancellations = 0
    var requests = 0
    var (whole, broken) = (0, 0)
  }

  private var random: SplitMix
  private let pages: [Page]
  private let server = LetterServer()
  private let pauses = Pauses()
  private let origin: Origin
  private let cache: HTTPCache
  private var tasks: [(page: Page, task: Task<String, any Error>)] = []
  private var counts: [String: Count] = [:]
  private var pauseCount = 0
  private(set) var story = ""

  init(seed: UInt64) {
    var random = SplitMix(seed: seed)
    let isLarge = Int.random(in: 0..<4, using: &random) == 0
    let pages = [("/a", "abcdef"), ("/g", "ghijkl")].map {
      Page($0.0, $0.1, isLarge: isLarge, &random)
    }
    let (server, pauses) = (server, pauses)
    let origin = Origin { request in
      let page = pages.first { $0.path == request.url.path } ?? pages[0]
      if page.fields["ETag"] != nil, request.fields["If-None-Match"] == page.fields["ETag"] {
        return (.init(status: 304, fields: page.fields), HTTPCache.Body(Data()))
      }
      return (.init(status: 200, fields: page.fields), server.begin(page))
    }
    cache = HTTPCache(
      directory: nil, limits: .init(bufferSizeLimit: isLarge ? 3 : 1_000), now: { origin.now },
      sleep: pauses.sleep)
    (self.random, self.pages, self.origin) = (random, pages, origin)
    story = "\(pages), \(isLarge ? "too large" : "small")"
  }

  func run() async {
    for _ in 0..<Self.stepCount {
      step()
      for _ in 0..<Int.random(in: 0..<20, using: &random) { await Task.yield() }
    }
    let isOver = Atomic(false)
    let server = server
    let rest = Task {
      while !isOver.load(ordering: .relaxed) {
        server.sendAll()
        await Task.yield()
      }
    }
    for (_, task) in tasks { _ = await task.result }
    isOver.store(true, ordering: .relaxed)
    await rest.value
  }

  private func step() {
    let number = Int.random(in: 0..<6, using: &random)
    switch Int.random(in: 0..<13, using: &random) {
    case 0..<5: request(pages[number % pages.count])
    case 5..<8: server.send(number)
    case 8:
      guard let path = server.breakOff(number) else { return }
      counts[path, default: Count()].breaks += 1
      story += ", a break of \(path)"
    case 9:
      guard pauses.pass() > 0 else { return }
      pauseCount += 1
      story += ", a pause"
    case 10..<12 where !tasks.isEmpty:
      // The first are those that others wait for.
      let (page, task) = tasks[number % tasks.count]
      counts[page.path, default: Count()].cancellations += 1
      story += ", a cancellation of \(page.path)"
      task.cancel()
    default: break
    }
  }

  private func request(_ page: Page) {
    let count = Int.random(in: 1...Self.crowdSize, using: &random)
    counts[page.path, default: Count()].requests += count
    story += ", \(count) of \(page.path)"
    let (origin, cache) = (origin, cache)
    for _ in 0..<count {
      tasks.append((page, Task { try await origin.get(page.path, from: cache).text }))
    }
  }

  /// What is wrong; nil if nothing is.
  func fault() async throws -> String? {
    for (page, task) in tasks {
      switch await task.result {
      case .success(page.text): counts[page.path]?.whole += 1
      case .success(let text): return "\(page) is \(text)"
      case .failure(is LetterServer.Broken): counts[page.path]?.broken += 1
      case .failure(is CancellationError) where task.isCancelled: continue
      case .failure(let error): return "\(page) threw \(error)"
      }
    }
    for page in pages {
      let count = counts[page.path] ?? Count()
      let fetches = origin.requests.count { $0.url.path == page.path }
      let fault = page.isForOthers ? sharedFault(count, fetches) : ownFault(page, count, fetches)
      if let fault { return "\(page): \(fault)" }
      // The second break fails all that have waited for both bodies.
      if count.breaks < 2, count.broken > count.breaks { return "\(page): \(count.broken) broken" }
      let isStored = cache.storedResponse(to: try Origin.request(page.path)) != nil
      if page.isForOthers, count.whole > 0, !isStored { return "\(page) is not stored" }
      if !page.mayBeStored, isStored { return "\(page) is stored" }
    }
    return nil
  }

  private func sharedFault(_ count: Count, _ fetches: Int) -> String? {
    // Whoever has waited for two bodies in vain asks for itself alone, or throws what broke off both.
    let mayBeAlone = pauseCount > 0 && pauseCount + count.breaks > 1
    let most = 1 + count.breaks + pauseCount + count.cancellations
    if fetches > (mayBeAlone ? count.requests : min(most, count.requests)) {
      return "\(fetches) fetches, \(most) at most"
    }
    return fetches == 0 && count.whole > 0 ? "no fetch" : nil
  }

  private func ownFault(_ page: Page, _ count: Count, _ fetches: Int) -> String? {
    // A 304 whose response has been replaced meanwhile is followed by one more fetch, without conditions.
    let bodies = server.count(page)
    if bodies > count.requests { return "\(bodies) bodies, \(count.requests) requests" }
    if fetches > count.requests * 2 { return "\(fetches) fetches, \(count.requests) requests" }
    return fetches < count.whole ? "\(fetches) fetches, \(count.whole) bodies" : nil
  }
}
