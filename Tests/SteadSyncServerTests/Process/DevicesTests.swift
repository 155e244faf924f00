#if Server
import Foundation
import Testing
@testable import SteadSyncServer

/// Devices as processes, with this server behind a network that fails: the short form of `Scripts/sync-devices`.
@Suite struct DevicesTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../..").standardized
  /// The folder of the devices, which are programs.
  private static let workers = Bundle.main.bundleURL

  @Test func `devices agree after the network has healed`() throws {
    let script = Process()
    script.executableURL = URL(filePath: "/usr/bin/env")
    script.arguments = [
      "python3", Self.root.appending(path: "Scripts/sync-devices").path, "--edits", "50",
      "--kills", "5", "--server", ServerProcess.program.path, "--workers", Self.workers.path,
      // Other tests take the processor.
      "--limit", "60", "--patience", "120",
    ]
    let output = Pipe()
    script.standardOutput = output
    script.standardError = output
    try script.run()
    let text = String(
      decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    script.waitUntilExit()
    #expect(script.terminationStatus == 0, "\(text)")
  }
}
#endif
