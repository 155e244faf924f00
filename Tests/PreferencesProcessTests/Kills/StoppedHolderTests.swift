import Foundation
import Testing

/// A process that keeps the journal's lock between its sets is stopped, and another one sets a value and ends.
@Suite(.ownThread) struct StoppedHolderTests {
  @Test func `a program that sets once and ends loses nothing`() throws {
    let directory = try TemporaryDirectory(inMemory: true)
    let board = directory.file("board")
    try Data(count: 8).write(to: board)
    let holder = try Worker(directory.url, ["burst", board.filePath])
    var seen = 0
    let programs = 1...Effort.times(8)
    for number in programs {
      // It has set enough to keep the lock.
      let start = seen
      while seen < start + 5_000 {
        seen = try Data(contentsOf: board).withUnsafeBytes { $0.loadUnaligned(as: Int.self) }
        sched_yield()
      }
      kill(holder.id, SIGSTOP)
      holder.waitUntilStopped()
      let program = try Worker(directory.url, ["set", "once.\(number)", "\(number)"])
      let lines = program.rest()
      #expect(program.finish() == 0)
      #expect(lines.allSatisfy { $0.contains("locked") }, "\(lines)")
      holder.resume()
    }
    holder.end()
    let contents = try Worker.contents(directory.url)
    for number in programs { #expect(contents["once.\(number)"] == "integer \(number)") }
    #expect(try directory.names.contains("domain.waiting") == false)
  }
}
