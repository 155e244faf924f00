import Foundation

/// Compiles source as a test runs, with the modules of the build that the test belongs to.
package enum SwiftCompiler {
  /// What leads the compiler to the modules of this build and to the macros' plugin.
  package static func modelOptions() throws -> [String] {
    let products = Bundle.main.bundleURL
    let folders = try FileManager.default.contentsOfDirectory(atPath: products.path)
    let maps = folders.filter { $0.hasPrefix("C") && $0.hasSuffix(".build") }.sorted().map {
      products.appending(path: $0 + "/module.modulemap").path
    }.filter { FileManager.default.fileExists(atPath: $0) }
    let plugin = products.appending(path: "SteadRecordsMacros-tool").path
    return ["-I", products.appending(path: "Modules").path]
      + ["-load-plugin-executable", plugin + "#SteadRecordsMacros"]
      + maps.flatMap { ["-Xcc", "-fmodule-map-file=" + $0] }
  }

  /// Runs `swiftc`; returns its status, and what it has written to both outputs.
  ///
  /// - Parameter folder: Where the compiler makes directories, which it leaves.
  package static func run(_ words: [String], in folder: URL) throws -> (
    status: Int32, output: String
  ) {
    let process = Process()
    process.environment = ProcessInfo.processInfo.environment.merging(["TMPDIR": folder.path]) {
      $1
    }
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["swiftc"] + words
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let text = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: text, as: UTF8.self))
  }

  /// Checks the types of source that imports SwiftData, without running it.
  package static func checkTypes(of source: String) throws -> (status: Int32, output: String) {
    let folder = try TemporaryDirectory()
    let file = folder.file("A.swift")
    try Data(source.utf8).write(to: file)
    return try run(
      ["-typecheck", "-swift-version", "6"] + modelOptions() + [file.path], in: folder.url)
  }
}
