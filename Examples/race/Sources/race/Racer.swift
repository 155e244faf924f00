import Foundation

/// This program, started again for one part of the race.
final class Racer {
  private let process = Process()
  private let start = Pipe()
  private let output = Pipe()

  /// - Parameters:
  ///   - arguments: What the process is to do.
  ///   - home: The directory that it takes for its user's.
  init(_ arguments: [String], home: URL) throws {
    guard let program = Bundle.main.executableURL else {
      throw RaceError(description: "This program does not know where it is.")
    }
    let path = home.path(percentEncoded: false)
    process.executableURL = program
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging([
      "HOME": path, "CFFIXED_USER_HOME": path, "XDG_CONFIG_HOME": path + "/config",
      "XDG_DATA_HOME": path + "/data", "XDG_STATE_HOME": path + "/state",
      "XDG_CACHE_HOME": path + "/cache",
    ]) { $1 }
    process.standardInput = start
    process.standardOutput = output
    try process.run()
  }

  /// Waits until the process says that it is ready.
  func waitUntilReady() throws {
    guard try output.fileHandleForReading.read(upToCount: 1) != nil else {
      throw RaceError(description: "A process ended before the race.")
    }
  }

  func go() throws { try start.fileHandleForWriting.close() }

  /// Waits for the end of the process, and returns what it said after that it was ready.
  func finish() throws -> String {
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw RaceError(description: "A process ended with status \(process.terminationStatus).")
    }
    return String(decoding: data, as: UTF8.self)
  }

  /// The other side: says that this process is ready, and waits for the start.
  static func waitForStart() throws {
    try FileHandle.standardOutput.write(contentsOf: Data(".".utf8))
    _ = try FileHandle.standardInput.readToEnd()
  }
}
