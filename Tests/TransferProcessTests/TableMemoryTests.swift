import Foundation
import SteadTestSupport
import Testing

/// A table that is larger than the memory that its move may take.
@Suite(.hangLimit) struct TableMemoryTests {
  /// A table of 4 MB cost 84 MB: all of it was in memory as bytes, as rows, as items and as objects.
  @Test func `a table is moved in little memory`() throws {
    let directory = try TemporaryDirectory()
    let base = try move(rows: 1, directory.file("small"))
    let rows = 8_000
    let peak = try move(rows: rows, directory.file("large"))
    // The table has 8 MB. One of 16 MB took more than 96 MB as a whole.
    let limit = 32 << 10
    #expect(peak - base < limit, "\(peak - base) KiB above \(base) KiB")
  }

  /// Moves a table with 1,000 bytes in each row, and gives the most KiB of memory that the process had.
  private func move(rows: Int, _ stem: URL) throws -> Int {
    let table = stem.appendingPathExtension("csv")
    let filler = String(repeating: "lighthouse ", count: 90)
    var text = "text\n"
    for number in 0..<rows { text += "\(number) \(filler)\n" }
    try Data(text.utf8).write(to: table)
    let worker = try WorkerProcess([
      try WorkerProcess.program("TransferWorker"), "table", table.filePath,
      stem.appendingPathExtension("store").filePath,
    ])
    let lines = worker.rest()
    #expect(worker.finish() == 0, "\(lines)")
    let figures = try #require(lines.last).split(separator: " ").compactMap { Int($0) }
    try #require(figures.count == 2, "\(lines)")
    #expect(figures[0] == rows)
    return figures[1]
  }
}
