import Foundation
import Testing

@testable import SteadRecords

/// A program that linked the library through a static archive lost every conformance to `SQLTranslatable`, since nothing
/// referred to them: its predicates ran in memory without a word.
struct TranslatedNodeTests {
  @Test func `each node in the table is found by its conformance`() {
    for type in TranslatedNodes.all {
      #expect((type as any Any.Type) is any SQLTranslatable.Type, "\(type)")
    }
    let names = Set(TranslatedNodes.all.map { "\($0)".prefix { $0 != "<" } })
    #expect(names.count == TranslatedNodes.all.count)
  }

  /// A conformance that the table lacks is found in this program, and lost in one that links an archive. So the sources are
  /// asked, not the program.
  @Test func `the table has each node that the sources make conform`() throws {
    var directory = URL(filePath: #filePath)
    for _ in 0..<3 { directory.deleteLastPathComponent() }
    directory.append(path: "Sources/SteadRecords/Query/Operators")
    var declared: Set<String> = []
    for file in try FileManager.default.contentsOfDirectory(
      at: directory, includingPropertiesForKeys: nil)
    {
      let source = try String(contentsOf: file, encoding: .utf8)
      for match in source.matches(of: /extension PredicateExpressions\.(\w+): SQLTranslatable/) {
        declared.insert(String(match.1))
      }
    }
    #expect(declared.count > 30)
    #expect(declared == Set(TranslatedNodes.all.map { String("\($0)".prefix { $0 != "<" }) }))
  }
}
