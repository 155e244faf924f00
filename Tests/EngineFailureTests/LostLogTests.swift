import SteadSQLite
import WorkerModels

/// A store is a file and its log. `cp app.store` after the program had ended copied 4,096 bytes, which opened as an empty
/// store without an error: everything was in the log, since a container in a global variable is never closed.
@Suite("A store's file without its log", .needs(.program("cp"), .program("sqlite3")))
struct LostLogTests {
  private let file: StoreFile

  init() throws { file = try StoreFile() }

  // MARK: Other processes

  private func expectRefusal(of copy: StoreFile, sourceLocation: SourceLocation = #_sourceLocation)
    throws
  {
    let before = try Data(contentsOf: copy.url)
    for allowsSave in [true, false] {
      let error = #expect(throws: SwiftDataError.self, sourceLocation: sourceLocation) {
        try ModelContainer(
          for: Ledger.self, Entry.self,
          configurations: ModelConfiguration(url: copy.url, allowsSave: allowsSave))
      }
      #expect(error?.code == .unreadableStore, sourceLocation: sourceLocation)
      let message = error?.message ?? ""
      #expect(message.contains("lacks its log, test.store-wal"), sourceLocation: sourceLocation)
      #expect(
        message.contains("Put the log next to it, or open a backup"), sourceLocation: sourceLocation
      )
    }
    #expect(try Data(contentsOf: copy.url) == before, sourceLocation: sourceLocation)
  }

  @Test(arguments: ["", "exit", "exit in a transaction", "close"])
  func `a program that ends leaves a file that needs no log`(ending: String) throws {
    let worker = try file.hold()
    for number in 1...3 { #expect(try worker.ask("save") == number) }
    // Its snapshot is still open when the program ends.
    #expect(try worker.ask("look") == 3)
    if !ending.isEmpty { worker.send(ending) }
    if ending == "close" { #expect(worker.line() == "closed") }
    if ending != "close" {
      worker.endInput()
      #expect(worker.finish() == 0)
    }
    #expect(try file.copy(withLog: false).wholeCount() == 3)
    #expect(try file.copy(withLog: true).wholeCount() == 3)
  }

  @Test(arguments: ["_exit", "kill"])
  func `a program that is killed leaves a file that is refused without its log, and whole with it`(
    ending: String
  ) throws {
    let worker = try file.hold()
    for number in 1...3 { #expect(try worker.ask("save") == number) }
    if ending == "kill" { worker.end() } else { worker.send(ending) }
    worker.finish()
    try expectRefusal(of: file.copy(withLog: false))
    #expect(try file.copy(withLog: true).wholeCount() == 3)
    // What the message says about a log that is lost for good. The store had no rows before.
    let copy = try file.copy(withLog: false)
    try ToolRun.text(["sqlite3", copy.url.filePath, "PRAGMA user_version = 1"])
    #expect(try copy.wholeCount() == 0)
    // Any program of SQLite's moves the log into the file.
    try ToolRun.text(["sqlite3", file.url.filePath, "SELECT count(*) FROM Ledger"])
    #expect(try file.copy(withLog: false).wholeCount() == 3)
  }

  @Test func `a file is refused without its log while another process goes on writing`() throws {
    let (one, other) = (try file.hold(), try file.hold(from: 100))
    #expect(try one.ask("save") == 1)
    #expect(try other.ask("save") == 1)
    try expectRefusal(of: file.copy(withLog: false))
    one.endInput()
    #expect(one.finish() == 0)
    // All is in the file until the other one writes.
    #expect(try file.copy(withLog: false).wholeCount() == 2)
    #expect(try other.ask("save") == 2)
    try expectRefusal(of: file.copy(withLog: false))
    other.end()
    #expect(try file.copy(withLog: true).wholeCount() == 3)
    try expectRefusal(of: file.copy(withLog: false))
    #expect(try file.wholeCount() == 3)
    #expect(try file.copy(withLog: false).wholeCount() == 3)
  }

  /// The file is marked by two commits. A process that was killed between them left a mark that the next one moved into the
  /// file when it closed the store.
  @Test func `a mark that was left half done does not stay`() throws {
    let worker = try file.hold()
    #expect(try worker.ask("save") == 1)
    // Not the last connection, so that the log stays.
    try ToolRun.text(["sqlite3", file.url.filePath, "PRAGMA user_version = \(0x1_0001)"])
    worker.end()
    #expect(try file.copy(withLog: true).wholeCount() == 1)
    #expect(try file.wholeCount() == 1)
    #expect(try file.copy(withLog: false).wholeCount() == 1)
    let container = try openLedgers(at: file.url)
    try ModelContext(container).save(number: 7)
    let backup = try StoreFile()
    try container.backUp(to: backup.url)
    #expect(try backup.wholeCount() == 2)
  }

  @Test func `a new store without rows is a store without its log, too`() throws {
    let worker = try file.hold()
    #expect(try file.copy(withLog: false).wholeCount() == 0)
    worker.end()
    #expect(try file.copy(withLog: false).wholeCount() == 0)
  }

  @Test func `a store of an earlier version opens without a mark`() throws {
    do { try ModelContext(openLedgers(at: file.url)).save(number: 1) }
    try ToolRun.text(["sqlite3", file.url.filePath, "PRAGMA user_version"])
    let version = try Data(contentsOf: file.url)[60..<64]
    #expect(Array(version) == [0, 0, 0, 1])
    #expect(try file.copy(withLog: false).wholeCount() == 1)
  }

  // MARK: Logs of other files

  /// SQLite removed the log that was left behind, and the program began an empty store.
  @Test(arguments: ["moved", "removed", "emptied"])
  func `no store is begun beside a log whose file is gone`(fate: String) throws {
    let worker = try file.hold()
    for number in 1...3 { #expect(try worker.ask("save") == number) }
    worker.end()
    let away = file.directory.appending(path: "away")
    try FileManager.default.moveItem(at: file.url, to: away)
    if fate == "emptied" { try Data().write(to: file.url) }
    let log = try Data(contentsOf: URL(filePath: file.url.filePath + "-wal"))
    for allowsSave in [true, false] {
      #expect(file.refusal(allowsSave: allowsSave).contains("is missing, but its log"))
    }
    #expect(try Data(contentsOf: URL(filePath: file.url.filePath + "-wal")) == log)
    if fate == "emptied" { try FileManager.default.removeItem(at: file.url) }
    if fate == "removed" {
      for suffix in ["-wal", "-shm"] {
        try FileManager.default.removeItem(atPath: file.url.filePath + suffix)
      }
      #expect(try file.wholeCount() == 0)
    } else {
      try FileManager.default.moveItem(at: away, to: file.url)
      #expect(try file.wholeCount() == 3)
    }
  }

  /// The error said that the disk had failed.
  @Test(arguments: ["removed", "moved"], [1, 40])
  func `a log that went while a program has the store open is named, and loses nothing`(
    fate: String, saves: Int
  ) throws {
    let worker = try file.hold()
    for number in 1...saves { #expect(try worker.ask("save") == number) }
    let (log, away) = (file.url.filePath + "-wal", file.directory.appending(path: "away").filePath)
    try FileManager.default.moveItem(atPath: log, toPath: away)
    let before = try Data(contentsOf: file.url)
    for allowsSave in [true, false, true] {
      #expect(file.refusal(allowsSave: allowsSave).contains("test.store-wal, was removed"))
    }
    #expect(try Data(contentsOf: file.url) == before)
    // What the message says.
    if fate == "moved" {
      try? FileManager.default.removeItem(atPath: log)
      try FileManager.default.moveItem(atPath: away, toPath: log)
      #expect(try file.wholeCount() == saves)
    }
    #expect(try worker.ask("save") == saves + 1)
    worker.endInput()
    #expect(worker.finish() == 0)
    #expect(try file.wholeCount() == saves + 1)
    #expect(try file.copy(withLog: false).wholeCount() == saves + 1)
  }

  /// The next save was written behind what was gone, and the end of the program moved zeros over the whole file.
  @Test(arguments: [0, 31, 33, 5_000, -1])
  func `a log that is damaged in place costs what it alone had`(length: off_t) throws {
    do {
      let context = ModelContext(try openLedgers(at: file.url))
      for number in 1...3 { try context.save(number: number) }
    }
    do {
      let container = try openLedgers(at: file.url)
      try ModelContext(container).save(number: 4)
      let log = URL(filePath: file.url.filePath + "-wal")
      if length >= 0 {
        #expect(truncate(log.filePath, length) == 0)
      } else {
        let handle = try FileHandle(forWritingTo: log)
        try handle.write(contentsOf: Data(count: 32))
        try handle.close()
      }
      for number in 5...6 {
        #expect(throws: SwiftDataError.self) { try ModelContext(container).save(number: number) }
      }
    }
    let copy = try file.copy(withLog: false)
    try ToolRun.text(["sqlite3", copy.url.filePath, "PRAGMA user_version = 1"])
    #expect(try copy.wholeCount() == 3)
  }

  /// SQLite takes such a log for an empty one, and the store opened without the saves that only it had.
  @Test(arguments: [1, 31, 32, 33, 5_000, -32, -4_000])
  func `a log that was damaged after a kill is refused, and kept`(length: off_t) throws {
    let worker = try file.hold()
    for number in 1...3 { #expect(try worker.ask("save") == number) }
    worker.end()
    worker.finish()
    let whole = try file.copy(withLog: true)
    if length >= 0 {
      #expect(truncate(file.logURL.filePath, length) == 0)
    } else {
      let handle = try FileHandle(forWritingTo: file.logURL)
      try handle.write(contentsOf: Data(count: Int(-length)))
      try handle.close()
    }
    let (before, log) = (try Data(contentsOf: file.url), try Data(contentsOf: file.logURL))
    for allowsSave in [true, false] {
      let message = file.refusal(allowsSave: allowsSave)
      #expect(
        message.contains("test.store-wal, which has saves that the file does not have, is damaged"))
    }
    #expect(try Data(contentsOf: file.url) == before)
    #expect(try Data(contentsOf: file.logURL) == log)
    #expect(try whole.wholeCount() == 3)
    // What the message says about a log that is lost for good.
    try ToolRun.text(["sqlite3", file.url.filePath, "PRAGMA user_version = 1"])
    #expect(try file.wholeCount() == 0)
  }

  /// A process that is killed as it begins the log again leaves no whole transaction in it, and frames of before.
  @Test func `a log that was being begun again is none that was damaged`() throws {
    let worker = try file.hold()
    for number in 1...3 { #expect(try worker.ask("save") == number) }
    worker.end()
    worker.finish()
    // The mark's first commit, with a checkpoint that leaves the log.
    let tool = try SQLiteConnection(SQLiteOptions(.file(file.url.filePath)))
    try tool.execute("PRAGMA user_version = \(0x1_0001)")
    _ = try tool.checkpoint(.full, busyTimeout: 0)
    tool.keepLog()
    let copy = try file.copy(withLog: true)
    let log = try FileHandle(forUpdating: copy.logURL)
    let old = try #require(try log.read(upToCount: 32))
    var header = [UInt8](old)
    // The header of the next beginning: one more checkpoint, the next salt, and the sums of both.
    header[15] &+= 1
    header[19] &+= 1
    let sums = Self.sums(of: Array(header[..<24]), isBigEndian: header[3] & 1 == 1)
    header.replaceSubrange(24..<32, with: sums)
    try log.seek(toOffset: 0)
    try log.write(contentsOf: Data(header))
    try log.close()
    #expect(try copy.wholeCount() == 3)
  }

  /// The checksum of a log's header, as it is stored.
  private static func sums(of bytes: [UInt8], isBigEndian: Bool) -> [UInt8] {
    var (first, second): (UInt32, UInt32) = (0, 0)
    for offset in stride(from: 0, to: bytes.count, by: 8) {
      func word(_ start: Int) -> UInt32 {
        let word = bytes[start..<(start + 4)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return isBigEndian ? word : word.byteSwapped
      }
      first = first &+ word(offset) &+ second
      second = second &+ word(offset + 4) &+ first
    }
    return [first, second].flatMap { sum in
      (0..<4).map { UInt8(truncatingIfNeeded: sum >> (24 - 8 * $0)) }
    }
  }

  /// Saves went to the log of a file that nobody could read any more, and said that they were kept.
  @Test(arguments: [0, 100, 4_096, 20_000])
  func `a file that is cut short under a program takes no more saves`(length: off_t) throws {
    do {
      let context = ModelContext(try openLedgers(at: file.url))
      for number in 1...3 { try context.save(number: number, bytes: 4_000) }
    }
    do {
      let container = try openLedgers(at: file.url)
      let context = ModelContext(container)
      // The first save of a program reads more of the file than the later ones.
      try context.save(number: 4)
      #expect(truncate(file.url.filePath, length) == 0)
      for number in 5...6 {
        #expect(throws: SwiftDataError.self) { try context.save(number: number) }
      }
    }
    #expect(!file.refusal().isEmpty)
  }

  /// A program that is killed within a checkpoint leaves a file with the header of a longer one, and a log with the rest.
  @Test func `a file that a checkpoint was to lengthen opens with its log`() throws {
    let worker = try file.hold()
    for number in 1...300 { #expect(try worker.ask("save") == number) }
    worker.end()
    worker.finish()
    let moved = try file.copy(withLog: true)
    try ToolRun.text(["sqlite3", moved.url.filePath, "PRAGMA wal_checkpoint(TRUNCATE)"])
    let (short, long) = (try Data(contentsOf: file.url).count, try Data(contentsOf: moved.url))
    try #require(short < long.count)
    for length in [short, short + 5_000, short + (long.count - short) / 2] {
      let torn = try file.copy(withLog: true)
      try long.prefix(length).write(to: torn.url)
      #expect(try torn.wholeCount() == 300)
      let alone = try file.copy(withLog: false)
      try long.prefix(length).write(to: alone.url)
      #expect(alone.refusal().contains("is truncated"))
    }
    // The log of a later moment lacks what it had before.
    let cut = try file.copy(withLog: true)
    try long.prefix(4_096).write(to: cut.url)
    let (before, log) = (try Data(contentsOf: cut.url), try Data(contentsOf: cut.logURL))
    #expect(cut.refusal().contains("was cut short, and lacks pages"))
    #expect(try Data(contentsOf: cut.url) == before)
    #expect(try Data(contentsOf: cut.logURL) == log)
  }

  /// SQLite applied the log of today to the file of yesterday, which mixed pages of both: with enough saves the store was
  /// damaged, and said so only later.
  @Test(arguments: [1, 40, 300])
  func `a file that was put back is refused beside the log of the file before`(saves: Int) throws {
    var worker = try file.hold()
    for number in 1...3 { #expect(try worker.ask("save") == number) }
    worker.endInput()
    #expect(worker.finish() == 0)
    let yesterday = try file.copy(withLog: false)
    worker = try file.hold(from: 100)
    for number in 1...saves { #expect(try worker.ask("save") == number) }
    worker.end()
    let today = try file.copy(withLog: true)
    #expect(try today.wholeCount() == 3 + saves)

    try file.take(from: yesterday, "")
    let before = try Data(contentsOf: file.url)
    for allowsSave in [true, false] {
      #expect(file.refusal(allowsSave: allowsSave).contains("don't belong together"))
    }
    #expect(try Data(contentsOf: file.url) == before)
    // What the message says.
    for suffix in ["-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: file.url.filePath + suffix)
    }
    #expect(try file.wholeCount() == 3)
  }

  /// SQLite applied it, which took the last saves back, or damaged the file for good.
  @Test(arguments: [(0, 3, 100), (3, 30, 3), (30, 1, 150), (40, 30, 10), (3, 1, 1)])
  func `a log of before its file's last saves is refused`(
    saves: (before: Int, copied: Int, after: Int)
  ) throws {
    let log = file.url.filePath + "-wal"
    var worker = try file.hold()
    for _ in 0..<saves.before { _ = try worker.ask("save") }
    worker.endInput()
    #expect(worker.finish() == 0)
    worker = try file.hold(from: 1000)
    for _ in 0..<saves.copied { _ = try worker.ask("save") }
    let earlier = try Data(contentsOf: URL(filePath: log))
    for _ in 0..<saves.after { _ = try worker.ask("save") }
    worker.endInput()
    #expect(worker.finish() == 0)
    let whole = try Data(contentsOf: file.url)

    try earlier.write(to: URL(filePath: log))
    for allowsSave in [true, false] {
      #expect(file.refusal(allowsSave: allowsSave).contains("don't belong together"))
    }
    #expect(try Data(contentsOf: file.url) == whole)
    #expect(try Data(contentsOf: URL(filePath: log)) == earlier)
    // What the message says.
    for suffix in ["-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: file.url.filePath + suffix)
    }
    #expect(try file.wholeCount() == saves.before + saves.copied + saves.after)
  }

  /// A copy that SQLite makes has the names that the log has. `VACUUM INTO` puts rows on other pages, so that the store
  /// opened with rows of two states mixed; a copy by `.backup` opened as the state of the log.
  @Test(
    arguments: ["VACUUM INTO 'COPY'", ".backup COPY"],
    [(0, false, 1), (3, false, 1), (3, false, 100), (0, true, 1), (3, true, 1), (3, true, 100)])
  func `a copy that SQLite's tools made is refused beside the log, and opens without it`(
    tool: String, saves: (before: Int, changesTables: Bool, after: Int)
  ) throws {
    let (savesBefore, changesTables, savesAfter) = saves
    var worker = try file.hold()
    for _ in 0..<savesBefore { _ = try worker.ask("save") }
    if changesTables {
      try ToolRun.text(["sqlite3", file.url.filePath, "CREATE INDEX other ON Ledger(number)"])
      // The next program prepares the tables again.
      try file.hold(from: 100).end()
    }
    let copy = try StoreFile()
    let command = tool.replacingOccurrences(of: "COPY", with: copy.url.filePath)
    try ToolRun.text(["sqlite3", file.url.filePath, command])
    for _ in 0..<savesAfter { _ = try worker.ask("save") }
    worker.end()
    worker.finish()
    #expect(try file.copy(withLog: true).wholeCount() == savesBefore + savesAfter)

    try file.take(from: copy, "")
    let before = try Data(contentsOf: file.url)
    for allowsSave in [true, false] {
      #expect(file.refusal(allowsSave: allowsSave).contains("don't belong together"))
    }
    #expect(try Data(contentsOf: file.url) == before)
    // What the message says. The copy is the store from then on, and its next log belongs to it at every moment.
    for suffix in ["-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: file.url.filePath + suffix)
    }
    for saves in 0..<3 {
      worker = try file.hold(from: 1000 * (saves + 1))
      for _ in 0..<saves { _ = try worker.ask("save") }
      worker.end()
      worker.finish()
      #expect(try file.copy(withLog: true).wholeCount() == savesBefore + (0...saves).reduce(0, +))
    }
  }

  @Test func `the log of another store is refused, and the file has its rows without it`() throws {
    let other = try StoreFile()
    for number in 0..<20 { try ModelContext(openLedgers(at: file.url)).save(number: number) }
    let worker = try WorkerProcess([
      WorkerProcess.program("StoreWorker"), other.url.filePath, "hold", "1000",
    ])
    try #require(worker.line() == "ready")
    for number in 1...3 { #expect(try worker.ask("save") == number) }
    worker.end()
    let mixed = try file.copy(withLog: false)
    try mixed.take(from: other, "-wal")
    #expect(mixed.refusal().contains("don't belong together"))
    for suffix in ["-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: mixed.url.filePath + suffix)
    }
    #expect(try mixed.wholeCount() == 20)
    #expect(try other.wholeCount() == 3)
  }

  // MARK: Random sequences

  /// Whatever containers, fetches, saves and other programs do to a store: its file alone is whole, or is refused.
  @Test(arguments: 0..<Effort.times(3, long: 50))
  func `a copy of the file alone has all saves, or is refused`(seed: Int) async throws {
    var random = SplitMix(seed: UInt64(seed))
    var containers: [ModelContainer?] = [nil, nil]
    var expected = 0
    var refusals = 0
    var log: [String] = []
    var older: StoreFile?
    for step in 0..<12 {
      let place = Int.random(in: 0..<containers.count, using: &random)
      let choice = Int.random(in: 0..<10, using: &random)
      log.append("\(choice) in \(place)")
      if choice < 2 {
        containers[place] = nil
      } else if choice == 9 {
        if step > 0, FileManager.default.fileExists(atPath: file.url.filePath) {
          try ToolRun.text(["sqlite3", file.url.filePath, "SELECT count(*) FROM Ledger"])
        }
      } else {
        let container = try containers[place] ?? openLedgers(at: file.url)
        containers[place] = container
        let context = ModelContext(container)
        switch choice {
        // The snapshot of a fetch may still be open when the next save marks the file.
        case 2, 3: #expect(try context.fetchCount(FetchDescriptor<Ledger>()) == expected)
        case 4: _ = try container.compact()
        // More than SQLite keeps in the log: it moves it into the file on its own.
        case 5:
          for number in 0..<10 { context.insert(number: expected + number, bytes: 450_000) }
          try context.save()
          expected += 10
        default:
          try context.save(number: expected)
          expected += 1
        }
      }
      guard FileManager.default.fileExists(atPath: file.url.filePath) else { continue }
      let comment = Comment(rawValue: log.joined(separator: ", "))
      do {
        #expect(try file.copy(withLog: false).wholeCount() == expected, comment)
      } catch let error as SwiftDataError {
        #expect(error.message.contains("lacks its log"), comment)
        #expect(containers.contains { $0 != nil }, comment)
        refusals += 1
      }
      #expect(try file.copy(withLog: true).wholeCount() == expected, comment)
      // A reader may keep the mark from the file, and then the log has the name of the one before.
      let mayBeUnnamed = log.contains { $0.hasPrefix("2 ") || $0.hasPrefix("3 ") }
      let isMarked = try Data(contentsOf: file.copy(withLog: false).url)[61] & 1 == 1
      if let older, file.hasLog, isMarked, !mayBeUnnamed {
        // A file of before, with the log of now.
        let mixed = try older.copy(withLog: false)
        try mixed.take(from: file, "-wal")
        do {
          #expect(try mixed.wholeCount() == expected, comment)
          #expect(try openLedgers(at: mixed.url).check().isSound, comment)
        } catch let error as SwiftDataError {
          #expect(error.message.contains("don't belong together"), comment)
        }
      }
      if older == nil || Int.random(in: 0..<3, using: &random) == 0 {
        older = try file.copy(withLog: false)
      }
      await Task.yield()
    }
    containers = []
    #expect(try file.copy(withLog: false).wholeCount() == expected)
    #expect(refusals > 0)
  }
}

extension ModelContext {
  fileprivate func insert(number: Int, bytes: Int = 4) {
    let writer = String(repeating: "w", count: bytes)
    insert(Ledger(number: number, writer: writer, amounts: [number, 2, 3]))
  }

  fileprivate func save(number: Int, bytes: Int = 4) throws {
    insert(number: number, bytes: bytes)
    try save()
  }
}
