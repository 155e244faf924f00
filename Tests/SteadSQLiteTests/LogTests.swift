import Foundation
import SteadSQLite
import SteadTestSupport
import Testing

@Suite("The log of a file") struct LogTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func connection(busyTimeout: Int32) throws -> SQLiteConnection {
    var options = SQLiteOptions(.file(directory.file("file").filePath))
    options.busyTimeout = busyTimeout
    return try SQLiteConnection(options)
  }

  // SQLite's own time-out does not count here: it fails at once.
  @Test(arguments: ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
  func `a file gets its log when the connection that writes has ended`(beginning: String) throws {
    let writer = try connection(busyTimeout: 0)
    try writer.execute("\(beginning); CREATE TABLE t (x)")
    var pauses = 0
    let hasLog = try connection(busyTimeout: 60).useLog { _ in
      pauses += 1
      if pauses == 3 { try? writer.execute("COMMIT") }
    }
    #expect(hasLog && pauses == 3)
    #expect(try connection(busyTimeout: 0).useLog { _ in Issue.record("It waited.") })
  }

  @Test func `a connection waits for the writer as long as it is patient`() throws {
    let writer = try connection(busyTimeout: 0)
    try writer.execute("BEGIN IMMEDIATE; CREATE TABLE t (x)")
    var waited = 0
    let reader = try connection(busyTimeout: 500)
    let error = try #require(throws: SQLiteError.self) {
      try reader.useLog { waited += Int($0) }
    }
    #expect(error.kind == .locked)
    #expect((500_000..<520_001).contains(waited))
    try writer.execute("COMMIT")
    #expect(try reader.useLog())
  }
}
