import ExampleTestSupport
import Foundation
import Testing

/// The program that `Scripts/new-app` copies.
@Suite struct StarterTests {
  @Test func `keeps a setting, a note and a secret from run to run`() throws {
    let workshop = try Workshop()
    let starter = try Workshop.program("starter")
    let first = "Run 1\nNotes: Run 1\nToken: 36 characters\n"
    #expect(try workshop.succeed(starter) == first)
    #expect(try workshop.succeed(starter) == "Run 2\nNotes: Run 2, Run 1\nToken: 36 characters\n")
  }
}

/// `Scripts/new-app`. That its package builds is seen by `Scripts/check-claims`.
@Suite struct NewAppTests {
  private let root = URL(filePath: #filePath).deletingLastPathComponent().appending(
    path: "../../../.."
  )
  .standardizedFileURL

  private var script: String { root.appending(path: "Scripts/new-app").path }

  @Test func `copies the starter under its name`() throws {
    let workshop = try Workshop()
    let output = try workshop.succeed(script, "my-notes")
    #expect(output.contains("swift run --package-path my-notes"))
    let made = workshop.file("my-notes/Sources/my-notes")
    let starter = root.appending(path: "Examples/Sources/starter")
    let names = try FileManager.default.contentsOfDirectory(atPath: starter.path).sorted()
    #expect(try FileManager.default.contentsOfDirectory(atPath: made.path).sorted() == names)
    for name in names {
      let source = try String(contentsOf: starter.appending(path: name), encoding: .utf8)
      let copy = try String(contentsOf: made.appending(path: name), encoding: .utf8)
      #expect(copy == source.replacing("\"starter\"", with: "\"my-notes\""))
    }
  }

  @Test func `makes a manifest that the package manager reads`() throws {
    let workshop = try Workshop()
    try workshop.succeed(script, "notes", "elsewhere", "--url", "https://example.org/stead")
    let description = try workshop.succeed(
      "swift", "package", "--package-path", "elsewhere", "dump-package")
    for text in ["https://example.org/stead", "SteadSwiftData", "\"Secrets\"", "\"notes\""] {
      #expect(description.contains(text), "\(text)")
    }
  }

  @Test(arguments: ["", "1st", "a/b", "-x", "swift", "$(id)"])
  func `refuses a name that no package can have`(name: String) throws {
    let workshop = try Workshop()
    let end = try workshop.run([script, name])
    #expect(end.status == 1)
    #expect(end.errors.contains("letter"))
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: workshop.directory.path) == ["home"])
  }

  @Test func `leaves a folder that is there as it is`() throws {
    let workshop = try Workshop()
    try FileManager.default.createDirectory(
      at: workshop.file("notes"), withIntermediateDirectories: false)
    let end = try workshop.run([script, "notes"])
    #expect(end.status == 1)
    #expect(end.errors.contains("exists"))
  }
}
