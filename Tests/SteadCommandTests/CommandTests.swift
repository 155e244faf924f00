#if Server
import Foundation
import Testing

/// `stead lint` and `stead advise` as processes: words, exit codes and streams are those of the libraries.
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

  private func run(_ words: String..., input: String = "") throws -> Outcome {
    let process = Process()
    process.executableURL = Bundle.main.bundleURL.appending(path: "stead")
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

  @Test func lintEndsAsItsLibraryDoes() throws {
    let found = try run("lint", "--no-cache")
    #expect(found.status == 1)
    #expect(found.output.hasPrefix("App.swift:1:23: error: “password” is a secret"))
    #expect(found.errors == "1 file: 1 error\n")
    #expect(try run("lint", "--no-cache", "--disable", "P01").status == 0)
    let refused = try run("lint", "--none")
    #expect(refused.status == 2 && refused.errors.hasPrefix("stead lint: --none isn't an option"))
  }

  @Test func rulesAreListedAndExplained() throws {
    #expect(try run("lint", "rules").output.split(separator: "\n").count == 30)
    let page = try run("lint", "explain", "P04")
    #expect(page.status == 0 && page.output.hasPrefix("P04 swallowed-decode-overwrites (warning)"))
    #expect(try run("lint", "explain", "P99").status == 2)
    #expect(try run("lint", "--help").output.hasPrefix("stead lint [PATH…]"))
  }

  // MARK: Advise

  @Test func advisesByQuestionsOfAPipe() throws {
    let answered = try run("advise", input: "secret\n40\n")
    #expect(answered.status == 0 && answered.errors == "")
    #expect(answered.output.contains("> secret\n"))
    #expect(answered.output.contains("Keep it in secrets (the keychain)."))
    let ended = try run("advise", input: "")
    #expect(ended.status == 2 && ended.errors.hasPrefix("The input ended.\nstead advise: "))
  }

  @Test func advisesByOptionsAndOnCode() throws {
    let json = try run("advise", "--kind", "payloads", "--count", "5000", "--json")
    let advice = try #require(
      try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
    #expect(advice["store"] as? String == "records")
    let code = try run("advise", "--from-code", ".")
    #expect(code.status == 1 && code.output.hasPrefix("MOVE   key \"password\"  App.swift:1\n"))
  }
}
#endif
