import Foundation
import SteadLint
import Testing

/// Which code counts as shipped: neither previews and what is made for them, nor tests.
struct PreviewTests {
  private static let save = "func f() { try? context.save() }"

  private func isShipped(_ source: String, path: String = "Sources/App/File.swift") throws -> Bool {
    let report = try Linter(root: URL(filePath: "/")).run(sources: [path: source])
    #expect(report.findings.allSatisfy { $0.ruleID == "P22" }, "\(source)")
    return !report.findings.isEmpty
  }

  @Test(arguments: [
    "#Preview { try? context.save() }",
    "#Preview(\"Dark\", traits: .sizeThatFitsLayout) { try? context.save() }",
    "struct List_Previews: PreviewProvider { \(save) }",
    "struct Books: SwiftUI.PreviewProvider { \(save) }",
    "struct Trips: PreviewModifier { \(save) }",
    "extension Books: PreviewProvider { \(save) }",
    "enum PreviewData { \(save) }",
    "struct PreviewSampleData { \(save) }",
    "final class SampleData { \(save) }",
    "struct Preview { \(save) }",
    "@MainActor struct Previewer: Sendable { \(save) }",
    "class MockStore: Store { \(save) }",
    "func makePreviewContainer() { try? context.save() }",
    "let previewContainer = { try? context.save() }()",
    "extension Store { static var preview: Store { try? context.save(); return Store() } }",
    "extension Store { static let samples = { try? context.save() }() }",
  ])
  func `what is made for previews is not shipped`(source: String) throws {
    #expect(try !isShipped(source))
  }

  @Test(arguments: [
    "final class LinkPreviewCache { \(save) }",
    "final class PreviewCache { \(save) }",
    "struct PreviewSettingsView: View { \(save) }",
    "struct Preview: View { \(save) }",
    "class PreviewViewController: QLPreviewingController { \(save) }",
    "class PreviewProvider: QLPreviewProvider { \(save) }",
    "class FilePreviewDataSource { \(save) }",
    "struct AudioSample { \(save) }",
    "final class SampleRateStore { \(save) }",
    "func previewImage() { try? context.save() }",
    "func setSampleRate() { try? context.save() }",
    "struct A { var preview: Int { try? context.save(); return 1 } }",
    "struct A { var samples: Int { try? context.save(); return 1 } }",
    "struct A { var previewURL: Int { try? context.save(); return 1 } }",
    "class Mockup { \(save) }",
  ])
  func `what only sounds like a preview is shipped`(source: String) throws {
    #expect(try isShipped(source))
  }

  @Test(arguments: [
    ("App/Preview Content/Data.swift", false), ("App/PreviewContent/Books.swift", false),
    ("App/Models/Book+Preview.swift", false), ("App/PreviewData.swift", false),
    ("App/Previews/LinkPreview.swift", true), ("App/PreviewPane.swift", true),
    ("App/Book+PreviewImage.swift", true), ("AppTests/A.swift", false),
    ("App/UnitTests/Deep/A.swift", false), ("App/LoadTests.swift", true),
    ("App/TestsOfSkill/A.swift", true),
  ])
  func `files are known by their path`(path: String, isShipped: Bool) throws {
    #expect(try self.isShipped(Self.save, path: path) == isShipped)
  }

  @Test(arguments: ["XCTest", "Testing", "Quick", "Nimble"])
  func `a framework of tests makes a test`(framework: String) throws {
    #expect(try !isShipped("import \(framework)\n\(Self.save)"))
    #expect(try isShipped("import \(framework)Kit\n\(Self.save)"))
  }

  @Test func `a manifest names targets of tests`() throws {
    let manifest = """
      let package = Package(targets: [
        .target(name: "App"), .testTarget(name: "Checks", path: "Checks"), .testTarget(name: "More"),
      ])
      """
    for (path, isShipped) in [
      ("Checks/A.swift", false), ("Tests/More/A.swift", false), ("Sources/App/A.swift", true),
    ] {
      let report = try Linter(root: URL(filePath: "/")).run(sources: [
        "Package.swift": manifest, path: Self.save,
      ])
      #expect(report.findings.isEmpty != isShipped, "\(path)")
    }
  }
}
