import Foundation
import SteadTestSupport
import Synchronization
import Testing

@testable import SteadFiles

@Suite struct ScratchDirectoryTests {
  private let parent: TemporaryDirectory

  init() throws { parent = try TemporaryDirectory(inMemory: true) }

  /// Once a killed import left a copy of the user's database for good.
  @Test func `directories of killed processes are removed, and no others`() throws {
    let left = parent.url.appending(path: "a-left")
    try FileManager.default.createDirectory(at: left, withIntermediateDirectories: false)
    try Data("secret".utf8).write(to: left.appending(path: "copy.store"))
    for name in ["b-left", "notes"] {
      try FileManager.default.createDirectory(
        at: parent.file(name), withIntermediateDirectories: false)
    }
    try Data().write(to: parent.file("a-file"))
    let live = try ScratchDirectory(prefix: "a-", in: parent.url)
    let second = try ScratchDirectory(prefix: "a-", in: parent.url)
    #expect(
      try parent.names == [
        "a-file", "b-left", "notes", live.url.lastPathComponent, second.url.lastPathComponent,
      ])
    #expect(try POSIXDisk().status(at: live.url.path)?.mode == 0o700)
    withExtendedLifetime((live, second)) {}
  }

  /// One took another's new directory, whose lock was still free, for an abandoned one.
  @Test func `those that begin at once leave each other their directories`() throws {
    let failures = Mutex<[String]>([])
    let parent = parent
    DispatchQueue.concurrentPerform(iterations: 400) { _ in
      do {
        let directory = try ScratchDirectory(prefix: "a-", in: parent.url)
        try Data().write(to: directory.url.appending(path: "copy"))
      } catch {
        failures.withLock { $0.append("\(error)") }
      }
    }
    #expect(failures.withLock { $0 } == [])
    #expect(try parent.names.isEmpty)
  }

  /// A global variable is never released.
  private nonisolated(unsafe) static var held: ScratchDirectory?

  // Used by the process of the test alone.
  @Test(.exitTests, arguments: ["exit", "_exit"])
  func `a process that ends removes its directory, and one that is killed leaves it to the next`(
    ending: String
  ) async throws {
    await #expect(processExitsWith: .success) {
      [ending = ending as String, path = parent.url.filePath as String] in
      let url = URL(filePath: path, directoryHint: .isDirectory)
      let directory = try ScratchDirectory(prefix: "a-", in: url)
      try Data("secret".utf8).write(to: directory.url.appending(path: "copy"))
      Self.held = directory
      if ending == "_exit" { _exit(0) }
    }
    #expect(try parent.names.count == (ending == "exit" ? 0 : 1))
    _ = try ScratchDirectory(prefix: "a-", in: parent.url)
    #expect(try parent.names.isEmpty)
  }
}
