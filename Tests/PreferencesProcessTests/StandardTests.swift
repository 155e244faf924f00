import Foundation
import Testing

/// The app's own preferences, which a test's process does not touch: they would be the user's.
@Suite(.ownThread) struct StandardTests {
  @Test func survivesBeingKilledAndTakesArguments() throws {
    let directory = try TemporaryDirectory(inMemory: true)
    func launch(_ arguments: String...) throws -> String? {
      let worker = try Worker(directory.url, ["standard"] + arguments)
      defer { #expect(worker.finish() != 0) }
      return worker.line()
    }
    #expect(try launch() == "0 0.5 -1")
    #expect(try launch() == "1 0.5 0")
    #expect(try launch("-volume", "0.25") == "2 0.25 1")
    // What is set while an argument hides it counts once that is gone.
    #expect(try launch("-launchCount", "41") == "41 0.5 2")
    #expect(try launch() == "42 0.5 41")
    let config = directory.file("config").filePath
    #expect(
      try FileManager.default.subpathsOfDirectory(atPath: config).sorted()
        == ["PreferencesWorker", "PreferencesWorker/PreferencesWorker.journal"])
  }
}
