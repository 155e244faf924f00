import Testing

@testable import ExampleSupport

@Suite struct ShownSourceTests {
  private let source = """
    try report.show("count") { try context.fetchCount(books) } giving: { "\\($0)" }
    try report.show("loop") {
      for book in books {
        book.title = "x"
      }
    } giving: {
      "\\($0)"
    }
    """.split(separator: "\n", omittingEmptySubsequences: false)

  @Test(arguments: [
    (1, ["try context.fetchCount(books)"]),
    (2, ["for book in books {", "  book.title = \"x\"", "}"]),
    (9, []),
  ])
  func `shows the first closure of a call`(line: Int, shown: [String]) {
    #expect(ShownSource.closure(in: source, callLine: line) == shown)
  }

  @Test func `shows nothing without the file`() {
    #expect(ShownSource.closure(in: ShownSource.lines(of: "/nowhere.swift"), callLine: 1) == [])
  }
}
