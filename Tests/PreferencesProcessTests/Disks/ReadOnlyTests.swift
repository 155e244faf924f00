import Foundation
import SteadPreferences
import Testing

/// Where nothing can be written, what is there is read; a write is refused with an error that says so.
@Suite(.ownThread) struct ReadOnlyTests {
  enum Files: CaseIterable { case both, journal, propertyList, none }

  @Test(.needs(.smallDisk), arguments: Files.allCases)
  func `read-only disk`(files: Files) throws {
    let disk = try SmallDisk(byteCount: 1 << 20)
    let expected = try prepare(disk.directory.url, files)
    try disk.makeReadOnly()
    try check(disk.directory, expected, launcher: [])

    let preferences = try? Preferences(domain: "domain", directory: disk.directory.url)
    guard let preferences else {
      // With nothing to read there is nothing that could be opened.
      #expect(files == .none)
      return
    }
    for key in expected.keys { #expect(preferences.object(forKey: key) != nil) }
    #expect(throws: PreferencesError.self) {
      try preferences.setPropertyList(.integer(1), forKey: "new")
    }
  }

  /// A directory in which this user may not write: another user than the superuser, who always may.
  @Test(
    .needs(
      Requirement(
        otherUser != nil,
        orElse: "other users cannot run the worker: build in a directory that they can reach")),
    arguments: Files.allCases)
  func `directory of another user`(files: Files) throws {
    let launcher = try #require(otherUser)
    let directory = try TemporaryDirectory(inMemory: true)
    let expected = try prepare(directory.url, files)
    for name in try directory.names {
      try FileManager.default.setAttributes(
        [.posixPermissions: 0o444], ofItemAtPath: directory.file(name).filePath)
    }
    try setMode(0o555, directory)
    defer { try? setMode(0o755, directory) }
    try check(directory, expected, launcher: launcher)
  }

  @Test func `read-only mode writes nothing`() throws {
    let directory = try TemporaryDirectory(inMemory: true)
    let expected = try prepare(directory.url, .both)
    let before = try contents(directory)
    let preferences = try Preferences(
      domain: "domain", directory: directory.url, options: .init(isReadOnly: true))
    for key in expected.keys { #expect(preferences.object(forKey: key) != nil) }
    let error = #expect(throws: PreferencesError.self) {
      try preferences.setPropertyList(.integer(1), forKey: "new")
    }
    #expect(error?.code == .readOnly)
    preferences.removeObject(forKey: "checkpointed")
    #expect(preferences.lastError?.code == .readOnly)
    preferences.synchronize()
    for key in expected.keys { #expect(preferences.object(forKey: key) != nil) }
    #expect(try contents(directory) == before)

    // What others write is seen.
    let writer = try Worker(directory.url, ["follow"])
    #expect(writer.line() == "ready")
    writer.send("set other 5")
    #expect(writer.line() == "own other integer 5")
    #expect(preferences.integer(forKey: "other") == 5)
  }

  @Test func `read-only mode makes no files`() throws {
    let directory = try TemporaryDirectory(inMemory: true)
    let preferences = try? Preferences(
      domain: "domain", directory: directory.url, options: .init(isReadOnly: true))
    #expect(preferences?.object(forKey: "any") == nil)
    preferences?.set(1, forKey: "any")
    #expect(try directory.names == [])
  }

  /// Makes a domain with a checkpoint and later changes, of which these files are left.
  private func prepare(_ directory: URL, _ files: Files) throws -> [String: String] {
    let writer = try Worker(directory, ["follow"])
    for line in ["set checkpointed 1", "synchronize", "set later 2", "dump"] { writer.send(line) }
    writer.endInput()
    let lines = writer.rest()
    #expect(writer.finish() == 0)
    // A change may be told by the thread that is telling an earlier one, after what comes next.
    #expect(lines.contains("."), "\(lines)")
    if files == .journal || files == .none {
      try FileManager.default.removeItem(at: directory.file("domain.plist"))
    }
    if files == .propertyList || files == .none {
      try FileManager.default.removeItem(at: directory.file("domain.journal"))
    }
    switch files {
    case .both, .journal: return ["checkpointed": "integer 1", "later": "integer 2"]
    case .propertyList: return ["checkpointed": "integer 1"]
    case .none: return [:]
    }
  }

  /// Lets a process read what is there, and try to write.
  private func check(
    _ directory: TemporaryDirectory, _ expected: [String: String], launcher: [String]
  ) throws {
    let before = try contents(directory)
    var expected = expected
    let worker = try Worker(URL(filePath: "/"), ["inspect"], launcher: launcher)
    for _ in 0..<2 {
      let finding = try #require(Finding(directory.url, worker))
      #expect(finding.contents == expected)
      #expect(finding.errors.count == 1, "\(finding.errors)")
      // It is in memory alone, and counts until the process ends. Without files nothing was opened.
      if !expected.isEmpty { expected["inspected"] = "integer 1" }
    }
    worker.endInput()
    #expect(worker.finish() == 0)
    #expect(try contents(directory) == before)
  }

  private func contents(_ directory: TemporaryDirectory) throws -> [String: Data] {
    var result: [String: Data] = [:]
    for name in try directory.names {
      result[name] = try Data(contentsOf: directory.file(name))
    }
    return result
  }

  private func setMode(_ mode: Int, _ directory: TemporaryDirectory) throws {
    try FileManager.default.setAttributes(
      [.posixPermissions: mode], ofItemAtPath: directory.url.filePath)
  }
}

/// What to begin a command line with for a user who is not the superuser; nil when there is no way.
private let otherUser: [String]? = {
  guard getuid() == 0 else { return [] }
  let launcher = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
  let worker = try? Worker(URL(filePath: "/"), ["inspect"], launcher: launcher)
  worker?.endInput()
  return worker?.finish() == 0 ? launcher : nil
}()
