import ExampleTestSupport
import Foundation
import Testing

/// A real HTTP server on loopback with a repository, which asks for a password.
final class GitServer {
  let url: String
  private let workshop: Workshop
  private let process = Process()
  private let lifeline = Pipe()

  init(in workshop: Workshop, credential: String) throws {
    self.workshop = workshop
    let work = workshop.file("work").path
    try workshop.succeed("git", "init", "--quiet", work)
    try workshop.succeed(
      "git", "-C", work, "-c", "user.name=Anna", "-c", "user.email=anna@example.org", "commit",
      "--quiet", "--allow-empty", "--message", "The first and only one")
    let bare = workshop.file("served/notes.git").path
    try workshop.succeed("git", "clone", "--quiet", "--bare", work, bare)
    // What clients of a server need that only hands out files.
    try workshop.succeed("git", "-C", bare, "update-server-info")
    let output = Pipe()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [
      "python3", try #require(Bundle.module.url(forResource: "server", withExtension: "py")).path,
      workshop.file("served").path, workshop.file("credential").path,
    ]
    // It ends with these tests, whatever ends them.
    process.standardInput = lifeline
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try Data(credential.utf8).write(to: workshop.file("credential"))
    try process.run()
    let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    let port = try #require(Int(line.trimmingCharacters(in: .whitespacesAndNewlines)))
    url = "http://127.0.0.1:\(port)/notes.git"
  }

  /// What lets a user in from now on, as `user:password`.
  func change(credential: String) throws {
    try Data(credential.utf8).write(to: workshop.file("credential"))
  }

  // A thread of the tests may block the gentler signal, and its children inherit that.
  deinit { kill(process.processIdentifier, SIGKILL) }
}
