import Foundation
import Testing

/// The app's own preferences, which a test's process does not touch: they would be the user's.
@Suite(.ownThread) struct StandardTests {
  @Test func `survives being killed and takes arguments`() throws {
    let directory = try TemporaryDirectory(inMemory: true)
    func launch(_ arguments: String...) throws -> String? {
      let worker = try Worker(directory.url, ["standard"] + arguments)
      defer { #expect(worker.finish() != 0) }
      return worker.line()
    }
    #expect(try launch() == "0 0.5 -1")
    #expect(try launch() == "1 0.5 0")
    #expect(try launch("-volume", "0.25") == "2 0.25 1")
    // What is set while an argument hides it counts once that is gone.
    #expect(try launch("-launchCount", "41") == "41 0.5 2")
    #expect(try launch() == "42 0.5 41")
    let config = directory.file("config").filePath
    #expect(
      try FileManager.default.subpathsOfDirectory(atPath: config).sorted()
        == ["PreferencesWorker", "PreferencesWorker/PreferencesWorker.journal"])
  }
}

/// A suite's name becomes the name of a file, and must not lead out of the directory.
@Suite(.ownThread) struct SuiteNameTests {
  private static let refused = [
    "../outside", "..", ".", "", "/tmp/outside", "a/b", "a/../../outside", "nul\u{0}byte", "\u{0}",
    "line\nbreak", "a\\b", ".hidden", String(repeating: "n", count: 300),
  ]

  @Test func `names that lead elsewhere are refused`() throws {
    let directory = try TemporaryDirectory(inMemory: true)
    let config = directory.url.appending(path: "a/b/config", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: config, withIntermediateDirectories: true)
    let worker = try Worker(
      directory.url, ["suite"], environment: ["XDG_CONFIG_HOME": config.filePath])
    for name in Self.refused {
      let escaped = name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
      worker.send("\"\(escaped)\"")
      #expect(worker.line() == "refused", "\(name)")
    }
    #expect(try Self.files(below: directory.url) == ["a", "a/b", "a/b/config"])

    for name in ["group.notes", "%D7%A2%D7%91%D7%A8%D7%99%D7%AA", "spaces%20are%20fine"] {
      worker.send("\"\(name)\"")
      #expect(worker.line() == "opened", "\(name)")
    }
    worker.endInput()
    #expect(worker.finish() == 0)
    let inside = try Self.files(below: directory.url)
    #expect(inside.contains("a/b/config/group.notes/group.notes.plist"))
    #expect(inside.allSatisfy { "a/b/config/".hasPrefix($0) || $0.hasPrefix("a/b/config") })
  }

  private static func files(below directory: URL) throws -> Set<String> {
    Set(try FileManager.default.subpathsOfDirectory(atPath: directory.filePath))
  }
}
