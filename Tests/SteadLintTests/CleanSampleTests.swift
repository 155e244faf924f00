import Foundation
import SteadLint
import Testing

/// Short files as apps have them, in which nothing is wrong: a folder in Clean/ is a project.
struct CleanSampleTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(
    path: "Clean")

  static let projects =
    (try? FileManager.default.contentsOfDirectory(atPath: root.path))?.sorted() ?? []

  @Test(arguments: projects)
  func `finds nothing`(project: String) throws {
    // The path above the project has a folder `Tests`, which says nothing of the project itself.
    let report = try Linter(root: Self.root.appending(path: project)).run()
    #expect(try report.formatted(as: .text) == "")
    #expect(report.fileCount > 3)
  }

  @Test func `has many files`() throws {
    let counts = try Self.projects.map {
      try Linter(root: Self.root.appending(path: $0)).run().fileCount
    }
    #expect(counts.reduce(0, +) >= 60)
  }
}
