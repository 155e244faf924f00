import Foundation

/// What another program said, and how it ended.
package struct ToolRun: Sendable {
  package let status: Int32
  package let output: Data
  package let errors: Data

  /// What it said, without white space around it.
  package var text: String {
    String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// Runs a program of `PATH` to its end, for 240 seconds at most.
  ///
  /// - Parameters:
  ///   - environment: All that the program sees; nil for what this process has.
  ///   - input: What the program reads, then the end of its input.
  package init(
    _ arguments: [String], environment: [String: String]? = nil, input: Data = Data()
  ) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["timeout", "--kill-after=5", "240"] + arguments
    if let environment { process.environment = environment }
    let (inputPipe, outputPipe, errorPipe) = (
      Pipe.closedByOthers(), Pipe.closedByOthers(), Pipe.closedByOthers()
    )
    try process.start(input: inputPipe, output: outputPipe, errors: errorPipe)
    // Input that fits into a pipe, as all of the tests' does, is taken at once.
    try? inputPipe.fileHandleForWriting.write(contentsOf: input)
    try? inputPipe.fileHandleForWriting.close()
    output = try outputPipe.fileHandleForReading.readToEnd() ?? Data()
    errors = try errorPipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    status = process.terminationStatus
  }

  /// What a program said that has to succeed.
  @discardableResult
  package static func text(
    _ arguments: [String], environment: [String: String]? = nil, input: Data = Data()
  ) throws -> String {
    let run = try ToolRun(arguments, environment: environment, input: input)
    guard run.status == 0 else { throw Failure(arguments: arguments, run: run) }
    return run.text
  }

  /// Whether `PATH` has a program.
  package static func exists(_ name: String) -> Bool {
    (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
      access("\($0)/\(name)", X_OK) == 0
    }
  }

  /// Whether `strace` is here, and the system lets it follow processes; containers may not.
  package static let canTrace = (try? ToolRun(["strace", "-o", "/dev/null", "true"]))?.status == 0

  /// A program that had to succeed and did not.
  package struct Failure: Error, CustomStringConvertible {
    package let arguments: [String]
    package let run: ToolRun

    package var description: String {
      "\(arguments.joined(separator: " ")) ended with \(run.status): "
        + String(decoding: run.errors, as: UTF8.self)
    }
  }
}
