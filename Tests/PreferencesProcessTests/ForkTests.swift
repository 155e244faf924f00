import Foundation
import Testing

/// A child of fork has the parent's memory, one of its threads and all of its open files, with which it
/// would hold the parent's locks and write where the parent writes.
@Suite(.needs(.noThreadSanitizer), .ownThread)
struct ForkTests {
  @Test(arguments: [0, 3])
  func `parent and children see all`(threads: Int) throws {
    let count = 1_000
    let directory = try TemporaryDirectory(inMemory: true)
    let worker = try Worker(directory.url, ["fork", "\(threads)", "\(count)"])
    let lines = worker.rest()
    #expect(lines.last == "parent done")
    let others = Set(lines.dropLast())
    #expect(others == Set((0..<4).map { "child \($0) done" }), "\(others.prefix(5))")
    #expect(worker.finish() == 0)

    var expected = ["before": "string from%20before"]
    for child in 0..<4 { expected["parent.child\(child)"] = "integer \(child)" }
    let writers = ["parent"] + (0..<4).map { "child\($0)" } + (0..<threads).map { "thread\($0)" }
    for writer in writers {
      for number in 0..<count { expected["\(writer).\(number)"] = "integer \(number)" }
    }
    let contents = try Worker.contents(directory.url)
    let wrong = expected.keys.filter { contents[$0] != expected[$0] }
    #expect(wrong.isEmpty, "\(wrong.count): \(wrong.sorted().prefix(5))")
    #expect(contents.count == expected.count)
  }
}
