import Foundation
import SteadLint
import Testing

/// What a survey sees of the things that a project keeps.
struct SurveyTests {
  private func survey(_ files: [String: String]) throws -> Survey {
    try Linter(root: URL(filePath: "/")).survey(sources: files)
  }

  private func item(_ source: String) throws -> KeptItem {
    let items = try survey(["App.swift": source]).items
    #expect(items.count == 1, "\(items)")
    return try #require(items.first)
  }

  @Test func `a key is one item through its constant and its files`() throws {
    let survey = try survey([
      "Keys.swift": "enum Keys { static let theme = \"theme\" }",
      "A.swift": "func a(_ d: UserDefaults) { d.set(1, forKey: Keys.theme) }",
      "B.swift": "func b(_ d: UserDefaults) -> Int { d.integer(forKey: \"theme\") }",
    ])
    let item = try #require(survey.items.first)
    #expect(survey.items.count == 1 && item.name == "theme" && item.type == "Int")
    #expect(item.kind == .preference && item.form == .plain)
    #expect(item.writeCount == 1 && item.readCount == 1)
    #expect(item.places.map(\.path) == ["A.swift", "B.swift"])
    #expect(survey.findings(about: item).map(\.ruleID) == ["P09"])
    #expect(survey.otherFindings.isEmpty)
  }

  @Test func `a key that is made at run time is an expression`() throws {
    let made = try item("func a(_ d: UserDefaults, n: Int) { d.set(1, forKey: keys[n]) }")
    #expect(made.name == "keys[n]" && !made.isNameKnown)
    #expect(try item("func a(_ d: UserDefaults) { d.set(1, forKey: \"a\") }").isNameKnown)
  }

  @Test(arguments: [
    ("if items.count > 500 { items.removeLast() }", 500),
    ("if items.count >= 1_000 { items.removeLast() }", 1_000),
    ("items = Array(items.prefix(20))", 20), ("items = items.suffix(Self.most)", 30),
    ("if items.count > 0 { print(items) }", nil), ("", nil), ("items = items.suffix(most())", nil),
  ])
  func `the limit of a list is read from its type`(line: String, limit: Int?) throws {
    let item = try item(
      """
      final class Store {
        static let most = 30
        var items: [Entry] = []
        func add(_ entry: Entry) throws {
          items.append(entry)
          \(line)
          UserDefaults.standard.set(try JSONEncoder().encode(items), forKey: "entries")
        }
      }
      """)
    #expect(item.form == .encodedList && item.type == "[Entry]")
    #expect(item.limit == limit)
  }

  @Test(arguments: [
    ("URL.documentsDirectory.appending(path: \"a\")", "documents", false),
    ("FileManager.default.temporaryDirectory.appending(path: \"a\")", "temporary", true),
    ("folder.appending(path: \"a\")", "application support", false),
    ("file", "caches", true), ("other", nil, false),
  ])
  func `the directory of a file is followed`(
    target: String, directory: String?, isFleeting: Bool
  ) throws {
    let item = try item(
      """
      final class Files {
        let folder = URL.applicationSupportDirectory
        var caches: URL { URL.cachesDirectory }
        var file: URL { caches.appending(path: "a") }
        func write(_ data: Data, other: URL) throws { try data.write(to: \(target)) }
      }
      """)
    #expect(item.kind == .file && item.directory == directory && item.isFleeting == isFleeting)
    #expect(item.writeCount == 1)
  }

  @Test func `ways of writing a file are known`() throws {
    let items = try survey([
      "App.swift": """
      func a(_ d: Data, _ t: String, url: URL, path: String) throws {
        try t.write(to: url, atomically: true, encoding: .utf8)
        FileManager.default.createFile(atPath: path, contents: d)
        try AtomicFile(third).replace(with: d)
        print("x", to: &output)
        text.write(to: &output)
        FileManager.default.createFile(atPath: "empty", contents: nil)
      }
      """
    ]).items
    #expect(items.map(\.name) == ["url", "path", "third"])
  }

  /// `createFile` was recognised and then not looked at, so such a file was two items.
  @Test func `a file that is written by its path is one item`() throws {
    let item = try item(
      """
      struct Files {
        let url: URL
        func load() throws -> [Note] { try JSONDecoder().decode([Note].self, from: Data(contentsOf: url)) }
        func save(_ notes: [Note]) throws {
          let data = try JSONEncoder().encode(notes)
          FileManager.default.createFile(atPath: url.path, contents: data)
        }
      }
      """)
    #expect(item.name == "url" && item.form == .encodedList)
    #expect(item.readCount == 1 && item.writeCount == 1)
  }

  @Test func `media is known by its name or its encoder`() throws {
    #expect(
      try item("func a(_ p: UIImage) throws { try p.pngData()?.write(to: url) }").form == .media)
    #expect(
      try item("func a(_ d: Data) throws { try d.write(to: folder.appending(path: \"a.mp4\")) }")
        .form == .media)
    #expect(try item("func a(_ d: Data) throws { try d.write(to: url) }").form == .plain)
  }

  @Test func `a model has its shape`() throws {
    let survey = try survey([
      "App.swift": """
      @Model class Album {
        var title = ""
        var cover: Data?
        @Attribute(.externalStorage) var booklet: Data?
        var songs: [Song] = []
        var isLong: Bool { songs.count > 20 }
      }
      @Model class Song { var album: Album? }
      """
    ])
    let shape = try #require(survey.items.first?.shape)
    #expect(survey.items.map(\.name) == ["Album", "Song"])
    #expect(shape.propertyCount == 4 && shape.relationshipCount == 1)
    #expect(shape.inlineData == ["cover"] && shape.externalData == ["booklet"])
  }

  @Test func `paths begin where they are asked to`() throws {
    let survey = try survey([
      "App.swift": "func a() { UserDefaults.standard.set(x, forKey: \"password\") }"
    ])
    .prefixed(with: "Sources/")
    let item = try #require(survey.items.first)
    #expect(item.places.first?.path == "Sources/App.swift")
    #expect(survey.findings(about: item).map(\.ruleID) == ["P01"])
  }

  /// Facts of files come from the cache as they were written into it.
  @Test func `a survey uses the cache of a run`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "survey-" + UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try Data("func a(_ d: Data) throws { try d.write(to: URL.cachesDirectory) }".utf8).write(
      to: folder.appending(path: "A.swift"))
    var linter = Linter(root: folder)
    linter.cacheFile = folder.appending(path: "cache")
    let first = try linter.survey()
    let second = try linter.survey()
    #expect(first.report.parsedCount == 1 && second.report.parsedCount == 0)
    #expect(first.items == second.items && second.items.first?.directory == "caches")
  }
}
