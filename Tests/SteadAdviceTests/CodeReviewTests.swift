import Foundation
import SteadAdviceCommand
import Synchronization
import Testing

/// What `--from-code` says of small programs.
struct CodeReviewTests {
  struct Item: Decodable, Equatable {
    struct Finding: Decodable, Equatable { let rule: String }
    struct Limit: Decodable, Equatable { let name: String }

    let kind: String
    let name: String
    let today: String
    let verdict: String
    let store: String
    let findings: [Finding]
    let limits: [Limit]
    let command: String
  }

  private struct Report: Decodable {
    let version: Int
    let items: [Item]
    let others: [String]
    let files: Int
  }

  private func run(_ source: String, _ words: String...) throws -> (
    exit: AdviceCommand.Exit, text: String
  ) {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "review-" + UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try Data(source.utf8).write(to: folder.appending(path: "App.swift"))
    let text = Output()
    let command = AdviceCommand(
      directory: folder, isTerminal: false, readLine: { nil }, print: { text.add($0) },
      complain: { text.add($0) })
    return (command.run(["--from-code", "."] + words), text.all)
  }

  private final class Output: Sendable {
    private let text = Mutex("")
    func add(_ more: String) { text.withLock { $0 += more } }
    var all: String { text.withLock { $0 } }
  }

  private func items(_ source: String) throws -> [Item] {
    try JSONDecoder().decode(Report.self, from: Data(run(source, "--json").text.utf8)).items
  }

  private func item(_ source: String) throws -> Item {
    let items = try items(source)
    #expect(items.count == 1)
    return try #require(items.first)
  }

  // MARK: Keys

  @Test func `a secret moves to the Keychain`() throws {
    let source = #"func keep(_ t: String) { UserDefaults.standard.set(t, forKey: "accessToken") }"#
    let item = try item(source)
    #expect(item.verdict == "move" && item.today == "preferences" && item.store == "secrets")
    #expect(item.findings.map(\.rule) == ["P01"])
    #expect(item.command == "stead advise --kind secret --today preferences")
    let (exit, text) = try run(source)
    #expect(exit == .found)
    #expect(text.contains("MOVE   key \"accessToken\"  App.swift:1\n"))
    #expect(
      text.contains("\n1 file keeps 1 thing: 1 to move, 0 to change, 0 fine where they are.\n"))
  }

  @Test func `a setting stays`() throws {
    let source = """
      struct SettingsView: View {
        @AppStorage("playsSounds") private var playsSounds = true
      }
      """
    let item = try item(source)
    #expect(item.verdict == "stay" && item.store == "preferences" && item.limits.isEmpty)
    #expect(try run(source).exit == .clean)
  }

  @Test func `a picture moves to a file`() throws {
    let item = try item(
      #"func keep(_ p: UIImage) { UserDefaults.standard.set(p.pngData(), forKey: "avatar") }"#)
    #expect(item.verdict == "move" && item.store == "file")
    #expect(item.findings.map(\.rule) == ["P08"])
    #expect(item.limits.map(\.name) == ["one preference value"])
  }

  private func listStore(_ body: String, load: String = "") -> String {
    """
    struct Generation: Codable { var prompt: String }
    final class HistoryStore {
      private(set) var items: [Generation] = []
      private let key = "generations"
      \(load)
      \(body)
      private func save() throws {
        UserDefaults.standard.set(try JSONEncoder().encode(items), forKey: key)
      }
    }
    """
  }

  @Test func `a list with a limit stays`() throws {
    let item = try item(
      listStore(
        """
        func add(_ new: Generation) throws {
          items.insert(new, at: 0)
          if items.count > 500 { items.removeLast(items.count - 500) }
          try save()
        }
        """))
    #expect(item.name == "generations" && item.verdict == "stay")
    #expect(item.command.contains("--kind payloads --count 500 --access whole"))
    #expect(item.limits.map(\.name).contains("entries of a payload history"))
  }

  @Test func `a constant is followed to the limit`() throws {
    let item = try item(
      listStore(
        "static let capacity = 400; func add(_ n: Generation) { items = Array(([n] + items).prefix(Self.capacity)) }"
      ))
    // A list that something else makes shorter isn't this one.
    #expect(!item.command.contains("--count"))
    let other = try self.item(
      listStore(
        "static let capacity = 400; func add(_ n: Generation) { items.append(n); items = Array(items.suffix(Self.capacity)) }"
      )
    )
    #expect(other.command.contains("--count 400"))
  }

  @Test func `a list without a limit gets one`() throws {
    let item = try item(listStore("func add(_ n: Generation) { items.append(n) }"))
    #expect(item.verdict == "change" && item.store == "payload-history")
    #expect(item.findings.map(\.rule) == ["P08"])
  }

  @Test func `a list that is searched or long moves to records`() throws {
    let searched = try item(
      listStore(
        """
        func add(_ n: Generation) { items.append(n) }
        func find(_ w: String) -> [Generation] { items.filter { $0.prompt == w } }
        """))
    #expect(searched.verdict == "move" && searched.store == "records")
    let long = try item(
      listStore("func add(_ n: Generation) { items.append(n); items = items.suffix(5_000) }"))
    #expect(long.verdict == "move" && long.store == "records")
    #expect(long.limits.first?.name == "entries of a payload history")
  }

  /// Lists that users edit are looked up everywhere, and stay short.
  @Test func `a list that is edited stays`() throws {
    let item = try item(
      listStore(
        """
        func change(_ n: Generation, at index: Int) { items[index] = n }
        func find(_ w: String) -> Generation? { items.first { $0.prompt == w } }
        """))
    #expect(item.verdict == "stay" && item.store == "preferences")
    #expect(item.limits.map(\.name) == ["one preference value"])
    let edited = try self.item(
      listStore(
        """
        func add(_ n: Generation) { items.append(n) }
        func remove(at index: Int) { items.remove(at: index) }
        """))
    #expect(edited.verdict == "stay" && edited.store == "preferences")
  }

  @Test func `a load that swallows its error is mended`() throws {
    let item = try item(
      listStore(
        "func trim() { items = items.suffix(100) }",
        load: """
          func load() {
            let data = UserDefaults.standard.data(forKey: key) ?? Data()
            items = (try? JSONDecoder().decode([Generation].self, from: data)) ?? []
          }
          """))
    #expect(item.verdict == "change" && item.findings.map(\.rule).contains("P04"))
  }

  @Test func `cloud values have their own limit`() throws {
    let item = try item(
      #"func keep() { NSUbiquitousKeyValueStore.default.set("dark", forKey: "theme") }"#)
    #expect(item.kind == "cloud-value" && item.verdict == "stay")
    #expect(item.limits.map(\.name) == ["all values of a key-value sync"])
  }

  // MARK: The keychain

  private static let keychain = """
    func keep(_ data: Data) {
      let query: [CFString: Any] = [
        kSecClass: kSecClassGenericPassword, kSecAttrService: "com.example.app",
        kSecAttrAccount: "token", kSecValueData: data,
      ]
      SecItemDelete(query as CFDictionary)
      SecItemAdd(query as CFDictionary, nil)
    }
    """

  @Test func `an item of the Keychain is mended`() throws {
    let item = try item(Self.keychain)
    #expect(item.kind == "secret" && item.name == "com.example.app/token")
    #expect(item.verdict == "change" && item.store == "secrets")
    #expect(Set(item.findings.map(\.rule)) == ["P26", "P28"])
    let text = try run(Self.keychain).text
    for line in [
      "CHANGE secret com.example.app/token  App.swift:3\n",
      "  today    generic password in the keychain, service com.example.app, account token, no accessibility, written in 1 place\n",
      "  because  P28, line 7: ", "  note     SecItem functions exist only on Apple's systems",
    ] {
      #expect(text.contains(line), "\(line)")
    }
  }

  @Test func `an item that is handled well stays`() throws {
    let item = try item(
      """
      func keep(_ data: Data) -> OSStatus {
        let query: [CFString: Any] = [
          kSecClass: kSecClassGenericPassword, kSecAttrService: "com.example.app",
          kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlock, kSecValueData: data,
        ]
        let status = SecItemAdd(query as CFDictionary, nil)
        return status == errSecDuplicateItem ? SecItemUpdate(query as CFDictionary, query as CFDictionary) : status
      }
      """)
    #expect(item.verdict == "stay" && item.findings.isEmpty)
  }

  // MARK: Models

  @Test func `pictures of a model go outside of the row`() throws {
    let inRow = try item("@Model class Person { var name = \"\"; var photo: Data? }")
    #expect(inRow.verdict == "change" && inRow.findings.map(\.rule) == ["P14"])
    #expect(inRow.limits.map(\.name) == ["one value of a record"])
    let outside = try item(
      "@Model class Person { @Attribute(.externalStorage) var photo: Data? }")
    #expect(outside.verdict == "stay" && outside.today == "records-with-files")
  }

  @Test func `Core Data may stay`() throws {
    let item = try item("class Person: NSManagedObject { @NSManaged var name: String }")
    #expect(item.kind == "managed-object" && item.verdict == "stay" && item.store == "core-data")
  }

  // MARK: Files

  @Test func `files are judged by their directory`() throws {
    let items = try items(
      """
      final class Files {
        var drawings: URL { URL.documentsDirectory.appending(path: "drawings") }
        let thumbnails = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask)
        func keep(_ data: Data) throws {
          try data.write(to: drawings.appending(path: "a"), options: .atomic)
          let small = thumbnails[0].appending(path: "a")
          try data.write(to: small, options: .atomic)
          try data.write(to: URL.temporaryDirectory.appending(path: "b"), options: .atomic)
        }
      }
      """)
    #expect(items.map(\.today) == ["file", "disk-cache", "temporary-file"])
    #expect(items.map(\.verdict) == ["stay", "stay", "stay"])
  }

  @Test func `a torn write is mended`() throws {
    let item = try item(
      "func keep(_ a: [Int], in url: URL) throws { try JSONEncoder().encode(a).write(to: url) }")
    #expect(item.kind == "file" && item.verdict == "change")
    #expect(item.findings.map(\.rule) == ["P24"])
  }

  // MARK: The rest

  @Test func `tests and previews keep nothing`() throws {
    #expect(
      try items(
        """
        #Preview { let a = UserDefaults.standard.set(1, forKey: "a"); return Text("") }
        """
      ).isEmpty)
    #expect(
      try items("import XCTest\nfunc a() { UserDefaults.standard.set(1, forKey: \"a\") }").isEmpty)
  }

  @Test func `what is about no item is named besides`() throws {
    let (exit, text) = try run("import UIKit\nfunc a() { try? modelContext.save() }")
    #expect(exit == .clean)
    #expect(text.hasPrefix("Other findings\n  App.swift:2: P22 A failed save"))
  }

  @Test func `the tour of the linter is judged whole`() throws {
    let tour = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Examples/LintTour")
    let text = Output()
    let command = AdviceCommand(
      directory: tour.deletingLastPathComponent(), isTerminal: false, readLine: { nil },
      print: { text.add($0) }, complain: { _ in })
    #expect(command.run(["--from-code", "LintTour"]) == .found)
    #expect(text.all.contains("key \"openAIAPIKey\"  LintTour/P01.swift:4"))
    #expect(text.all.contains("model Person  LintTour/P14.swift:4"))
  }
}
