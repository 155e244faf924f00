import CSteadSQLite
import Foundation
import SteadSQLite
import SteadTestSupport
import Testing

@Suite("Connections and statements") struct ConnectionTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func memory() throws -> SQLiteConnection { try SQLiteConnection(SQLiteOptions(.memory)) }

  @Test(
    arguments: [
      .null, .integer(.min), .real(-1.5), .text(""), .text("a\u{0}\u{E9}\u{1F600}"), .blob(Data()),
      .blob(Data([0, 255])),
    ] as [SQLValue])
  func `values come back as they were bound`(value: SQLValue) throws {
    #expect(try memory().rows("SELECT ?1", [value]) == [[value]])
  }

  @Test func `parameters of one run are not those of the next`() throws {
    let connection = try memory()
    let sql = "SELECT ?1, ?2"
    #expect(try connection.rows(sql, [.integer(1), .integer(2)]) == [[.integer(1), .integer(2)]])
    #expect(try connection.rows(sql, [.integer(3)]) == [[.integer(3), .null]])
  }

  @Test(arguments: ["plain", "a?b#c%25 d", "?mode=memory"])
  func `a file is read as it is, whatever its name, and nothing beside it`(name: String) throws {
    let file = directory.file(name).filePath
    let writer = try SQLiteConnection(SQLiteOptions(.file(file)))
    try writer.execute(
      "PRAGMA journal_mode = WAL; CREATE TABLE t (x); INSERT INTO t VALUES (1); "
        + "PRAGMA wal_checkpoint(TRUNCATE); INSERT INTO t VALUES (2)")
    let names = try directory.names
    var options = SQLiteOptions(.file(file))
    options.isImmutable = true
    let reader = try SQLiteConnection(options)
    #expect(try reader.rows("SELECT x FROM t") == [[.integer(1)]])
    #expect(throws: SQLiteError.self) { try reader.execute("INSERT INTO t VALUES (3)") }
    #expect(try directory.names.sorted() == names.sorted())
    #expect(try writer.integer("SELECT count(*) FROM t") == 2)
  }

  @Test func `a statement dropped for many others can be made again`() throws {
    let connection = try memory()
    for number in 0...SQLiteConnection.statementLimit {
      #expect(try connection.integer("SELECT \(number)") == Int64(number))
    }
    #expect(try connection.integer("SELECT 0") == 0)
  }

  @Test func `an error names the statement, and none of its parameters`() throws {
    let connection = try memory()
    try connection.execute("CREATE TABLE item (x UNIQUE)")
    let sql = "INSERT INTO item VALUES (?1)"
    try connection.run(sql, [.text("secret")])
    let error = try refusal { try connection.run(sql, [.text("secret")]) }
    #expect(error.kind == .constraint)
    #expect(error.code == SQLITE_CONSTRAINT | 8 << 8)
    #expect(error.sql == sql)
    #expect(!error.description.contains("secret"))
  }

  @Test func `an error is thrown as the owner says`() throws {
    struct Refused: Error, Equatable { let message: String }
    var options = SQLiteOptions(.memory)
    options.failure = { Refused(message: $0.message) }
    let connection = try SQLiteConnection(options)
    #expect(throws: Refused(message: "no such table: item")) {
      try connection.rows("SELECT * FROM item")
    }
  }

  @Test func `what is no database is damaged, and stays as it is`() throws {
    let file = directory.file("note.txt")
    let text = Data(repeating: 65, count: 5000)
    try text.write(to: file)
    let connection = try SQLiteConnection(SQLiteOptions(.file(file.filePath)))
    #expect(try refusal { _ = try connection.rows("SELECT * FROM sqlite_schema") }.kind == .damaged)
    #expect(try Data(contentsOf: file) == text)
  }

  @Test func `a connection that only reads makes no file, and writes none`() throws {
    let missing = directory.file("missing.db")
    var options = SQLiteOptions(.file(missing.filePath))
    options.isWritable = false
    #expect(try refusal { _ = try SQLiteConnection(options) }.kind == .notOpened)
    #expect(!FileManager.default.fileExists(atPath: missing.filePath))
    let file = try makeDatabase("CREATE TABLE item (x);", in: directory)
    options.location = .file(file.filePath)
    let reader = try SQLiteConnection(options)
    #expect(try refusal { try reader.execute("INSERT INTO item VALUES (1)") }.kind == .readOnly)
  }

  @Test func `a name that SQLite knows is a file's name like any other`() throws {
    let name = ":memory:"
    let file = URL(filePath: FileManager.default.currentDirectoryPath).file(name)
    defer { try? FileManager.default.removeItem(at: file) }
    let connection = try SQLiteConnection(SQLiteOptions(.file(name)))
    try connection.execute("CREATE TABLE item (x)")
    #expect(FileManager.default.fileExists(atPath: file.filePath))
  }

  @Test
  func `a lock of another connection is waited for as long as was said, and no longer`() throws {
    let file = try makeDatabase("CREATE TABLE item (x);", in: directory)
    let holder = try connection(file)
    try holder.execute("BEGIN IMMEDIATE")
    let other = try connection(file)
    #expect(try refusal { try other.execute("BEGIN IMMEDIATE") }.kind == .locked)
    try holder.execute("COMMIT")
    try other.execute("BEGIN IMMEDIATE; COMMIT")
  }

  @Test func `a copy has what the database holds, its log included`() throws {
    let connection = try connection(makeDatabase("CREATE TABLE item (x);", in: directory))
    try connection.execute("PRAGMA journal_mode = WAL; INSERT INTO item VALUES (1), (2)")
    let copy = directory.file("copy.db")
    try connection.copy(to: copy.filePath)
    let reader = try SQLiteConnection(SQLiteOptions(.file(copy.filePath)))
    #expect(try reader.integer("SELECT sum(x) FROM item") == 3)
    #expect(try copy.mode == 0o600)
    // What is there already is not written over.
    #expect(throws: SQLiteError.self) { try connection.copy(to: copy.filePath) }
  }

  @Test func `a file is made private, and what is there is left as it is`() throws {
    let file = directory.file("new.db")
    SQLiteFile.makePrivate(at: file.filePath)
    #expect(try file.mode == 0o600)
    let options = SQLiteOptions(.file(file.filePath))
    let connection = try SQLiteConnection(options)
    try connection.execute("PRAGMA journal_mode = WAL; CREATE TABLE item (x)")
    for suffix in ["", "-wal", "-shm"] {
      #expect(try directory.file("new.db\(suffix)").mode == 0o600)
    }
    try file.setMode(0o640)
    SQLiteFile.makePrivate(at: file.filePath)
    #expect(try file.mode == 0o640)
    #expect(try connection.integer("SELECT count(*) FROM item") == 0)
    #expect(try directory.names == ["new.db", "new.db-wal", "new.db-shm"])
  }

  /// It was made under another name, which a process left behind that was killed before it had removed it.
  @Test
  func `a file that is made private has its own name from the start, and no other one`() throws {
    let watch = inotify_init1(Int32(IN_NONBLOCK))
    defer { close(watch) }
    try #require(inotify_add_watch(watch, directory.url.filePath, UInt32(IN_CREATE)) >= 0)
    SQLiteFile.makePrivate(at: directory.file("new.db").filePath)
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = read(watch, &bytes, bytes.count)
    let header = MemoryLayout<inotify_event>.size
    try #require(count > header)
    // A second event would make the first one's name end before the bytes do.
    let length = bytes.withUnsafeBytes { $0.load(as: inotify_event.self).len }
    #expect(count == header + Int(length))
    #expect(String(decoding: bytes[header..<count].prefix { $0 != 0 }, as: UTF8.self) == "new.db")
  }

  @Test func `the version tells of another connection's commit, and of one's own`() throws {
    let file = try makeDatabase("CREATE TABLE item (x);", in: directory)
    let (one, other) = (try connection(file), try connection(file))
    try one.execute("PRAGMA journal_mode = WAL")
    let insert = "INSERT INTO item VALUES (1)"
    let read = "SELECT count(*) FROM item"
    #expect(try one.integer(read) == 0)
    let first = one.dataVersion
    #expect(try one.integer(read) == 0)
    #expect(one.dataVersion == first)
    try other.execute(insert)
    #expect(try one.integer(read) == 1)
    let second = one.dataVersion
    #expect(second != first)
    try one.execute(insert)
    #expect(one.dataVersion != second)
  }

  @Test func `rows that a statement changed are counted`() throws {
    let connection = try memory()
    try connection.execute("CREATE TABLE item (x); INSERT INTO item VALUES (1), (2), (3)")
    try connection.run("DELETE FROM item WHERE x > ?1", [.integer(1)])
    #expect(connection.changedRows == 2)
    #expect(!connection.isInTransaction)
    try connection.execute("BEGIN")
    #expect(connection.isInTransaction)
  }
}
