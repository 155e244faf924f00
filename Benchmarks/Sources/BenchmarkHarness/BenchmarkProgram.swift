import Foundation

/// The frame of a benchmark's main program.
package enum BenchmarkProgram {
  /// Runs a benchmark in a directory of its own, and gives the program's exit status.
  ///
  /// - Parameters:
  ///   - name: The program's name.
  ///   - usage: What is printed when `body` throws ``UsageError``.
  ///   - body: Gets the directory, which is removed later, and returns the exit status.
  package static func run(_ name: String, usage: String, _ body: (URL) throws -> Int32) -> Int32 {
    do {
      let directory = try makeDirectory(name)
      defer { try? FileManager.default.removeItem(at: directory) }
      return try body(directory)
    } catch is UsageError {
      print("usage: \(name) \(usage)")
      return 2
    } catch {
      print("The benchmark stopped: \(error)")
      return 1
    }
  }

  /// The same for a body that waits.
  package static func run(
    _ name: String, usage: String, _ body: (URL) async throws -> Int32
  ) async -> Int32 {
    do {
      let directory = try makeDirectory(name)
      defer { try? FileManager.default.removeItem(at: directory) }
      return try await body(directory)
    } catch is UsageError {
      print("usage: \(name) \(usage)")
      return 2
    } catch {
      print("The benchmark stopped: \(error)")
      return 1
    }
  }

  private static let allocator = [
    "MALLOC_TRIM_THRESHOLD_": "4000000000", "MALLOC_MMAP_THRESHOLD_": "1000000000",
  ]

  /// Runs this program anew with an allocator that keeps freed memory: giving it back to the system
  /// between rounds would move fetches by up to 40 %, for all peers.
  package static func keepFreedMemory() {
    if allocator.allSatisfy({ getenv($0.key) != nil }) { return }
    for (name, value) in allocator { setenv(name, value, 1) }
    let arguments = CommandLine.arguments.map { strdup($0) } + [nil]
    execv("/proc/self/exe", arguments)
  }

  /// The environment of a child that has the allocator as programs have it.
  package static var plainEnvironment: [String: String] {
    ProcessInfo.processInfo.environment.filter { allocator[$0.key] == nil }
  }

  private static let againVariable = "BENCHMARK_HAS_HOME"

  /// Whether this is the process that ``runAgain(home:through:)`` has started.
  package static var isAgain: Bool { getenv(againVariable) != nil }

  /// Runs this program once more, with the same arguments and a home directory of its own, and returns
  /// its exit status.
  ///
  /// - Parameter command: A program, with arguments, that starts the one whose path and arguments follow.
  package static func runAgain(home: URL, through command: [String] = []) throws -> Int32 {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = command + ["/proc/\(getpid())/exe"] + CommandLine.arguments.dropFirst()
    var environment = ProcessInfo.processInfo.environment.filter {
      !["DISPLAY", "WAYLAND_DISPLAY", "GNOME_KEYRING_CONTROL"].contains($0.key)
        && !$0.key.hasPrefix("XDG_")
    }
    environment["HOME"] = home.path
    environment["XDG_RUNTIME_DIR"] = home.path
    environment[againVariable] = "1"
    process.environment = environment
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus
  }

  /// What this program prints when it is run with other arguments, in a process of its own.
  ///
  /// - Parameter environment: All that the process sees; nil for what this one has.
  /// - Throws: An error when the process does not end with 0.
  package static func output(
    of arguments: [String], environment: [String: String]? = nil
  ) throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = arguments
    if let environment { process.environment = environment }
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    let text = String(decoding: output, as: UTF8.self)
      .trimmingCharacters(in: .whitespacesAndNewlines)
    guard process.terminationStatus == 0 else {
      throw ChildError(arguments: arguments, status: process.terminationStatus, output: text)
    }
    return text
  }

  /// A measurement in a process of its own that did not come to its end.
  private struct ChildError: Error {
    let arguments: [String]
    let status: Int32
    let output: String
  }

  /// Beside the program, which is on a disk; a temporary directory may be memory.
  private static func makeDirectory(_ name: String) throws -> URL {
    let directory = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
      .deletingLastPathComponent()
      .appendingPathComponent("\(name)-\(ProcessInfo.processInfo.processIdentifier)")
    try FileManager.default.createDirectory(
      at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    return directory
  }
}
