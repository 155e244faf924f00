import SwiftData
import Testing

/// A timer of Dispatch's opens a descriptor with the first one of a program, and ends the program if it can't. With two or
/// three free descriptors, the first reading of a store did that.
struct StarvedReaderTests {
  @Test(arguments: 0...8)
  func `a reading for which descriptors are missing is refused`(free: Int) throws {
    let file = try StoreFile()
    let writer = try Worker(file.url, "write", "w", "0", "3")
    _ = writer.rest()
    #expect(writer.finish() == 0)
    let worker = try Worker(file.url, "starve", "\(free)")
    let lines = worker.rest()
    #expect(worker.finish() == 0, "\(lines)")
    #expect(lines.count == 2 && lines.last == "3", "\(lines)")
    let first = try #require(lines.first)
    #expect(first == "3" || first.contains("too many files open"), "\(first)")
    if free >= 6 { #expect(first == "3") }
  }
}
