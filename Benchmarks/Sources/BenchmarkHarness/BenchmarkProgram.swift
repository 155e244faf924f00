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
