import Foundation

/// The program `vault.py`, which knows vaults from their documentation alone.
enum IndependentProgram {
  /// The first Python that has the package `cryptography`; nil where there is none.
  static let python: String? = ["python3", "/usr/bin/python3"].first {
    (try? run([$0, "-c", "import cryptography"]))?.status == 0
  }

  static let source = URL(filePath: #filePath).resolvingSymlinksInPath()
    .deletingLastPathComponent().file("vault.py")

  /// Runs it, and returns what it printed.
  static func call(_ arguments: [String]) throws -> Data {
    guard let python else { throw CocoaError(.executableNotLoadable) }
    let result = try run([python, source.filePath] + arguments)
    guard result.status == 0 else { throw CocoaError(.executableRuntimeMismatch) }
    return result.output
  }

  private static func run(_ command: [String]) throws -> (status: Int32, output: Data) {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["timeout", "240"] + command
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (process.terminationStatus, output)
  }
}
