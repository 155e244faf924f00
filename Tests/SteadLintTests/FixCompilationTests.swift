import Foundation
import SteadLint
import Testing

/// What fixes write compiles, where the sample needs Foundation alone.
struct FixCompilationTests {
  static let sources = [
    """
    import Foundation
    func save(_ items: [String], to url: URL) throws {
      try JSONEncoder().encode(items).write(to: url)
    }
    func keep(_ items: [String], in file: URL) throws {
      let data = try JSONEncoder().encode(items)
      try data.write(to: file)
    }
    """,
    """
    import Foundation
    enum SettingsKey { static let didOnboard = "didOnboard" }
    func finish(_ defaults: UserDefaults) -> Bool {
      defaults.set(true, forKey: "didOnboard")
      return defaults.bool(forKey: "didOnboard")
    }
    """,
  ]

  @Test(arguments: sources)
  func fixedSourceCompiles(source: String) throws {
    let report = try Linter(root: URL(filePath: "/")).run(sources: ["A.swift": source])
    let (fixed, count) = report.fixed(source, path: "A.swift")
    #expect(count == 2)
    let file = FileManager.default.temporaryDirectory.appending(
      path: "fixed-" + UUID().uuidString + ".swift")
    try Data(fixed.utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["swiftc", "-typecheck", file.path]
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "\(fixed)")
  }
}
