import Foundation

/// A directory with a home, a repository and programs that run there, and nothing of the user's.
package final class Workshop: Sendable {
  package let directory: URL

  package init() throws {
    directory = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
      .appending(path: "stead-example-\(UUID().uuidString)", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: file("home"), withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: directory) }

  package func file(_ name: String) -> URL { directory.appending(path: name) }

  package func has(_ name: String) -> Bool {
    FileManager.default.fileExists(atPath: file(name).path)
  }

  package struct End {
    package var status: Int32
    package var output: String
    package var errors: String
  }

  package struct Failure: Error, CustomStringConvertible {
    package var description: String
  }

  /// Runs a program to its end.
  package func run(
    _ command: [String], input: String = "", environment: [String: String] = [:]
  ) throws -> End {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["timeout", "--kill-after=5", "240"] + command
    process.currentDirectoryURL = directory
    process.environment = self.environment.merging(environment) { $1 }
    // Files, since a pipe that is full would hold up both sides.
    let names = (0..<3).map { "stream-\($0)-\(UUID().uuidString)" }
    defer { for name in names { try? FileManager.default.removeItem(at: file(name)) } }
    try Data(input.utf8).write(to: file(names[0]))
    try Data().write(to: file(names[1]))
    try Data().write(to: file(names[2]))
    let streams = [
      try FileHandle(forReadingFrom: file(names[0])), try FileHandle(forWritingTo: file(names[1])),
      try FileHandle(forWritingTo: file(names[2])),
    ]
    // Foundation keeps a process that nobody waits for by the loop, with its files.
    defer { for stream in streams { try? stream.close() } }
    process.standardInput = streams[0]
    process.standardOutput = streams[1]
    process.standardError = streams[2]
    // Not waitUntilExit, which runs the loop of a thread that may not be the one that is told.
    let ended = DispatchSemaphore(value: 0)
    process.terminationHandler = { _ in ended.signal() }
    try process.run()
    ended.wait()
    return End(
      status: process.terminationStatus,
      output: try String(contentsOf: file(names[1]), encoding: .utf8),
      errors: try String(contentsOf: file(names[2]), encoding: .utf8))
  }

  /// Runs a program that must not fail.
  @discardableResult
  package func succeed(_ command: String...) throws -> String {
    let end = try run(command)
    guard end.status == 0 else { throw Failure(description: "\(command): \(end.errors)") }
    return end.output
  }

  /// No bus, no desktop, no terminal, no configuration of the user's or the system's.
  private var environment: [String: String] {
    [
      "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "LC_ALL": "C.UTF-8",
      "HOME": file("home").path, "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0",
    ]
  }

  /// A program that was built with the tests: it is beside their own executable.
  package static func program(_ name: String) throws -> String {
    guard let tests = Bundle.main.executableURL else {
      throw Failure(description: "The tests do not know where they are.")
    }
    return tests.deletingLastPathComponent().appending(path: name).path
  }
}
