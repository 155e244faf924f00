import Foundation
import Testing

/// A directory with a home, a repository and programs that run there, and nothing of the user's.
final class Workshop: Sendable {
  let directory: URL

  init() throws {
    directory = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
      .appending(path: "git-credential-tests-\(UUID().uuidString)", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: file("home"), withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: directory) }

  func file(_ name: String) -> URL { directory.appending(path: name) }

  func has(_ name: String) -> Bool { FileManager.default.fileExists(atPath: file(name).path) }

  struct End {
    var status: Int32
    var output: String
    var errors: String
  }

  /// Runs a program to its end.
  func run(
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
    process.standardInput = try FileHandle(forReadingFrom: file(names[0]))
    process.standardOutput = try FileHandle(forWritingTo: file(names[1]))
    process.standardError = try FileHandle(forWritingTo: file(names[2]))
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
  func succeed(_ command: String...) throws -> String {
    let end = try run(command)
    try #require(end.status == 0, "\(command): \(end.errors)")
    return end.output
  }

  /// No bus, no desktop, no terminal, no configuration of the user's or the system's.
  private var environment: [String: String] {
    [
      "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "LC_ALL": "C.UTF-8",
      "HOME": file("home").path, "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0",
    ]
  }

  /// The program beside the tests' own executable.
  static var helper: String {
    get throws {
      try #require(Bundle.main.executableURL).deletingLastPathComponent()
        .appending(path: "git-credential-stead").path
    }
  }
}
