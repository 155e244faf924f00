import Foundation
import Testing

@testable import SteadAdvice

/// What the advice declares is compiled: `AdviceDeclarations` has the same text, a file for each store.
@Suite struct DeclarationTests {
  private let directory = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Support/AdviceDeclarations")

  private func text(of store: Store) -> String {
    guard store == .coreData else { return store.declaration + "\n" }
    let lines = store.declaration.split(separator: "\n", omittingEmptySubsequences: false)
    let indented = lines.map { $0.isEmpty ? "" : "  " + $0 }
    return (["#if canImport(CoreData)"] + indented + ["#endif\n"]).joined(separator: "\n")
  }

  private func check(_ text: String, named name: String) throws {
    let file = directory.appending(path: "\(name).swift")
    if ProcessInfo.processInfo.environment["STEAD_WRITE_DECLARATIONS"] != nil {
      try text.write(to: file, atomically: true, encoding: .utf8)
    }
    #expect(
      try String(contentsOf: file, encoding: .utf8) == text,
      "Run the tests once with STEAD_WRITE_DECLARATIONS=1, and build again.")
  }

  @Test(arguments: Store.allCases) func `is compiled`(store: Store) throws {
    try check(text(of: store), named: store.rawValue)
  }

  @Test(arguments: Move.all) func `moves are compiled`(move: Move) throws {
    try check(
      move.declaration + "\n", named: "move-\(move.from.rawValue)-to-\(move.to.rawValue)")
  }

  @Test(arguments: Refinement.declarations.keys.sorted())
  func `refinements are compiled`(name: String) throws {
    try check(try #require(Refinement.declarations[name]) + "\n", named: name)
  }

  /// A file that nothing writes any more would be compiled in vain.
  @Test func `each file is one of these`() throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
    let count = Store.allCases.count + Move.all.count + Refinement.declarations.count
    #expect(names.count == count)
  }
}
