import Foundation
import SteadTestSupport
import Synchronization
import Testing

@testable import SteadCaches

/// Random orders of requests, chunks, ends, breaks, pauses and cancellations of one URL.
///
/// Whatever the order: each request ends once the server has sent all that it sends and time has passed, with a whole
/// body, or with the error that broke a body off, or cancelled; and without breaks and pauses there is one fetch, and at
/// most one more for each cancellation.
@Suite(.hangLimit) struct HTTPCacheWaitingModelTests {
  private struct Broken: Error {}
  private static let text = "abcdef"
  private static let stepCount = 14

  private final class Server: Sendable {
    private struct Transfer {
      let chunks = Chunks()
      var rest = HTTPCacheWaitingModelTests.text[...]
      var isOver = false
    }

    private let transfers = Mutex<[Transfer]>([])

    func begin() -> HTTPCache.Body {
      let transfer = Transfer()
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

    /// Breaks off a body; false if there was none to break off.
    func breakOff(_ number: Int) -> Bool {
      transfers.withLock { all in
        guard !all.isEmpty, !all[number % all.count].isOver else { return false }
        all[number % all.count].isOver = true
        all[number % all.count].chunks.finish(Broken())
        return true
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

  @Test func `every request ends well in any order of events`() async throws {
    for seed in 0..<UInt64(Effort.times(300)) {
      await Task.yield()
      if let fault = try await fault(of: seed) { return #expect(Bool(false), "\(seed): \(fault)") }
    }
  }

  private func fault(of seed: UInt64) async throws -> String? {
    var random = SplitMix(seed: seed)
    let (server, pauses) = (Server(), Pauses())
    let hasLength = Bool.random(using: &random)
    let isLarge = Bool.random(using: &random)
    let fields: HTTPCache.Fields =
      hasLength
      ? ["Cache-Control": "max-age=10", "Content-Length": "\(Self.text.count)"]
      : ["Cache-Control": "max-age=10"]
    let origin = Origin { _ in (.init(status: 200, fields: fields), server.begin()) }
    let cache = HTTPCache(
      directory: nil, limits: .init(bufferSizeLimit: isLarge ? 3 : 1_000), now: { origin.now },
      sleep: pauses.sleep)
    var tasks: [Task<String, any Error>] = []
    var (breaks, pauseCount, cancellations) = (0, 0, 0)
    for _ in 0..<Self.stepCount {
      let number = Int.random(in: 0..<6, using: &random)
      switch Int.random(in: 0..<12, using: &random) {
      case 0..<5: tasks.append(Task { try await origin.get(from: cache).text })
      case 5..<8: server.send(number)
      case 8: if server.breakOff(number) { breaks += 1 }
      case 9:
        if pauses.sleeperCount > 0 { pauseCount += 1 }
        pauses.pass()
      case 10 where !tasks.isEmpty:
        cancellations += 1
        tasks[number % tasks.count].cancel()
      default: break
      }
      for _ in 0..<Int.random(in: 0..<20, using: &random) { await Task.yield() }
    }
    let isOver = Atomic(false)
    let rest = Task {
      while !isOver.load(ordering: .relaxed) {
        server.sendAll()
        await Task.yield()
      }
    }
    defer { isOver.store(true, ordering: .relaxed) }
    for (number, task) in tasks.enumerated() {
      switch await task.result {
      case .success(Self.text): continue
      case .success(let text): return "request \(number) got \(text)"
      case .failure(is Broken) where breaks > 0: continue
      case .failure(is CancellationError) where task.isCancelled: continue
      case .failure(let error): return "request \(number) threw \(error)"
      }
    }
    isOver.store(true, ordering: .relaxed)
    await rest.value
    let isStored = cache.storedResponse(to: try Origin.request()) != nil
    let mayBeStored = !isLarge
    if isStored, !mayBeStored { return "a body is stored that is too large" }
    guard pauseCount == 0, breaks == 0, mayBeStored, !tasks.isEmpty else { return nil }
    let fetches = origin.requests.count
    if fetches > 1 + cancellations { return "\(fetches) fetches, \(cancellations) cancellations" }
    return fetches == 0 && cancellations == 0 ? "no fetch" : nil
  }
}
