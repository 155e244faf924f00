import Foundation
import SteadTestSupport
import SwiftData
import Testing

@testable import SteadRecords

/// The copies in the directory for temporary files, which hold a whole store.
@Suite struct StoreCopyTests {
  /// A container in a global variable is never released. Its copy stayed for ever.
  @Test(arguments: ["exit", "kill"])
  func `a copy of the past does not outlive its program for long`(ending: String) throws {
    let directory = try TestFiles.directory()
    let temporary = try TemporaryDirectory()
    let worker = try WorkerProcess(
      [WorkerProcess.program("StoreWorker"), directory.file("test.store").filePath, "past"],
      environment: ["TMPDIR": temporary.url.filePath])
    try #require(worker.line() == "ready")
    #expect(try temporary.names.count == 1)
    if ending == "kill" { worker.end() } else { worker.endInput() }
    worker.finish()
    #expect(try temporary.names.count == (ending == "kill" ? 1 : 0))
    let next = try WorkerProcess(
      [WorkerProcess.program("StoreWorker"), directory.file("next.store").filePath, "past"],
      environment: ["TMPDIR": temporary.url.filePath])
    try #require(next.line() == "ready")
    #expect(try temporary.names.count == 1)
    next.endInput()
    #expect(next.finish() == 0)
    #expect(try temporary.names.isEmpty)
  }
}
