import CachesTestSupport
import Foundation
import SteadFiles
import SteadTestSupport
import Testing

@testable import SteadCaches

/// A cache that several processes share.
@Suite(.hangLimit, .serialized) struct DiskProcessTests {
  private let directory: TemporaryDirectory
  private var url: URL { directory.url.appending(path: "cache", directoryHint: .isDirectory) }

  init() throws { directory = try TemporaryDirectory(inMemory: true) }

  private func worker(_ command: String, _ words: String...) throws -> WorkerProcess {
    try WorkerProcess([WorkerProcess.program("CachesWorker"), command, url.filePath] + words)
  }

  private func files(in name: String) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: url.file(name).filePath)) ?? []
  }

  @Test func `finds what another process set and removed`() throws {
    let cache = DiskCache(directory: url)
    let other = try worker("disk-serve")
    try #require(other.line() == "ready")
    for number in 0..<100 {
      other.send("set a \(number)")
      #expect(other.line() == "true")
      #expect(cache.data(for: "a") == Data("\(number)".utf8))
      cache.setData(Data("mine\(number)".utf8), for: "a")
      other.send("get a")
      #expect(other.line() == "mine\(number)")
    }
    other.send("remove a")
    #expect(other.line() == "removed")
    #expect(cache.data(for: "a") == nil)
    other.endInput()
    #expect(other.finish() == 0)
  }

  @Test func `never exceeds the limit in four processes`() throws {
    let limit = 400_000
    let workers = try (0..<4).map { try worker("disk-crowd", "\($0)") }
    for worker in workers { try #require(worker.line() == "ready") }
    for worker in workers { worker.send("go") }
    var stored = 0
    for worker in workers {
      let words = try #require(worker.line()).split(separator: " ").compactMap { Int($0) }
      try #require(words.count == 2)
      #expect(words[0] <= limit)
      #expect(words[0] > limit / 2)
      stored += words[1]
      #expect(worker.rest() == [])
      #expect(worker.finish() == 0)
    }
    // A few may have waited in vain for the lock on a busy machine.
    #expect(stored > 400)
    let cache = DiskCache(directory: url, limits: .init(totalSizeLimit: limit))
    #expect(cache.totalSize <= limit)
    // What the counts say is what there is.
    var size = 0
    for number in 0..<DiskProcess.keyCount {
      guard let entry = cache.entry(for: "\(number)") else { continue }
      #expect(entry.data?.starts(with: Data("\(number) ".utf8)) == true)
      size += entry.size + "\(number)".utf8.count
    }
    #expect(cache.totalSize == size)
    let values = try FileManager.default.contentsOfDirectory(
      atPath: url.file("values").filePath)
    #expect(values.count * 140_000 <= limit)
  }

  /// The whole of it, however often its writers are killed.
  @Test(.ownThread) func `survives many kills`() throws {
    var random = SplitMix(seed: Effort.seed)
    var workers: [WorkerProcess] = []
    for kill in 0..<Effort.times(50, long: 5_000) {
      while workers.count < 2 {
        let worker = try worker("disk-changes", "\(random.next() >> 1)")
        // Some are killed while they open the cache.
        if Int.random(in: 0..<4, using: &random) > 0 {
          let line = worker.line()
          #expect(line == "opened", "kill \(kill)")
        }
        workers.append(worker)
      }
      for _ in 0..<Int.random(in: 0..<2_000_000, using: &random) { _ = random.next() }
      let worker = workers.remove(at: Int.random(in: 0..<2, using: &random))
      worker.end()
      #expect(worker.rest().allSatisfy { $0 == "opened" }, "kill \(kill)")
    }
    for worker in workers {
      worker.end()
      #expect(worker.rest().allSatisfy { $0 == "opened" })
    }
    let cache = DiskCache(directory: url, limits: .init(totalSizeLimit: 1_000_000))
    var (size, large) = (0, 0)
    for number in 0..<DiskProcess.keyCount {
      guard let entry = cache.entry(for: "\(number)") else { continue }
      #expect(entry.data?.starts(with: Data("\(number) ".utf8)) == true)
      size += entry.size + "\(number)".utf8.count + TagList(entry.tags).bytes.count
      if entry.size >= DiskCache.fileThreshold { large += 1 }
    }
    #expect(cache.totalSize == size)
    #expect(files(in: "values").count == large)
    #expect(cache.statistics.hits > 0)
    #expect(cache.setData(Data("new".utf8), for: "new"))
  }

  @Test func `gets go on while a stopped process holds the lock`() throws {
    let reports = Reports(for: url)
    let cache = DiskCache(directory: url)
    #expect(cache.setData(Data("1".utf8), for: "a"))
    let holder = try worker("disk-lock")
    try #require(holder.line() == "locked")
    for _ in 0..<5 {
      #expect(!cache.setData(Data("2".utf8), for: "a"))
      #expect(cache.data(for: "a") == Data("1".utf8))
    }
    for _ in 0..<30 { #expect(!cache.setData(Data("2".utf8), for: "a")) }
    // The first set waits, and the following ones don't: each took 0.1 s.
    #expect(cache.database.waitCount == 1)
    #expect(reports.codes == [.cacheLocked])
    holder.end()
    #expect(cache.setData(Data("2".utf8), for: "a"))
    #expect(cache.data(for: "a") == Data("2".utf8))
    #expect(reports.codes == [.cacheLocked])
  }

  /// A reader that has stopped keeps the log from being used from its start again.
  @Test func `a stopped reader does not make the log grow for ever`() throws {
    let reports = Reports(for: url)
    let cache = DiskCache(directory: url)
    #expect(cache.setData(Data("1".utf8), for: "a"))
    let reader = try worker("disk-snapshot")
    try #require(reader.line() == "reading")
    reader.waitUntilStopped()
    let valueSize = 100_000
    var (stored, longest) = (0, Int64(0))
    while cache.setData(CacheFixture.bytes(valueSize, seed: UInt64(stored)), for: "\(stored % 50)")
    {
      stored += 1
      longest = max(longest, logSize)
      try #require(stored < 1000)
    }
    // What a set writes besides its value: a page for each index and table, some of them split.
    let setSize = Int64(valueSize + 30 * 4096)
    #expect(longest > CacheDatabase.logLimit)
    #expect(longest <= CacheDatabase.logLimit + setSize)
    // The first one waits for the reader, and the following ones don't.
    let waitCount = cache.database.waitCount
    #expect(waitCount > 0)
    for number in 0..<5 {
      #expect(!cache.setData(CacheFixture.bytes(valueSize), for: "\(number)"))
      #expect(!cache.setData(CacheFixture.bytes(200_000), for: "\(number)"))
      #expect(cache.data(for: "a") == Data("1".utf8))
      cache.removeValue(for: "a")
    }
    // Each waited 0.1 s for the reader.
    #expect(cache.database.waitCount == waitCount)
    #expect(logSize == longest)
    #expect(reports.codes == [.cacheLocked])
    reader.resume()
    #expect(reader.line() == "true")
    #expect(cache.setData(Data("2".utf8), for: "a"))
    #expect(cache.data(for: "a") == Data("2".utf8))
    #expect(
      cache.data(for: "\((stored - 1) % 50)")
        == CacheFixture.bytes(valueSize, seed: UInt64(stored - 1)))
    #expect(logSize < 1 << 20)
    #expect(reports.codes == [.cacheLocked])
  }

  private var logSize: Int64 {
    (try? POSIXDisk().status(at: url.file("DiskCache.sqlite-wal").filePath)?.size) ?? 0
  }

  @Test(.exitTests, .needs(.noThreadSanitizer))
  func `the child of a fork finds nothing and harms nothing`() async {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory(inMemory: true)
      let url = directory.url.appending(path: "cache", directoryHint: .isDirectory)
      let reports = Reports(for: url)
      let cache = DiskCache(directory: url)
      cache.setData(Data("1".utf8), for: "a")
      let child = try ForkedChild {
        guard cache.data(for: "a") == nil, !cache.setData(Data("2".utf8), for: "a") else {
          throw CocoaError(.fileReadUnknown)
        }
        // Nor may a second object use what SQLite knows of the parent's file.
        let second = DiskCache(directory: url)
        guard second.data(for: "a") == nil, reports.codes == [.cacheUnavailable, .cacheUnavailable]
        else { throw CocoaError(.fileReadUnknown) }
        let other = DiskCache(directory: directory.url.appending(path: "other"))
        guard other.setData(Data("3".utf8), for: "a"), other.data(for: "a") == Data("3".utf8) else {
          throw CocoaError(.fileReadUnknown)
        }
      }
      guard child.finish() == 0, cache.data(for: "a") == Data("1".utf8),
        cache.setData(Data("2".utf8), for: "a"), cache.data(for: "a") == Data("2".utf8),
        reports.codes == []
      else { exit(3) }
    }
  }
}

private enum DiskProcess {
  static let keyCount = 60
}
