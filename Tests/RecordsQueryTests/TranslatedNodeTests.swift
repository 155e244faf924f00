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
}
