import SwiftSyntaxMacrosGenericTestSupport
import Testing

// The compiler said of a typo in `#Index` that an array has the wrong type, and of a computed property
// nothing at all.

/// What `@Model` says of `#Unique` and `#Index`.
@Suite struct ConstraintDiagnosticsTests {
  private func expect(
    _ refused: [(name: String, line: Int, column: Int)], macro: String, in members: String,
    head: String = "class Task", sourceLine: UInt = #line
  ) {
    expectDiagnostics(
      refused.map {
        DiagnosticSpec(
          message: "'#\(macro)' can only name stored properties of its class, "
            + "and '\($0.name)' isn't one",
          line: $0.line, column: $0.column)
      },
      for: "@Model \(head) {\n\(members)\ninit() {}\n}", line: sourceLine)
  }

  @Test func `a typo is named`() {
    expect(
      [("titel", 2, 15), ("nn", 3, 23)], macro: "Index",
      in: "#Index<Task>([\\.titel])\n#Index<Task>(.binary([\\.nn]))\nvar title = 1")
  }

  @Test func `computed and transient properties are refused`() {
    expect(
      [("sum", 2, 25), ("temporary", 2, 32)], macro: "Unique",
      in: "#Unique<Task>([\\.title, \\.sum, \\.temporary])\nvar title = 1\nvar sum: Int { 1 }\n"
        + "@Transient var temporary = 1")
  }

  @Test func `stored and inherited properties pass`() {
    expect(
      [], macro: "Index",
      in: "#Index<Task>([\\.title, \\.inherited])\n#Unique<Task>([\\.`default`])\n"
        + "var title = 1\nvar `default` = 1",
      head: "class Task: Item")
  }
}
