import Foundation
import SteadPreferences
import Testing

/// A property list or a journal that is a mount point of its own, as containers mount single files: no other file can get its name.
///
/// Every publishing once failed with EBUSY. Then a journal that was mounted was never compacted, and grew without limit.
@Suite(.needs(.superuser), .hangLimit, .ownThread) struct MountedFileTests {
  enum Mounted: String, CaseIterable {
    case propertyList = "domain.plist"
    case journal = "domain.journal"
    case both = "domain.plist domain.journal"

    var names: [String] { rawValue.split(separator: " ").map(String.init) }
  }

  /// A domain of whose files some are mounted from elsewhere, in the workers' name space.
  private struct MountedDomain {
    let directory: TemporaryDirectory
    private let mounted: Mounted

    init(_ mounted: Mounted, isEmpty: Bool) throws {
      self.mounted = mounted
      directory = try TemporaryDirectory(inMemory: true)
      try FileManager.default.createDirectory(
        at: directory.file("real"), withIntermediateDirectories: false)
      if !isEmpty {
        let first = try Worker(directory.url, ["follow"])
        for line in ["set old 1", "synchronize"] { first.send(line) }
        first.endInput()
        _ = first.rest()
        try #require(first.finish() == 0)
      }
      for name in mounted.names {
        let (place, real) = (directory.file(name), directory.file("real/\(name)"))
        if isEmpty {
          try Data().write(to: real)
        } else {
          try FileManager.default.moveItem(at: place, to: real)
        }
        try Data().write(to: place)
      }
    }

    func worker(_ arguments: [String], launcher: [String] = []) throws -> Worker {
      let script = """
        place="$1"
        for name in $2; do mount --bind "$place/real/$name" "$place/$name" || exit 1; done
        shift 2
        exec "$@"
        """
      return try Worker(
        directory.url, arguments,
        launcher: [
          "unshare", "-m", "bash", "-c", script, "mounted", directory.url.filePath,
          mounted.rawValue,
        ] + launcher)
    }

    func real(_ name: String) -> URL {
      mounted.names.contains(name) ? directory.file("real/\(name)") : directory.file(name)
    }

    /// What the property list has, for whoever reads it.
    func published() throws -> [String: Int] {
      let data = try Data(contentsOf: real("domain.plist"))
      let list = try PropertyListSerialization.propertyList(from: data, format: nil)
      return list as? [String: Int] ?? [:]
    }

    /// What distinguishes a journal from the one before a compaction.
    func salt() throws -> Data { try Data(contentsOf: real("domain.journal"))[16..<24] }
  }

  @Test(arguments: Mounted.allCases, [false, true])
  func `two programs publish in place`(mounted: Mounted, isEmpty: Bool) throws {
    let domain = try MountedDomain(mounted, isEmpty: isEmpty)
    let workers = [try domain.worker(["follow"]), try domain.worker(["follow"])]
    for worker in workers {
      var line = worker.line()
      // An empty journal is damage, as after a loss of power.
      while isEmpty, line?.hasPrefix("error The journal") == true { line = worker.line() }
      try #require(line == "ready")
    }
    var expected = isEmpty ? [:] : ["old": 1]
    for round in 1...10 {
      let salt = try domain.salt()
      let (worker, other) = (workers[round % 2], workers[(round + 1) % 2])
      worker.send("set key.\(round) \(round)")
      worker.send("synchronize")
      #expect(answer(of: worker) == "true")
      // The system doesn't report changes of a file that is mounted elsewhere to those who watch its directory.
      other.send("get key.\(round)")
      #expect(answer(of: other) == "integer \(round)")
      expected["key.\(round)"] = round
      #expect(try domain.published() == expected)
      #expect(try domain.salt() != salt)
    }
    let reader = try domain.worker(["dump"])
    #expect(try reader.wholeDump() == expected.mapValues { "integer \($0)" })
    let names = try domain.directory.names
    #expect(names.allSatisfy { !$0.contains("redo") && !$0.contains("stead-") }, "\(names)")
    #expect(names.allSatisfy { isEmpty || !$0.contains("damaged") }, "\(names)")
  }

  @Test func `a journal that is mounted doesn't grow without limit`() throws {
    let domain = try MountedDomain(.both, isEmpty: false)
    let workers = [try domain.worker(["follow"]), try domain.worker(["follow"])]
    for worker in workers { try #require(worker.line() == "ready") }
    for round in 0..<15 {
      let worker = workers[round % 2]
      worker.send("hammer key.\(round % 2) 1000")
      #expect(answer(of: worker) == "hammered")
    }
    workers[0].send("synchronize")
    #expect(answer(of: workers[0]) == "true")
    // The log of 15,000 records would take 360 KiB.
    #expect(try Data(contentsOf: domain.real("domain.journal")).count < 256 << 10)
    let reader = try domain.worker(["dump"])
    #expect(try reader.wholeDump().count == 2_001)
  }

  /// The next line that tells of no change.
  private func answer(of worker: Worker) -> String? {
    var line = worker.line()
    while line?.hasPrefix("own ") == true || line?.hasPrefix("other ") == true {
      line = worker.line()
    }
    return line
  }

  /// The beginning of a property list is recognized, and written again.
  @Test(arguments: Mounted.allCases, [1, 2])
  func `a kill while a file is overwritten loses nothing`(mounted: Mounted, writers: Int) throws {
    let domain = try MountedDomain(mounted, isEmpty: false)
    let seed = Effort.seed
    var run = KilledWriters((0..<writers).map { "w\($0)" }, seed: seed) { name in
      try domain.worker(["step", name, "\(seed)", "checkpoints"])
    } fail: {
      Issue.record("\(mounted), seed \(seed): \($0)")
    }
    for _ in 0..<Effort.times(5, long: 200) { try run.kill() }
    run.end()
    run.check(try domain.worker(["dump"]).wholeDump())
    #expect(run.changesDone > 0)
    let names = try domain.directory.names
    #expect(names.allSatisfy { !$0.contains("damaged") }, "\(names)")
  }

  enum Ending: String, CaseIterable {
    case kill = "signal=SIGKILL"
    case fullDisk = "error=ENOSPC"
  }

  /// It was emptied when the complete new file had just been removed, and there was no journal with the values.
  @Test(.needs(.failingCalls), arguments: Ending.allCases, [1, 2, 5])
  func `a write that ends early loses nothing where there is no journal`(
    ending: Ending, writes: Int
  )
    throws
  {
    let domain = try MountedDomain(.propertyList, isEmpty: false)
    try FileManager.default.removeItem(at: domain.directory.file("domain.journal"))
    let paths = ["domain.journal", "domain.plist"].flatMap {
      ["-P", domain.directory.file($0).filePath]
    }
    // Files cannot be mapped, and the last write into the mount point fails.
    let lack = ["-e", "trace=mmap,write", "-e", "inject=mmap:error=ENODEV"]
    let failure = ["-e", "inject=write:\(ending.rawValue):when=\(writes)+"]
    let strace = ["strace", "-D", "-f", "-qq", "-o", "/dev/null"] + paths + lack
    let worker = try domain.worker(["follow"], launcher: strace + failure)
    for number in 1...writes { worker.send("set key.\(number) \(number)") }
    worker.endInput()
    let lines = worker.rest()
    #expect(worker.finish() == (ending == .kill ? -9 : 0), "\(lines)")
    var expected = ["old": "integer 1"]
    for number in 1...writes { expected["key.\(number)"] = "integer \(number)" }
    for _ in 0..<2 {
      let reader = try domain.worker(["dump"], launcher: strace)
      let found = try reader.wholeDump()
      #expect(found == expected, "\(lines)")
    }
    let next = try domain.worker(["set", "next", "1"], launcher: strace)
    _ = next.rest()
    #expect(next.finish() == 0)
    let names = ["old", "next"] + (1...writes).map { "key.\($0)" }
    #expect(try domain.published().keys.sorted() == names.sorted())
    #expect(try !domain.directory.names.contains { $0.contains("next") || $0.contains("damaged") })
  }
}
