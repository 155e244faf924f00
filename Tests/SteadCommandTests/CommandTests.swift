#if Server
import Foundation
import Testing

/// The programs as processes: their words, exit codes and streams.
final class CommandTests {
  private struct Outcome {
    let status: Int32
    let output: String
    let errors: String
  }

  private let folder: URL

  init() throws {
    folder =
      FileManager.default.temporaryDirectory.appending(path: "stead-" + UUID().uuidString)
      .standardizedFileURL
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let secret = #"func a(_ x: String) { UserDefaults.standard.set(x, forKey: "password") }"#
    try Data(secret.utf8).write(to: folder.appending(path: "App.swift"))
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private func run(
    _ words: [String], program: String = "stead", input: String = ""
  ) throws -> Outcome {
    let process = Process()
    process.executableURL = Bundle.main.bundleURL.appending(path: program)
    process.arguments = words
    process.currentDirectoryURL = folder
    let (given, output, errors) = (Pipe(), Pipe(), Pipe())
    (process.standardInput, process.standardOutput, process.standardError) = (given, output, errors)
    try process.run()
    try given.fileHandleForWriting.write(contentsOf: Data(input.utf8))
    try given.fileHandleForWriting.close()
    let text = output.fileHandleForReading.readDataToEndOfFile()
    let complaints = errors.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return Outcome(
      status: process.terminationStatus, output: String(decoding: text, as: UTF8.self),
      errors: String(decoding: complaints, as: UTF8.self))
  }

  // MARK: Lint

  @Test func `lint ends with what it found`() throws {
    let found = try run(["lint", "--no-cache"])
    #expect(found.status == 1)
    #expect(found.output.hasPrefix("App.swift:1:23: error: “password” is a secret"))
    #expect(found.errors == "1 file: 1 error\n")
    #expect(try run(["lint", "--no-cache", "--disable", "P01"]).status == 0)
    let missing = try run(["lint", "missing.swift"])
    #expect(missing.status == 2 && missing.errors.hasPrefix("stead lint: missing.swift doesn't"))
  }

  /// The parser's own code for this is 64.
  @Test(arguments: [
    ("stead", ["lint"]), ("stead", ["advise"]), ("stead", ["serve"]), ("stead-lint", []),
    ("stead-advise", []),
  ])
  func `an unknown option ends with two`(program: String, words: [String]) throws {
    let refused = try run(words + ["--nothing"], program: program)
    #expect(refused.status == 2)
    #expect(refused.errors.hasPrefix("Error: Unknown option '--nothing'"))
    #expect(refused.output == "")
  }

  @Test func `rules are listed and explained`() throws {
    #expect(try run(["lint", "rules"]).output.split(separator: "\n").count == 30)
    let page = try run(["lint", "explain", "P04"])
    #expect(page.status == 0 && page.output.hasPrefix("P04 swallowed-decode-overwrites (warning)"))
    #expect(try run(["lint", "explain", "P99"]).status == 2)
  }

  // MARK: Help

  @Test(arguments: [
    ("stead", ["lint"]), ("stead", ["advise"]), ("stead-lint", []), ("stead-advise", []),
  ])
  func `help is an option and a verb`(program: String, words: [String]) throws {
    let help = try run(words + ["--help"], program: program)
    let name = ([program] + words).joined(separator: " ")
    #expect(help.status == 0 && help.errors == "")
    #expect(help.output.hasPrefix("OVERVIEW: "))
    #expect(help.output.contains("USAGE: \(name) [<options>]"))
    #expect(help.output.contains("--cloudkit"))
    #expect(try run(words + ["help"], program: program).output == help.output)
  }

  @Test func `verbs have help of their own`() throws {
    let help = try run(["lint", "explain", "--help"]).output
    #expect(help.contains("USAGE: stead lint explain"))
    #expect(try run(["lint", "help", "explain"]).output == help)
    #expect(try run(["help", "lint", "explain"]).output == help)
  }

  @Test(arguments: ["stead", "stead-lint", "stead-advise"], ["bash", "zsh", "fish"])
  func `shells complete options`(program: String, shell: String) throws {
    let script = try run(["--generate-completion-script", shell], program: program)
    #expect(script.status == 0 && script.output.contains("cloudkit"))
  }

  /// Manuals are made of it.
  @Test(arguments: ["stead", "stead-lint", "stead-advise"])
  func `the help is dumped`(program: String) throws {
    let dump = try run(["--experimental-dump-help"], program: program).output
    let help = try #require(
      try JSONSerialization.jsonObject(with: Data(dump.utf8)) as? [String: Any])
    #expect((help["command"] as? [String: Any])?["commandName"] as? String == program)
  }

  // MARK: Advise

  @Test func `advises by questions of a pipe`() throws {
    let answered = try run(["advise"], input: "secret\n40\n")
    #expect(answered.status == 0 && answered.errors == "")
    #expect(answered.output.contains("> secret\n"))
    #expect(answered.output.contains("Keep it in secrets (the keychain)."))
    let ended = try run(["advise"], input: "")
    #expect(ended.status == 2 && ended.errors.hasPrefix("The input ended.\nstead advise: "))
  }

  @Test func `advises by options and on code`() throws {
    let json = try run(["advise", "--kind", "payloads", "--count", "5000", "--json"])
    let advice = try #require(
      try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
    #expect(advice["store"] as? String == "records")
    let code = try run(["advise", "--from-code", "."])
    #expect(code.status == 1 && code.output.hasPrefix("MOVE   key \"password\"  App.swift:1\n"))
  }
}
#endif
