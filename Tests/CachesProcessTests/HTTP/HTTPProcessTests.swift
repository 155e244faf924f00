import CachesTestSupport
import Foundation
import SteadFiles
import SteadTestSupport
import Testing

@testable import SteadCaches

/// A cache of responses that several processes share, and processes that are killed or stopped.
@Suite(.hangLimit, .serialized) struct HTTPProcessTests {
  private let directory: TemporaryDirectory
  private let origin: VersionedOrigin
  private var url: URL { directory.url.appending(path: "http", directoryHint: .isDirectory) }
  private var cache: HTTPCache { HTTPCache(directory: url) }

  init() throws {
    MemoryPressure.shared.ignoreSystem()
    directory = try TemporaryDirectory(inMemory: true)
    origin = try VersionedOrigin()
  }

  private func worker(_ command: String, _ words: String...) throws -> WorkerProcess {
    try WorkerProcess(
      [WorkerProcess.program("CachesWorker"), command, url.filePath, origin.server.base] + words)
  }

  /// What one process changes or confirms, the other doesn't answer from memory.
  @Test(arguments: ["/small/1", "/large/1"])
  func `forgets what another process replaces`(path: String) async throws {
    let cache = cache
    let other = try worker("http-serve")
    try #require(other.line() == "ready")
    for _ in 0..<10 {
      let old = try await origin.get(path, from: cache).version
      #expect(try await origin.get(path, from: cache) == (old, .hit))
      other.send("get \(path)")
      #expect(other.line() == "\(old) hit")
      // It learns that the server has another one.
      origin.change(path)
      other.send("confirm \(path)")
      #expect(other.line() == "\(old + 1) miss")
      #expect(try await origin.get(path, from: cache) == (old + 1, .hit))
      // It changes it itself.
      other.send("post \(path)")
      #expect(other.line() == "posted")
      #expect(try await origin.get(path, from: cache) == (old + 2, .miss))
      other.send("get \(path)")
      #expect(other.line() == "\(old + 2) hit")
      // And this one does.
      try await origin.post(path, to: cache)
      other.send("get \(path)")
      #expect(other.line() == "\(old + 3) miss")
      other.send("confirm \(path)")
      #expect(other.line() == "\(old + 3) revalidated")
      #expect(try await origin.get(path, from: cache) == (old + 3, .hit))
    }
    other.endInput()
    #expect(other.finish() == 0)
  }

  /// Bodies in memory and bodies that are streamed to the disk, of two processes that are killed at any moment.
  @Test(.ownThread) func `serves no wrong body after many kills`() async throws {
    var random = SplitMix(seed: Effort.seed)
    var workers: [WorkerProcess] = []
    for kill in 0..<Effort.times(25, long: 1_500) {
      while workers.count < 2 {
        let worker = try worker("http-changes", "\(random.next() >> 1)")
        // Some are killed while they open the cache.
        if Int.random(in: 0..<8, using: &random) > 0 {
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
    let reports = Reports(for: url)
    let limits = HTTPCache.Limits(diskSizeLimit: 1_000_000)
    let cache = HTTPCache(directory: url, limits: limits)
    #expect((1...limits.diskSizeLimit).contains(cache.diskSize))
    var found = 0
    for path in (0..<8).flatMap({ ["/small/\($0)", "/large/\($0)"] }) {
      if let version = try await origin.stored(path, in: cache) {
        found += 1
        #expect((1...origin.version(of: path)).contains(version))
      }
      let confirmed = try await origin.get(path, .reloadRevalidatingCacheData, from: cache)
      #expect(confirmed.version == origin.version(of: path))
    }
    #expect(found > 0)
    // The opening has removed what the killed ones left.
    let values = url.appending(path: "values", directoryHint: .isDirectory)
    let sizes = try FileManager.default.contentsOfDirectory(atPath: values.filePath).map {
      try FileManager.default.attributesOfItem(atPath: values.file($0).filePath)[.size] as? Int ?? 0
    }
    #expect(sizes.reduce(0, +) <= limits.diskSizeLimit + 10_000)
    #expect(reports.codes == [])
  }

  @Test func `goes on while a stopped process holds the lock`() async throws {
    let reports = Reports(for: url)
    let cache = cache
    #expect(try await origin.get("/small/1", from: cache) == (1, .miss))
    #expect(try await origin.get("/small/2", from: cache) == (1, .miss))
    let holder = try WorkerProcess([
      WorkerProcess.program("CachesWorker"), "disk-lock", url.filePath,
    ])
    try #require(holder.line() == "locked")
    holder.waitUntilStopped()
    // What is stored is used, what is not comes from the server, and then from memory.
    #expect(try await origin.get("/small/1", from: cache) == (1, .hit))
    #expect(try await origin.get("/small/3", from: cache) == (1, .miss))
    #expect(try await origin.get("/small/3", from: cache) == (1, .hit))
    // Too large for memory.
    let small = HTTPCache.Limits(memorySizeLimit: 100_000, bufferSizeLimit: 50_000)
    let limited = HTTPCache(directory: url, limits: small)
    for _ in 0..<2 { #expect(try await origin.get("/large/3", from: limited) == (1, .miss)) }
    // What is removed isn't used again.
    try await origin.post("/small/2", to: cache)
    #expect(try await origin.get("/small/2", from: cache) == (2, .miss))
    #expect(try await origin.get("/small/2", from: cache) == (2, .hit))
    // One report for each of the two objects.
    #expect(reports.codes == [.cacheLocked, .cacheLocked])
    holder.end()
    #expect(try await origin.get("/small/4", from: cache) == (1, .miss))
    #expect(try await origin.get("/large/3", from: limited) == (1, .miss))
    for path in ["/small/4", "/large/3"] {
      #expect(try await origin.stored(path, in: self.cache) == 1, "\(path)")
    }
    #expect(reports.codes == [.cacheLocked, .cacheLocked])
  }

  @Test(.needs(.smallDisk)) func `a full disk loses nothing but the cache`() async throws {
    let disk = try SmallDisk(byteCount: 2 << 20)
    let url = disk.directory.url.appending(path: "http", directoryHint: .isDirectory)
    let reports = Reports(for: url)
    let limits = HTTPCache.Limits(memorySizeLimit: 400_000, bufferSizeLimit: 50_000)
    let cache = HTTPCache(directory: url, limits: limits)
    for path in ["/small/1", "/small/2", "/large/1"] {
      #expect(try await origin.get(path, from: cache) == (1, .miss))
    }
    try disk.fill()
    for path in ["/small/1", "/small/2", "/large/1"] {
      #expect(try await origin.get(path, from: cache) == (1, .hit))
    }
    // What fits into memory is kept there; the streamed one isn't kept.
    for number in 10..<30 {
      #expect(try await origin.get("/small/\(number)", from: cache) == (1, .miss))
    }
    #expect(try await origin.get("/small/29", from: cache) == (1, .hit))
    for _ in 0..<2 { #expect(try await origin.get("/large/2", from: cache) == (1, .miss)) }
    // What is removed isn't used again.
    for path in ["/small/2", "/large/1"] {
      try await origin.post(path, to: cache)
      #expect(try await origin.get(path, from: cache) == (2, .miss))
    }
    #expect(reports.codes == [.cacheFull])
    try disk.empty()
    for path in ["/small/40", "/large/2"] {
      #expect(try await origin.get(path, from: cache) == (1, .miss))
    }
    _ = try await origin.get("/small/2", .reloadIgnoringLocalCacheData, from: cache)
    let later = HTTPCache(directory: url, limits: limits)
    for (path, version) in [("/small/1", 1), ("/small/2", 2), ("/small/40", 1), ("/large/2", 1)] {
      #expect(try await origin.stored(path, in: later) == version, "\(path)")
    }
    #expect(reports.codes == [.cacheFull])
  }
}
