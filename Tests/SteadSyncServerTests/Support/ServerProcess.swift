#if Server
import Foundation
import FoundationNetworking
import SteadTestSupport
@testable import SteadSyncServer

/// `stead serve` as a process of its own.
final class ServerProcess {
  static var program: URL {
    Bundle.main.bundleURL.appending(path: "stead")
  }

  let port: Int
  private let process: Process

  init(directory: String, arguments: [String] = []) throws {
    process = Process()
    process.executableURL = Self.program
    process.arguments = ["serve", "--data", directory, "--port", "0"] + arguments
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    port = line.split(separator: ":").last.flatMap { Int($0.dropLast()) } ?? 0
  }

  var pid: Int32 { process.processIdentifier }

  /// Sends a signal and returns how the process ended.
  func end(_ signal: Int32) -> Int32 {
    kill(pid, signal)
    process.waitUntilExit()
    return process.terminationStatus
  }

  /// A new device of a user of this process.
  ///
  /// - Parameter unused: a directory for what the caller's values need and nobody uses.
  func device(of user: String, data: String, unused: TemporaryDirectory) async throws -> TestDevice
  {
    let code = try Self.run("invite", user, "--data", data).output
    let server = TestServer(
      server: try SyncServer(ServerSettings(directory: unused.path + "/unused")), port: port)
    let answer = try await server.send(
      "POST", "v1/enrol",
      json: ["user": user, "code": code.trimmingCharacters(in: .whitespacesAndNewlines)])
    return TestDevice(
      server: server, user: user, device: answer.text("device"),
      access: answer.text("access_token"), refresh: answer.text("refresh_token"))
  }

  /// Runs `stead serve` with arguments, and returns its status and what it printed.
  static func run(_ arguments: String...) throws -> (status: Int32, output: String) {
    let process = Process()
    process.executableURL = program
    process.arguments = ["serve"] + arguments
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: data, as: UTF8.self))
  }
}
#endif
