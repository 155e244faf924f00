import Foundation
import SteadRecords
import SteadSQLite
import SwiftData
import Synchronization
import Testing

@testable import SteadTransfer

/// Files that are damaged, of others, or being written, and the original that stays as it is.
@Suite struct CoreDataSafetyTests {
  private func error(
    importing fixture: CoreDataFixture, _ container: ModelContainer? = nil
  ) throws -> TransferError {
    let container = try container ?? memoryContainer(Pets.User.self)
    let before = try fixture.state()
    let error = try transferError { try fixture.importing(to: container).run() }
    #expect(try fixture.state() == before)
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Pets.User>()) == 0)
    return error
  }

  private func users(_ statements: String, _ parent: Int = 0) throws -> CoreDataFixture {
    try CoreDataFixture(
      entities: [.init(1, "User", under: parent), .init(2, "Guest", under: 1)],
      """
      CREATE TABLE ZUSER (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR,
        ZPETNAME VARCHAR);
      INSERT INTO ZUSER VALUES (1, 1, 1, 'Ada', 'Rex');
      \(statements)
      """)
  }

  private func names(_ container: ModelContainer) throws -> [String] {
    try ModelContext(container).fetch(FetchDescriptor<Pets.User>()).map(\.name).sorted()
  }

  // MARK: Logs and journals

  /// Starts `sqlite3` on the store, has it run statements, and kills it.
  private func kill(_ fixture: CoreDataFixture, after statements: String) throws {
    let writer = try WorkerProcess(["sqlite3", "-bail", fixture.store.filePath])
    #expect(writer.tell(statements + "\nSELECT 'done';"))
    while let line = writer.line(), line != "done" {}
    #expect(writer.isRunning)
    writer.end()
  }

  @Test func `a log that was never checkpointed counts`() throws {
    let fixture = try users("")
    try kill(fixture, after: "INSERT INTO ZUSER VALUES (2, 1, 1, 'Logged', NULL);")
    // The row is in the log alone.
    let alone = try TemporaryDirectory()
    try FileManager.default.copyItem(at: fixture.store, to: alone.file("alone"))
    let seen = try ToolRun.text(
      ["sqlite3", alone.file("alone").filePath, "SELECT count(*) FROM ZUSER"])
    #expect(seen == "1")

    let before = try fixture.state()
    #expect(before.keys.contains("built.sqlite-wal"))
    let container = try memoryContainer(Pets.User.self)
    try fixture.importing(to: container).run()
    #expect(try names(container) == ["Ada", "Logged"])
    #expect(try fixture.state() == before)
  }

  @Test func `a writer that was cut off leaves nothing of its transaction`() throws {
    let fixture = try users(
      """
      PRAGMA journal_mode = DELETE;
      INSERT INTO ZUSER SELECT value, 1, 1, 'old', hex(zeroblob(500))
        FROM generate_series(10, 400);
      """)
    // A cache of few pages, so that the file is written to before the end.
    try kill(
      fixture,
      after:
        "PRAGMA cache_size = 5; BEGIN IMMEDIATE; UPDATE ZUSER SET ZNAME = 'half' WHERE Z_PK > 9;")
    let before = try fixture.state()
    #expect(before.keys.contains("built.sqlite-journal"))
    let raw = try Data(contentsOf: fixture.store)
    #expect(raw.range(of: Data("half".utf8)) != nil)
    let container = try memoryContainer(Pets.User.self)
    try fixture.importing(to: container).run()
    #expect(try Set(names(container)) == ["Ada", "old"])
    #expect(try names(container).count == 392)
    #expect(try fixture.state() == before)
  }

  @Test func `a store that is reached by a link is read with its log`() throws {
    let fixture = try users("")
    try kill(fixture, after: "INSERT INTO ZUSER VALUES (2, 1, 1, 'Logged', NULL);")
    let elsewhere = try TemporaryDirectory()
    let link = elsewhere.file("link.store")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: fixture.store)
    let container = try memoryContainer(Pets.User.self)
    try CoreDataImport(from: link, to: container).run()
    #expect(try names(container) == ["Ada", "Logged"])
    #expect(try elsewhere.names == ["link.store"])
  }

  /// Each transaction gives all rows another name, so a copy of a moment in between would have two.
  @Test(arguments: ["DELETE", "WAL"])
  func `a store that is being written is read as it was at a moment`(_ journal: String) throws {
    let (rows, rounds) = (2_000, 60)
    let fixture = try users(
      """
      PRAGMA journal_mode = \(journal);
      DELETE FROM ZUSER;
      INSERT INTO ZUSER SELECT value, 1, 1, '0000', hex(zeroblob(700))
        FROM generate_series(1, \(rows));
      """)
    let script = fixture.directory.file("script")
    let updates = (1...rounds).map { String(format: "UPDATE ZUSER SET ZNAME = '%04d';", $0) }
    let text = "PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 100;\n"
    try (text + updates.joined(separator: "\n"))
      .write(to: script, atomically: true, encoding: .utf8)
    let source = try CoreDataSource(fixture.store, schema: Schema(Pets.User.self))
    func names() throws -> Set<SQLValue> {
      Set(try source.read { _ in }.compactMap { try $0.value.get().attributes["name"] })
    }
    let writer = try WorkerProcess(["sqlite3", "-bail", fixture.store.filePath])
    #expect(writer.tell(".read \(script.filePath)\nSELECT 'done';"))
    while !writer.linesAtHand().contains("done") {
      do {
        #expect(try names().count == 1)
      } catch let error as TransferError {
        #expect(error.code == .changed)
      }
    }
    writer.end()
    #expect(try names() == [.text(String(format: "%04d", rounds))])
  }

  // MARK: Files that are no stores

  @Test func `what is no store is refused`() throws {
    let fixture = try users("")
    try Data("This is a text, and quite a long one at that.".utf8).write(to: fixture.store)
    try? FileManager.default.removeItem(atPath: fixture.store.filePath + "-wal")
    #expect(try error(importing: fixture).code == .unreadable)
    try Data().write(to: fixture.store)
    #expect(try error(importing: fixture).code == .unreadable)
    try FileManager.default.removeItem(at: fixture.store)
    #expect(try error(importing: fixture).code == .unreadable)
    #expect(mkfifo(fixture.store.filePath, 0o600) == 0)
    let fifo = try transferError {
      try fixture.importing(to: memoryContainer(Pets.User.self)).run()
    }
    #expect(fifo.code == .unreadable)
    try FileManager.default.removeItem(at: fixture.store)
    try FileManager.default.createDirectory(
      at: fixture.store, withIntermediateDirectories: false)
    #expect(try error(importing: fixture).code == .unreadable)
  }

  @Test func `another program's database is refused`() throws {
    let fixture = try users("DROP TABLE Z_METADATA;")
    #expect(try error(importing: fixture).code == .unreadable)
  }

  @Test(arguments: [
    ("UPDATE Z_METADATA SET Z_VERSION = 2;", TransferError.Code.unsupported),
    ("DELETE FROM Z_METADATA;", .unreadable),
    ("UPDATE Z_PRIMARYKEY SET Z_SUPER = 2 WHERE Z_ENT = 1;", .unreadable),
    ("UPDATE Z_PRIMARYKEY SET Z_SUPER = 1 WHERE Z_ENT = 1;", .unreadable),
    ("UPDATE Z_PRIMARYKEY SET Z_SUPER = 9 WHERE Z_ENT = 1;", .unreadable),
    ("UPDATE Z_PRIMARYKEY SET Z_NAME = NULL;", .unreadable),
    ("ALTER TABLE ZUSER RENAME COLUMN Z_ENT TO Z_X;", .unreadable),
    ("UPDATE Z_PRIMARYKEY SET Z_MAX = 1; DROP TABLE ZUSER;", .unreadable),
    ("ALTER TABLE ZUSER ADD COLUMN Z_RANK INTEGER DEFAULT 4;", .unsupported),
    ("CREATE TABLE ZUSER1 AS SELECT * FROM ZUSER;", .unsupported),
    ("CREATE TABLE Z_1PETS (A INTEGER); INSERT INTO Z_1PETS VALUES (1);", .unsupported),
    (
      """
      WITH RECURSIVE n(i) AS (SELECT 3 UNION ALL SELECT i + 1 FROM n WHERE i < 150)
        INSERT INTO Z_PRIMARYKEY SELECT i, 'E' || i, i - 1, 0 FROM n;
      """, .unreadable
    ),
    ("UPDATE ZUSER SET Z_ENT = 77;", .notConverted),
    ("UPDATE ZUSER SET Z_ENT = NULL;", .notConverted),
    ("UPDATE ZUSER SET Z_ENT = 'User';", .notConverted),
    ("UPDATE ZUSER SET Z_ENT = 2;", .notConverted),
  ])
  func `a store that contradicts itself is refused`(
    _ statements: String, _ code: TransferError.Code
  ) throws {
    #expect(try error(importing: users(statements)).code == code)
  }

  @Test func `a table that is a view is not read`() throws {
    let fixture = try users(
      "ALTER TABLE ZUSER RENAME TO HIDDEN; CREATE VIEW ZUSER AS SELECT * FROM HIDDEN;")
    let container = try memoryContainer(Pets.User.self)
    let report = try fixture.importing(to: container).run()
    #expect(report.transfer.moved == 0 && report.skippedTables == ["HIDDEN": 1])
  }

  @Test func `rows with one number are not taken for one`() throws {
    let fixture = try users(
      """
      ALTER TABLE ZUSER RENAME TO OLD;
      CREATE TABLE ZUSER (Z_PK, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR, ZPETNAME VARCHAR);
      INSERT INTO ZUSER VALUES (5, 1, 1, 'one', NULL), (5, 1, 1, 'two', NULL), (NULL, 1, 1, 'x', '');
      """)
    let error = try error(importing: fixture)
    #expect(error.code == .notConverted && error.failures.count >= 2)
  }

  /// Every damage ends in an error, or in rows that could be read; never in a crash.
  @Test(arguments: [("SampleModel3_V1", 12, 50), ("SampleModel2_V2", 126, 30)])
  func `damaged files are refused or read`(_ name: String, _ rows: Int, _ rounds: Int) throws {
    var random = SplitMix(seed: 20_011)
    let real = try CoreDataFixture(real: name)
    let whole = try Data(contentsOf: real.store)
    var refused = 0
    for round in 0..<Effort.times(rounds) {
      var bytes = whole
      if round.isMultiple(of: 4) {
        bytes = bytes.prefix(Int.random(in: 0..<bytes.count, using: &random))
      }
      for _ in 0..<Int.random(in: 1...40, using: &random) where !bytes.isEmpty {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        bytes[place] = .random(in: 0...255, using: &random)
      }
      try bytes.write(to: real.store)
      let container = try memoryContainer(
        Pets.User.self, Library.Author.self, Library.GraphicNovel.self, Library.Page.self,
        Library.Feedback.self)
      do {
        let moved = try real.importing(to: container).run().transfer.moved
        #expect(moved <= rows)
      } catch is TransferError {
        refused += 1
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Library.Page>()) == 0)
      }
      #expect(try Data(contentsOf: real.store) == bytes)
      #expect(try real.directory.names == ["\(name).sqlite"])
    }
    #expect(refused > Effort.times(rounds) / 4)
  }

  @Test func `no copy is left behind`() throws {
    let place = FileManager.default.temporaryDirectory.filePath
    func copies() throws -> Set<String> {
      Set(try FileManager.default.contentsOfDirectory(atPath: place)).filter {
        $0.hasPrefix("stead-import-")
      }
    }
    let fixture = try users("")
    let source = try CoreDataSource(fixture.store, schema: Schema(Pets.User.self))
    var during: Set<String> = []
    let before = try copies()
    let items = try source.read { _ in during = try copies() }
    #expect(items.count == 1)
    let own = during.subtracting(before)
    #expect(!own.isEmpty)
    // Other tests make and remove copies of theirs meanwhile.
    let gone = own.filter { !FileManager.default.fileExists(atPath: place + "/" + $0) }
    #expect(!gone.isEmpty)
  }
}
