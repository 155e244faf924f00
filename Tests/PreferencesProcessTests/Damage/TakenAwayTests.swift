import Foundation
import Testing

/// Other programs cut off, copy over, remove and replace the journal while it is written.
///
/// `cp backup JOURNAL` once ended 17 of 40 programs by SIGBUS, and a cut within a millisecond of the last set
/// 19 of 20: the thread that frees the lock between writes had the signal blocked, and a write behind the
/// end of a file that had just been extended was not noticed. Later, of two programs one lost what it had set if the other
/// noticed a blow first, and a backup that took the journal's place brought old values back. Then, in one run of fifteen, one of
/// two programs wrote an older value over what the other had just set. Then one of two programs that both found the journal
/// emptied put its new file over the other's.
@Suite(.serialized, .ownThread) struct TakenAwayTests {
  enum Blow: CaseIterable { case cut, copy, removal, replacement }

  /// A directory with a worker that writes without end, and a copy of its journal.
  private struct Victim {
    static let keyCount = 100
    static let oldKeyCount = 20

    let directory: TemporaryDirectory
    let workers: [Worker]
    private var backup = Data()
    private var random: SplitMix
    var journal: URL { directory.file("domain.journal") }

    init(writers: Int, seed: UInt64) throws {
      random = SplitMix(seed: seed)
      let directory = try TemporaryDirectory(inMemory: true)
      self.directory = directory
      workers = try (0..<writers).map {
        try Worker(directory.url, ["suffer", "w\($0)", "\(seed)"])
      }
      for worker in workers { try #require(worker.line() == "ready") }
      backup = try Data(contentsOf: journal)
    }

    /// Lets the workers write for a moment, and takes their journal away.
    mutating func strike(_ blow: Blow) throws {
      for _ in 0..<Int.random(in: 0..<300, using: &random) { sched_yield() }
      let path = journal.filePath
      let size = (try? Data(contentsOf: journal).count) ?? 0
      switch blow {
      case .cut:
        let isWhole = Bool.random(using: &random)
        let length = isWhole ? 0 : Int.random(in: 0...max(size, 1), using: &random)
        _ = truncate(path, off_t(length))
      case .copy:
        // As `cp` does: the file is emptied, and then written piece by piece.
        let file = open(path, O_WRONLY | O_TRUNC | O_CREAT | O_CLOEXEC, 0o600)
        // The programs may find it empty, or with its first pieces.
        let pauses = [0, 0, 3, 30].map { $0 * Int.random(in: 1...8, using: &random) }
        for _ in 0..<(pauses.randomElement(using: &random) ?? 0) { sched_yield() }
        backup.withUnsafeBytes { bytes in
          let piece = [4_096, 16_384, 131_072].randomElement(using: &random) ?? 4_096
          for start in stride(from: 0, to: bytes.count, by: piece) {
            let part = UnsafeRawBufferPointer(
              rebasing: bytes[start..<min(start + piece, bytes.count)])
            _ = write(file, part.baseAddress, part.count)
            for _ in 0..<(pauses.randomElement(using: &random) ?? 0) { sched_yield() }
          }
        }
        close(file)
      case .removal: unlink(path)
      case .replacement:
        let copy = directory.file("backup")
        try backup.write(to: copy)
        _ = rename(copy.filePath, path)
      }
    }

    /// What is wrong afterwards; nil when nothing is.
    ///
    /// Every value has to be the last one that was set.
    mutating func disorder(after blow: Blow) throws -> String? {
      // A removed or replaced file is noticed by one write in 65, and by a flush.
      let isMoved = blow == .removal || blow == .replacement
      // What a read notices is written soon, and not before the read returns.
      let demands = isMoved ? ["sets", "flush"] : ["sets", "flush", "set"]
      let demand = demands.randomElement(using: &random) ?? "sets"
      var last: [Int] = []
      for (writer, worker) in workers.enumerated() {
        worker.send(demand)
        guard let line = worker.line() else { return "w\(writer) ended with \(worker.finish())" }
        guard let number = Int(line) else { return "w\(writer) says \(line)" }
        last.append(number)
      }
      let found = try Worker.contents(directory.url)
      for (writer, number) in last.enumerated() {
        for expected in (number - Self.keyCount + 1)...number {
          let key = "w\(writer).\(expected % Self.keyCount)"
          if found[key] != "integer \(expected)" {
            return
              "\(key) is \(found[key] ?? "missing"), not \(expected), after \(demand)"
          }
        }
        for old in 0..<Self.oldKeyCount where found["w\(writer).old.\(old)"] != "integer \(old)" {
          return "w\(writer).old.\(old) is \(found["w\(writer).old.\(old)"] ?? "missing")"
        }
      }
      // A copy that is made while nobody writes.
      if Int.random(in: 0..<4, using: &random) == 0 { backup = try Data(contentsOf: journal) }
      for worker in workers {
        worker.send("go")
        if worker.line() != "going" { return "a worker ended with \(worker.finish())" }
      }
      return nil
    }
  }

  /// One after another: the workers write without a pause, and would take the processors from other tests. So this doesn't yield
  /// to them while workers live, either: it would go on behind all tests that wait for the thread.
  @Test(arguments: Blow.allCases)
  func `nobody dies and no value is lost`(blow: Blow) throws {
    let writers = [1, 2, 3]
    for (seed, writers) in zip(UInt64(1)..., writers) {
      var victim = try Victim(writers: writers, seed: seed)
      for round in 0..<Effort.times(2, long: 200) {
        try victim.strike(blow)
        if let problem = try victim.disorder(after: blow) {
          Issue.record("\(blow), \(writers) writers, seed \(seed), round \(round): \(problem)")
          return
        }
      }
    }
  }

  @Test(arguments: [1, 3]) func `blows of all kinds in any order cost no value`(writers: Int)
    throws
  {
    var random = SplitMix(seed: 7)
    var victim = try Victim(writers: writers, seed: 7)
    for round in 0..<Effort.times(10, long: 500) {
      let blow = Blow.allCases.randomElement(using: &random) ?? .cut
      try victim.strike(blow)
      if let problem = try victim.disorder(after: blow) {
        Issue.record("\(blow), round \(round): \(problem)")
        return
      }
    }
  }
}
