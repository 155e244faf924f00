import Foundation
import Testing

/// A running StoreWorker: another process on the same store.
final class Worker {
  let process = Process()
  private let output = Pipe()
  private let input = Pipe()
  private var unread = Data()

  /// Starts the program beside the tests' own executable.
  init(_ store: URL, _ arguments: String...) throws {
    let executable = try #require(Bundle.main.executableURL).deletingLastPathComponent()
      .appendingPathComponent("StoreWorker")
    process.executableURL = executable
    process.arguments = [store.path] + arguments
    process.standardOutput = output
    process.standardInput = input
    try process.run()
  }

  deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

  /// The next number that the worker prints; nil once it has ended.
  func next() -> Int? {
    while true {
      if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
        defer { unread = Data(unread[(end + 1)...]) }
        return Int(String(decoding: unread[..<end], as: UTF8.self))
      }
      let more = output.fileHandleForReading.availableData
      if more.isEmpty { return nil }
      unread += more
    }
  }

  /// All numbers until the end.
  func rest() -> [Int] {
    var result: [Int] = []
    while let number = next() { result.append(number) }
    return result
  }

  func send(_ line: String) throws {
    try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
  }

  func finish() throws -> Int32 {
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
    return process.terminationStatus
  }

  func killNow() {
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}

/// A directory for stores that tests open themselves.
final class StoreDirectory {
  let url: URL

  init() throws { url = try TestFiles.directory() }

  func file(_ name: String) -> URL { url.appendingPathComponent(name) }
}
