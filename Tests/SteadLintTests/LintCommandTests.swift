import Foundation
import SteadLintCommand
import SteadTestSupport
import Synchronization
import Testing

/// The command line, in folders of its own.
struct LintCommandTests {
  private let directory: TemporaryDirectory
  private var folder: URL { directory.url }
  private let output = Output()

  final class Output: Sendable {
    private let parts = Mutex<(text: String, complaints: String)>(("", ""))

    func add(_ text: String) { parts.withLock { $0.text += text } }
    func complain(_ text: String) { parts.withLock { $0.complaints += text } }
    func take() -> (text: String, complaints: String) {
      parts.withLock { parts in
        defer { parts = ("", "") }
        return parts
      }
    }
  }

  init() throws {
    directory = try TemporaryDirectory()
    try FileManager.default.createDirectory(
      at: folder.appending(path: "Sources"), withIntermediateDirectories: true)
  }

  private func write(_ source: String, to name: String) throws {
    try Data(source.utf8).write(to: folder.appending(path: name))
  }

  private func read(_ name: String) throws -> String {
    try String(contentsOf: folder.appending(path: name), encoding: .utf8)
  }

  private func run(_ words: String...) -> (exit: LintCommand.Exit, text: String, complaints: String)
  {
    let command = LintCommand(
      directory: folder, print: { [output] in output.add($0) },
      complain: { [output] in output.complain($0) })
    let exit = command.run(words + ["--no-cache"])
    let (text, complaints) = output.take()
    return (exit, text, complaints)
  }

  private static let secret = #"func a() { UserDefaults.standard.set(x, forKey: "password") }"#

  @Test func `errors end with one and warnings with zero`() throws {
    try write("import UIKit\nfunc a() { try? modelContext.save() }", to: "Sources/A.swift")
    #expect(run().exit == .clean)
    #expect(run("--strict").exit == .found)
    try write(Self.secret, to: "Sources/B.swift")
    let (exit, text, complaints) = run()
    #expect(exit == .found)
    #expect(text.contains("Sources/B.swift:1:12: error:"))
    #expect(complaints == "2 files: 1 error, 1 warning\n")
  }

  @Test func `paths begin at the working directory`() throws {
    try write(Self.secret, to: "Sources/B.swift")
    try write("let package = Package(name: \"A\")", to: "Package.swift")
    #expect(run("Sources").text.hasPrefix("Sources/B.swift:1:12"))
    #expect(run("Sources/B.swift").text.hasPrefix("Sources/B.swift:1:12"))
    #expect(run("Sources", "Package.swift").text.hasPrefix("Sources/B.swift:1:12"))
    #expect(run("Package.swift").exit == .clean)
  }

  /// A file alone doesn't show that its type is encoded elsewhere.
  @Test func `a file is read with its project`() throws {
    try write("let package = Package(name: \"A\")", to: "Package.swift")
    try write("enum Keys { static let login = \"password\" }", to: "Keys.swift")
    try write(
      "func a() { UserDefaults.standard.set(x, forKey: Keys.login) }", to: "Sources/B.swift")
    #expect(run("Sources/B.swift").exit == .found)
  }

  private func runAlone(_ words: [String]) -> (exit: LintCommand.Exit, complaints: String) {
    let command = LintCommand(
      directory: folder, print: { [output] in output.add($0) },
      complain: { [output] in output.complain($0) })
    return (command.run(words), output.take().complaints)
  }

  @Test(arguments: [
    ["--none"], ["--format", "xml"], ["--format"], ["--rules", "P99"], ["explain"],
    ["explain", "P99"], ["rules", "--since"],
  ])
  func `what isn't a command line is refused`(words: [String]) {
    let (exit, complaints) = runAlone(words)
    #expect(exit == .failed)
    #expect(complaints.hasPrefix("Error: "))
    #expect(complaints.contains("\nUsage: stead lint "))
  }

  @Test(arguments: [["missing.swift"], ["--since", "nowhere"], ["--baseline", "missing.json"]])
  func `what can't be read is reported`(words: [String]) {
    let (exit, complaints) = runAlone(words)
    #expect(exit == .failed)
    #expect(complaints.hasPrefix("stead lint: "))
  }

  /// Verbs may come after options. A folder that has a verb's name comes after `check`.
  @Test func `options may come first`() throws {
    try FileManager.default.createDirectory(
      at: folder.appending(path: "rules"), withIntermediateDirectories: false)
    try write("import UIKit\nfunc a() { try? modelContext.save() }", to: "rules/A.swift")
    #expect(run("--strict", "rules").text.split(separator: "\n").count == 30)
    #expect(run("--strict", "check", "rules").exit == .found)
    #expect(run("--strict", "--format=json", "check", "rules").text.hasPrefix("{"))
  }

  @Test(arguments: [["--help"], ["-h"], ["help"]])
  func `help lists options and verbs`(words: [String]) {
    let command = LintCommand(
      directory: folder, print: { [output] in output.add($0) },
      complain: { [output] in output.complain($0) })
    #expect(command.run(words) == .clean)
    let (text, complaints) = output.take()
    for part in [
      "USAGE: stead lint [<options>] [<path> ...]", "--write-baseline <file>", "explain",
    ] {
      #expect(text.contains(part), "\(part)")
    }
    #expect(complaints == "")
  }

  @Test func `rules are listed and explained`() {
    #expect(run("rules").text.split(separator: "\n").count == 30)
    let page = run("explain", "P04").text
    #expect(page.hasPrefix("P04 swallowed-decode-overwrites (warning)"))
    #expect(run("explain", "swallowed-decode-overwrites").text == page)
  }

  @Test func `fixes are made until none is left`() throws {
    try write("@Model class A { var photo: Data?; var pdf: Data? }", to: "Sources/A.swift")
    #expect(run("--fix").complaints == "2 fixes made.\n1 file: nothing found\n")
    #expect(
      try read("Sources/A.swift")
        == "@Model class A { @Attribute(.externalStorage) var photo: Data?; @Attribute(.externalStorage) var pdf: Data? }"
    )
    #expect(run("--fix").complaints.hasPrefix("0 fixes made."))
  }

  @Test func `a file that doesn't parse isn't edited`() throws {
    let source = "@Model class A { var photo: Data? }\nstruct {"
    try write(source, to: "Sources/A.swift")
    #expect(run("--fix").complaints.hasPrefix("0 fixes made."))
    #expect(try read("Sources/A.swift") == source)
  }

  @Test func `a baseline is written and used`() throws {
    try write(Self.secret, to: "Sources/B.swift")
    #expect(run("--write-baseline", ".stead-lint.json").exit == .clean)
    #expect(run().exit == .clean)
    #expect(run().complaints == "1 file: nothing found, 1 known\n")
  }

  @Test func `a report goes to a file`() throws {
    try write(Self.secret, to: "Sources/B.swift")
    #expect(run("--format", "sarif", "--output", "lint.sarif").text == "")
    #expect(try read("lint.sarif").contains("\"ruleId\" : \"P01\""))
  }

  // MARK: Since a revision

  private func git(_ words: String...) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments =
      ["git", "-C", folder.path, "-c", "user.name=A", "-c", "user.email=a@example.com"] + words
    process.standardOutput = Pipe()
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
  }

  @Test func `only changed lines are reported`() throws {
    try write(Self.secret + "\n", to: "Sources/B.swift")
    try git("init", "--quiet")
    try git("add", ".")
    try git("commit", "--quiet", "-m", "a")
    #expect(run("--since", "HEAD").text == "")
    try write(Self.secret + "\n" + Self.secret + "\n", to: "Sources/B.swift")
    try write(Self.secret, to: "Sources/Ä new.swift")
    let text = run("--since", "HEAD").text
    #expect(text.contains("Sources/B.swift:2:12: error"))
    #expect(text.contains("Sources/Ä new.swift:1:12: error"))
    #expect(!text.contains("Sources/B.swift:1:12"))
  }

  @Test func `fields that came since a revision are found`() throws {
    let save =
      "\nfunc save(_ a: [E]) throws { UserDefaults.standard.set(try JSONEncoder().encode(a), forKey: \"a\") }\n"
    try write("struct E: Codable {\n  var a: Int\n}" + save, to: "Sources/E.swift")
    try git("init", "--quiet")
    try git("add", ".")
    try git("commit", "--quiet", "-m", "a")
    try write("struct E: Codable {\n  var a: Int\n  var b: Int\n}" + save, to: "Sources/E.swift")
    #expect(run("--since", "HEAD").text.contains("Sources/E.swift:3:7: error"))
  }
}
