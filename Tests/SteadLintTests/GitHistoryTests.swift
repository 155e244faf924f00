import Foundation
import SteadTestSupport
import Testing

@testable import SteadLintCommand

/// How `stead lint --since` talks with git, by a `git` of its own that behaves badly.
struct GitHistoryTests {
  /// A git that wrote more warnings than a pipe holds waited for a reader, and the linter waited for its output.
  @Test(.exitTests, .hangLimit) func `a git with many warnings ends nothing`() async throws {
    let directory = try TemporaryDirectory()
    await #expect(processExitsWith: .success) { [place = directory.url.filePath as String] in
      try Self.useGit("head -c 1000000 /dev/zero >&2", in: place)
      let changes = try GitHistory(folder: URL(filePath: place)).changes(since: "HEAD")
      #expect(changes.diff == "output\n")
    }
  }

  /// A git whose filter asked a question waited for the terminal of the linter.
  @Test(.exitTests, .hangLimit) func `a git that reads its input gets none`() async throws {
    let directory = try TemporaryDirectory()
    await #expect(processExitsWith: .success) { [place = directory.url.filePath as String] in
      // The input of this process: a pipe that nobody writes to and nobody closes.
      var ends: [Int32] = [0, 0]
      let isMade = pipe(&ends) == 0
      #expect(isMade)
      #expect(dup2(ends[0], 0) == 0)
      try Self.useGit("cat", in: place)
      let changes = try GitHistory(folder: URL(filePath: place)).changes(since: "HEAD")
      #expect(changes.diff == "output\n")
    }
  }

  @Test(.exitTests, .hangLimit) func `a git that fails is quoted with its first line`() async throws
  {
    let directory = try TemporaryDirectory()
    await #expect(processExitsWith: .success) { [place = directory.url.filePath as String] in
      try Self.useGit("echo 'fatal: odd' >&2; head -c 1000000 /dev/zero >&2; exit 1", in: place)
      let error = #expect(throws: (any Error).self) {
        try GitHistory(folder: URL(filePath: place)).changes(since: "HEAD")
      }
      #expect(error.map { "\($0)" }?.contains("git diff failed: fatal: odd") == true)
    }
  }

  /// Makes the process find a script in the place of git, which ends with a line of output.
  private static func useGit(_ command: String, in place: String) throws {
    let script = URL(filePath: place).appending(path: "git")
    try Data("#!/bin/sh\n\(command)\necho output\n".utf8).write(to: script)
    try script.setMode(0o755)
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    setenv("PATH", place + ":" + path, 1)
  }
}
