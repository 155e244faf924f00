import Foundation
import SteadLint
import SteadTestSupport
import Testing

/// What fixes write compiles: with Foundation alone, or with this package's SwiftData and its macros.
struct FixCompilationTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let rule: String
    /// How many fixes are made.
    let count: Int
    let source: String
    /// A module of Apple's that the rule asks for; it's built empty.
    var appleModule: String?
    var needsModels: Bool { source.contains("import SwiftData") }
    var testDescription: String { rule }
  }

  static let cases = [
    Case(
      rule: "P24", count: 2,
      source: """
        import Foundation
        func save(_ items: [String], to url: URL) throws {
          try JSONEncoder().encode(items).write(to: url)
        }
        func keep(_ items: [String], in file: URL) throws {
          let data = try JSONEncoder().encode(items)
          try data.write(to: file)
        }
        """),
    Case(
      rule: "P09", count: 2,
      source: """
        import Foundation
        enum SettingsKey { static let didOnboard = "didOnboard" }
        func finish(_ defaults: UserDefaults) -> Bool {
          defaults.set(true, forKey: "didOnboard")
          return defaults.bool(forKey: "didOnboard")
        }
        """),
    Case(
      rule: "P11", count: 3,
      source: """
        import Foundation
        import UIKit
        final class Launches {
          private let userDefaults = UserDefaults.standard
          func count() {
            userDefaults.set(userDefaults.integer(forKey: "launches") + 1, forKey: "launches")
            userDefaults.synchronize()
          }
          func reset(shared defaults: UserDefaults?) {
            defaults?.removeObject(forKey: "launches")
            defaults?.synchronize()
            print("reset")
            _ = UserDefaults.standard.synchronize()
          }
        }
        """, appleModule: "UIKit"),
    Case(
      rule: "P14", count: 5,
      source: """
        import Foundation
        import SwiftData
        @Model final class Person {
          var name = ""
          var photo: Data?
          public var thumbnailData: Data
          private var audio = Data()
          @Attribute(originalName: "picture") var image: Data?
          @Attribute(originalName: "paper") private(set) var pdf: Data = Data()
          init(thumbnailData: Data) { self.thumbnailData = thumbnailData }
        }
        """),
    Case(
      rule: "P16", count: 12,
      source: """
        import Foundation
        import SwiftData
        @Model final class Note {
          var title: String
          var isDone: Bool
          var count: Int
          var small: Int16
          var share: Double
          var price: Decimal
          var date: Date
          @Attribute(originalName: "key") var identifier: UUID
          var bytes: Data
          var tags: [String]
          var ratings: [String: Int]
          var duration: TimeInterval // in seconds
          var comment: String?
          init(title: String) { self.title = title }
        }
        func container() throws -> ModelContainer { try ModelContainer(for: Note.self) }
        """),
    Case(
      rule: "P17", count: 3,
      source: #"""
        import SwiftData
        @Model final class Album {
          @Relationship(deleteRule: .cascade, inverse: \Song.album) var songs: [Song] = []
          @Relationship(inverse: \Cover.album) var cover: Cover?
          @Relationship(inverse: \Tag.albums) var tags: [Tag] = []
          init() {}
        }
        @Model final class Song {
          @Relationship(deleteRule: .nullify, inverse: \Album.songs) var album: Album?
          init() {}
        }
        @Model final class Cover {
          @Relationship(inverse: \Album.cover, originalName: "record") var album: Album?
          init() {}
        }
        @Model final class Tag {
          @Relationship(inverse: \Album.tags) var albums: [Album] = []
          init() {}
        }
        """#),
    Case(
      rule: "P23", count: 3,
      source: """
        import Foundation
        import SwiftData
        @Model final class Item {
          var name = ""
          init() {}
        }
        func counts(_ modelContext: ModelContext) throws -> [Int] {
          let descriptor = FetchDescriptor<Item>(predicate: #Predicate { $0.name == "a" })
          let one = try modelContext.fetch(descriptor).count
          let other = (try? modelContext.fetch(FetchDescriptor<Item>()).count) ?? 0
          return [one, other, try modelContext.fetch(FetchDescriptor<Item>()).count + 1]
        }
        """),
  ]

  @Test(arguments: cases)
  func `fixed source compiles`(example: Case) throws {
    let sources = ["A.swift": example.source, "App.entitlements": Lists.cloudKit]
    let report = try Linter(root: URL(filePath: "/")).run(sources: sources).filtered {
      $0.ruleID == example.rule
    }
    let (fixed, count) = report.fixed(example.source, path: "A.swift")
    #expect(count == example.count, "\(fixed)")
    let (status, output) = try check(fixed, of: example)
    #expect(status == 0, "\(output)\n\(fixed)")
  }

  @Test func `every rule with a fix is compiled`() {
    #expect(Set(Self.cases.map(\.rule)) == Set(Rule.all.filter(\.isFixable).map(\.id)))
  }

  /// A compiler that finds no module, or no macro, says so.
  @Test func `what doesn't compile is seen`() throws {
    let source = "import SwiftData\n@Model final class A { var b: Missing; init() {} }"
    let (status, output) = try check(source, of: Case(rule: "", count: 0, source: source))
    #expect(status != 0 && output.contains("Missing") && !output.contains("no such module"))
  }

  // MARK: The compiler

  private func check(_ source: String, of example: Case) throws -> (status: Int32, output: String) {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "fixed-" + UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "A.swift")
    try Data(source.utf8).write(to: file)
    var options = ["-swift-version", "6", "-I", folder.path]
    if let module = example.appleModule {
      let empty = folder.appending(path: "\(module).swift")
      try Data().write(to: empty)
      let made = try SwiftCompiler.run(
        [
          "-emit-module", "-module-name", module, "-o",
          folder.appending(path: module + ".swiftmodule").path,
          empty.path,
        ], in: folder)
      #expect(made.status == 0, "\(made.output)")
    }
    if example.needsModels { options += try SwiftCompiler.modelOptions() }
    return try SwiftCompiler.run(["-typecheck"] + options + [file.path], in: folder)
  }
}
