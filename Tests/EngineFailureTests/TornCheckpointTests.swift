import WorkerModels

/// A loss of power during a checkpoint keeps some of its pages and not others; SQLite recovers from the log. A store whose file
/// had kept the page with the log's name, and not the first one, was refused as a copy by another program.
@Suite("A torn checkpoint", .needs(.program("cp"), .program("sqlite3")))
struct TornCheckpointTests {
  private enum Step: CaseIterable { case save, tables, checkpoint, ending }

  private let file: StoreFile
  private var random: SplitMix
  private var worker: WorkerProcess
  private var saves = 0
  private var log: [String] = []

  init() throws {
    file = try StoreFile()
    random = SplitMix(seed: 0)
    worker = try file.hold()
  }

  private mutating func run(_ count: Int) throws {
    for _ in 0..<count {
      let step = Step.allCases.randomElement(using: &random) ?? .save
      log.append("\(step)")
      switch step {
      case .save:
        _ = try worker.ask("save")
        saves += 1
      case .tables:
        // The next container prepares the tables again.
        try tool("CREATE INDEX other\(log.count) ON Ledger(number)")
        try file.hold().end()
      case .checkpoint: try tool("PRAGMA wal_checkpoint")
      case .ending:
        let next = try file.hold(from: 1000 * log.count)
        worker.endInput()
        try #require(worker.finish() == 0)
        worker = next
      }
    }
  }

  private mutating func save(_ count: Int) throws {
    for _ in 0..<count { _ = try worker.ask("save") }
    saves += count
  }

  private func tool(_ sql: String) throws {
    try ToolRun.text(["sqlite3", file.url.filePath, sql])
  }

  @Test(arguments: 0..<Effort.times(4, long: 200))
  mutating func `leaves a store that opens with everything`(seed: Int) throws {
    random = SplitMix(seed: UInt64(seed))
    try run(Int.random(in: 0...4, using: &random))
    let reader = try WorkerProcess(["sqlite3", file.url.filePath])
    reader.send("BEGIN; SELECT count(*) FROM Ledger;")
    #expect(reader.line() == "\(saves)")
    log.append("reader")
    // From here on, no checkpoint moves into the file what the reader does not have.
    let before = try Data(contentsOf: file.copy(withLog: false).url)
    try run(Int.random(in: 1...4, using: &random))
    let frames = try LogFrames(Data(contentsOf: file.copy(withLog: true).logURL))
    for _ in 0..<6 {
      let torn = try StoreFile()
      var pages = before
      // The first may be of a checkpoint that had not come further when a reader kept it from going on.
      for commit in [frames.commits.randomElement(using: &random), frames.commits.last] {
        guard let commit else { continue }
        frames.write(frames.pages(of: commit, using: &random), to: &pages)
      }
      try pages.write(to: torn.url)
      try torn.take(from: file, "-wal")
      #expect(try torn.wholeCount() == saves, "\(seed): \(log)")
      #expect(try openLedgers(at: torn.url).check().isSound, "\(seed): \(log)")
    }
  }

  /// The history's table has many pages, and `VACUUM` gives all of them other places: in a file to which a checkpoint has
  /// moved some of the pages, its tree leads to pages of other tables. Their numbers were taken for those of commits, and
  /// the log for an earlier one.
  @Test(arguments: 0..<Effort.times(3, long: 60))
  mutating func `of a store with a long history leaves one that opens with everything`(
    seed: Int
  ) throws {
    random = SplitMix(seed: UInt64(seed))
    try save(150 + Int.random(in: 0...50, using: &random))
    try tool("PRAGMA wal_checkpoint(TRUNCATE)")
    let reader = try WorkerProcess(["sqlite3", file.url.filePath])
    reader.send("BEGIN; SELECT count(*) FROM Ledger;")
    #expect(reader.line() == "\(saves)")
    let before = try Data(contentsOf: file.copy(withLog: false).url)
    try save(Int.random(in: 0...40, using: &random))
    try tool("VACUUM")
    try save(Int.random(in: 0...3, using: &random))
    let frames = try LogFrames(Data(contentsOf: file.copy(withLog: true).logURL))
    for _ in 0..<20 {
      let torn = try StoreFile()
      var pages = before
      if let last = frames.commits.last {
        frames.write(frames.pages(of: last, using: &random), to: &pages)
      }
      try pages.write(to: torn.url)
      try torn.take(from: file, "-wal")
      #expect(try torn.wholeCount() == saves, "\(seed)")
    }
  }
}

/// The commits of a log, whose format is in <https://sqlite.org/fileformat.html>.
private struct LogFrames {
  private let log: Data
  private let pageSize: Int
  /// How many frames the log has after each commit.
  private(set) var commits: [Int] = []

  init(_ data: Data) {
    log = data
    guard data.count > 32 else {
      pageSize = 0
      return
    }
    pageSize = Self.number(data, at: 8)
    var frame = 0
    // Frames from before the log was begun again have other salts.
    while let start = Optional(32 + frame * (24 + pageSize)), start + 24 + pageSize <= data.count,
      data[start + 8..<start + 16] == data[16..<24]
    {
      frame += 1
      if Self.number(data, at: start + 4) > 0 { commits.append(frame) }
    }
  }

  private static func number(_ data: Data, at place: Int) -> Int {
    data[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
  }

  /// The frames of the pages that reach the disk of a checkpoint of the first frames, in order of their pages.
  func pages(of count: Int, using random: inout SplitMix) -> [Int] {
    var newest: [Int: Int] = [:]
    for frame in 0..<count { newest[Self.number(log, at: start(of: frame))] = frame }
    let all = newest.sorted { $0.key < $1.key }.map(\.value)
    switch Int.random(in: 0..<4, using: &random) {
    case 0: return Array(all.prefix(Int.random(in: 0...all.count, using: &random)))
    case 1: return Array(all.dropFirst())
    case 2: return [all.randomElement(using: &random) ?? 0]
    default: return all.filter { _ in Bool.random(using: &random) }
    }
  }

  func write(_ frames: [Int], to file: inout Data) {
    for frame in frames {
      let start = start(of: frame)
      let place = (Self.number(log, at: start) - 1) * pageSize
      if file.count < place + pageSize { file.count = place + pageSize }
      file[place..<place + pageSize] = log[start + 24..<start + 24 + pageSize]
    }
  }

  private func start(of frame: Int) -> Int { 32 + frame * (24 + pageSize) }
}
