import WorkerModels

/// The file of an open store was replaced or moved away, and its log stayed. SQLite keeps a log for whatever file is at the
/// path: when the program ended, it moved the log of the new file into the old one, and a second program, which had
/// saved to the new file, lost all its saves without an error.
@Suite("A program whose store's file was replaced", .needs(.program("cp")))
struct DisplacedStoreTests {
  enum Fate: CaseIterable { case moved, replaced }

  enum Ending: String, CaseIterable {
    case close, exit, kill
    case endOfInput = "the end of its input"
    case transaction = "exit in a transaction"

    /// Whether this is a command that is begun before the file is replaced.
    var isBegunBefore: Bool { self == .transaction }
  }

  private let file: StoreFile
  private let away: URL
  /// The file as it was before the program was started.
  private let backup: StoreFile

  /// Makes a store with two groups.
  init() throws {
    file = try StoreFile()
    away = file.directory.appending(path: "away")
    let worker = try file.hold()
    for number in 1...2 { try #require(worker.ask("save") == number) }
    worker.endInput()
    try #require(worker.finish() == 0)
    backup = try file.copy(withLog: false)
  }

  private func displace(_ fate: Fate) throws {
    try FileManager.default.moveItem(at: file.url, to: away)
    if fate == .replaced { try file.take(from: backup, "") }
  }

  private func end(_ worker: WorkerProcess, by ending: Ending) throws {
    switch ending {
    case .close:
      worker.send("close")
      try #require(worker.line() == "closed")
    case .exit:
      worker.send("exit")
      try #require(worker.finish() == 0)
    case .kill:
      worker.end()
      worker.finish()
    case .endOfInput, .transaction:
      worker.endInput()
      try #require(worker.finish() == 0)
    }
  }

  // While a transaction is open, nobody else saves.
  @Test(arguments: Fate.allCases, Ending.allCases.filter { !$0.isBegunBefore })
  func `takes no saves of another program along when it ends`(fate: Fate, ending: Ending) throws {
    let worker = try file.hold(from: 100)
    #expect(try worker.ask("look") == 2)
    #expect(!file.hasLog)
    try displace(fate)
    let other = try file.hold(from: 200)
    for number in 1...3 { #expect(try other.ask("save") == number) }
    try end(worker, by: ending)
    for number in 4...5 { #expect(try other.ask("save") == number) }
    let expected = fate == .replaced ? 7 : 5
    #expect(try other.ask("look") == expected)
    other.endInput()
    #expect(other.finish() == 0)
    #expect(try file.wholeCount() == expected)
    #expect(try openLedgers(at: file.url).check().isSound)
  }

  @Test(arguments: Fate.allCases)
  func `takes no saves of another container along when its own is released`(fate: Fate) throws {
    var container: ModelContainer? = try openLedgers(at: file.url)
    try displace(fate)
    do {
      let other = ModelContext(try openLedgers(at: file.url))
      for number in 10..<13 {
        other.insert(Ledger(number: number, writer: "other", amounts: [number]))
        try other.save()
        if number == 11 { container = nil }
      }
      #expect(container == nil)
    }
    #expect(try file.wholeCount() == (fate == .replaced ? 5 : 3))
  }

  @Test(arguments: Fate.allCases, Ending.allCases)
  func `leaves its own log for its file when it ends`(fate: Fate, ending: Ending) throws {
    let worker = try file.hold(from: 100)
    for number in 1...3 { #expect(try worker.ask("save") == number) }
    if ending.isBegunBefore {
      worker.send(ending.rawValue)
      #expect(worker.line() == "begun")
    }
    try displace(fate)
    try end(worker, by: ending)
    let left = try? Data(contentsOf: file.url)
    #expect(try left == (fate == .replaced ? Data(contentsOf: backup.url) : nil))
    if fate == .replaced { try FileManager.default.removeItem(at: file.url) }
    try FileManager.default.moveItem(at: away, to: file.url)
    #expect(try file.wholeCount() == 5)
  }
}
