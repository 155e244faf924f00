import CSteadSQLite
import Foundation
import SteadSQLite
import SteadTestSupport
import Testing

@Suite("Files made by somebody else") struct HardeningTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  @Test(arguments: [false, true])
  func `a trigger calls no function of the program`(trustsSchema: Bool) throws {
    let file = try makeDatabase(
      """
      CREATE TABLE item (x);
      CREATE TRIGGER spy AFTER INSERT ON item BEGIN SELECT probe(new.x); END;
      """, in: directory)
    let connection = try connection(file, trustsSchema: trustsSchema)
    #expect(try connection.integer("PRAGMA trusted_schema") == (trustsSchema ? 1 : 0))
    #expect(try connection.integer("SELECT probe()") == 1)
    let error = try refusal { try connection.execute("INSERT INTO item VALUES (1)") }
    #expect(error.message.contains("unsafe use of probe"))
    #expect(try connection.integer("SELECT count(*) FROM item") == 0)
  }

  @Test(
    arguments: [
      "CREATE TABLE item (x, y GENERATED ALWAYS AS (probe(x)));",
      "CREATE TABLE item (x, CHECK (probe(x)));",
      "CREATE TABLE item (x); CREATE INDEX spy ON item (probe(x));",
      "CREATE TABLE item (x DEFAULT (probe()), y);",
    ], [false, true])
  func `a schema calls no function of the program`(schema: String, trustsSchema: Bool) throws {
    let file = try makeDatabase(schema, in: directory)
    let connection = try connection(file, trustsSchema: trustsSchema)
    let error = try refusal {
      try connection.execute("INSERT INTO item DEFAULT VALUES; SELECT * FROM item")
    }
    #expect(error.message.contains("probe"))
  }

  @Test
  func `a view in a table's place is not read unless that is asked for, and calls nothing then`()
    throws
  {
    let file = try makeDatabase(
      """
      CREATE TABLE source (x);
      INSERT INTO source VALUES (7);
      CREATE VIEW item AS SELECT x FROM source;
      CREATE VIEW spy AS SELECT probe(x) FROM source;
      """, in: directory)
    let strict = try connection(file)
    let error = try refusal { _ = try strict.rows("SELECT * FROM item") }
    #expect(error.message.contains("view"))
    let lenient = try connection(file, readsViews: true, trustsSchema: true)
    #expect(try lenient.rows("SELECT * FROM item") == [[.integer(7)]])
    let unsafe = try refusal { _ = try lenient.rows("SELECT * FROM spy") }
    #expect(unsafe.message.contains("unsafe use of probe"))
  }

  @Test func `SQLite's own tables cannot be written`() throws {
    let connection = try connection(makeDatabase("CREATE TABLE item (x);", in: directory))
    try connection.execute("PRAGMA writable_schema = ON")
    let error = try refusal { try connection.execute("DELETE FROM sqlite_schema") }
    #expect(error.message.contains("may not be modified"))
    #expect(try connection.integer("SELECT count(*) FROM sqlite_schema") == 1)
  }

  @Test func `no extension is loaded`() throws {
    let connection = try connection(makeDatabase("CREATE TABLE item (x);", in: directory))
    let error = try refusal { _ = try connection.rows("SELECT load_extension('probe')") }
    #expect(error.message.contains("not authorized"))
  }

  @Test func `text in double quotes is a name`() throws {
    let connection = try connection(makeDatabase("CREATE TABLE item (x);", in: directory))
    let error = try refusal { _ = try connection.rows(#"SELECT "y" FROM item"#) }
    #expect(error.message.contains("no such column"))
  }

  @Test func `triggers that set off one another end`() throws {
    let count = Int(SQLiteLimit.triggerDepth) + 1
    let schema =
      (0...count).map { "CREATE TABLE t\($0) (x);" }
      + (0..<count).map {
        "CREATE TRIGGER r\($0) AFTER INSERT ON t\($0) BEGIN INSERT INTO t\($0 + 1) VALUES (1); END;"
      }
    let connection = try connection(makeDatabase(schema.joined(), in: directory))
    let error = try refusal { try connection.execute("INSERT INTO t0 VALUES (1)") }
    #expect(error.message.contains("too many levels of trigger"))
    #expect(try connection.integer("SELECT count(*) FROM t0") == 0)
  }

  @Test func `statements that are too long or too deep are refused`() throws {
    let connection = try SQLiteConnection(SQLiteOptions(.memory))
    let depth = Int(SQLiteLimit.expressionDepth)
    let deep = String(repeating: "(1+", count: depth) + "1" + String(repeating: ")", count: depth)
    #expect(throws: SQLiteError.self) { try connection.integer("SELECT \(deep)") }
    let length = Int(SQLiteLimit.statementLength)
    let long = "SELECT '\(String(repeating: "x", count: length))'"
    #expect(try refusal { _ = try connection.rows(long) }.code == SQLITE_TOOBIG)
    // A parameter has no such limit.
    let text = String(repeating: "x", count: 2 * length)
    #expect(try connection.integer("SELECT length(?1)", [.text(text)]) == Int64(2 * length))
  }

  /// The first cell of a leaf page says that it begins behind the page's end.
  @Test func `a page whose cells do not fit is an error, not a crash`() throws {
    let file = try makeDatabase(
      "CREATE TABLE item (x); INSERT INTO item VALUES (1), (2);", in: directory)
    var bytes = [UInt8](try Data(contentsOf: file))
    let page = 4096
    // The pointers follow a header of eight bytes.
    bytes[page + 8] = 0x0f
    bytes[page + 9] = 0xff
    try Data(bytes).write(to: file)
    let connection = try connection(file)
    #expect(try refusal { _ = try connection.rows("SELECT * FROM item") }.kind == .damaged)
  }
}
