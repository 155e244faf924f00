import Foundation
import SteadSync

/// `stead serve` as a process of its own, on a free port.
final class SyncServerProcess {
  static let user = "anna"

  /// The server could not be started, or gave no invitation.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  private let program: URL
  private let data: URL
  private let process = Process()
  private let url: URL

  /// Starts a server with data of its own, and waits until it listens.
  ///
  /// - Parameter program: The program `stead`.
  init(_ program: URL, in directory: URL) throws {
    self.program = program
    data = directory.appending(path: "server")
    let output = Pipe()
    process.executableURL = program
    process.arguments = [
      "serve", "--data", data.path, "--port", "0", "--requests-per-second", "100000",
      "--request-burst", "100000",
    ]
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    guard
      let port = line.split(separator: ":").last?.trimmingCharacters(in: .whitespacesAndNewlines),
      let url = URL(string: "http://127.0.0.1:\(port)")
    else { throw Failure(description: "The server didn't say its port.") }
    self.url = url
  }

  deinit {
    process.terminate()
    process.waitUntilExit()
  }

  /// Enrols a device whose credentials are then in a file.
  func enrol(_ file: SyncCredentialFile) async throws {
    let invitation = Process()
    let output = Pipe()
    invitation.executableURL = program
    invitation.arguments = ["serve", "invite", Self.user, "--data", data.path]
    invitation.standardOutput = output
    try invitation.run()
    let code = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      .trimmingCharacters(in: .whitespacesAndNewlines)
    invitation.waitUntilExit()
    guard invitation.terminationStatus == 0 else {
      throw Failure(description: "The server gave no invitation.")
    }
    try file.save(
      try await HTTPSyncTransport.enrol(server: url, user: Self.user, code: code))
  }
}
