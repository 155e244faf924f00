#if Server
import Foundation
import SteadTestSupport
import Testing
@testable import SteadSyncServer

/// A client in Python, which shares nothing with this package but the description of the protocol.
@Suite struct OtherLanguageTests {
  private static let script = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Python/sync_client.py")

  @Test func `two devices in Python agree`() async throws {
    let directory = try TemporaryDirectory()
    let data = directory.path + "/data"
    let process = try ServerProcess(directory: data)
    var codes: [String] = []
    for _ in 0..<2 {
      let code = try ServerProcess.run("invite", "anna", "--data", data).output
      codes.append(code.trimmingCharacters(in: .whitespacesAndNewlines))
    }
    let client = Process()
    client.executableURL = URL(filePath: "/usr/bin/env")
    client.arguments = ["python3", Self.script.path, "\(process.port)", "anna"] + codes
    let (output, errors) = (Pipe(), Pipe())
    client.standardOutput = output
    client.standardError = errors
    try client.run()
    let text = output.fileHandleForReading.readDataToEndOfFile()
    let problem = errors.fileHandleForReading.readDataToEndOfFile()
    client.waitUntilExit()
    #expect(String(decoding: text, as: UTF8.self) == "agreed\n")
    #expect(String(decoding: problem, as: UTF8.self).isEmpty)
    #expect(process.end(SIGTERM) == 0)
  }
}
#endif
