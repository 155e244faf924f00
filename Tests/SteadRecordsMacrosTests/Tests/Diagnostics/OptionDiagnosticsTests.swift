import SwiftSyntaxMacrosGenericTestSupport
import Testing

/// What `@Model` says of options that do not fit their property.
@Suite struct OptionDiagnosticsTests {
  @Test func `an array is no key`() {
    expectDiagnostics(
      [
        DiagnosticSpec(
          message: "'.unique' cannot be applied to 'tags': an array cannot be a key", line: 2,
          column: 14,
          fixIts: [FixItSpec(message: "remove '@Attribute(.unique)'")]),
        DiagnosticSpec(
          message: "'.unique' cannot be applied to 'more': an array cannot be a key", line: 3,
          column: 26,
          fixIts: [FixItSpec(message: "remove '.unique'")]),
      ],
      for: """
        @Model final class Task {
          @Attribute(.unique) var tags: [String]
          @Attribute(.spotlight, .unique) var more = ["a"]
          init() {}
        }
        """,
      fixed: """
        @Model final class Task {
          var tags: [String]
          @Attribute(.spotlight) var more = ["a"]
          init() {}
        }
        """)
  }

  @Test func `a number needs no file`() {
    expectDiagnostics(
      [
        DiagnosticSpec(
          message: "'.externalStorage' cannot be applied to 'count': "
            + "a 'Int' takes no more space than a reference to a file", line: 2, column: 14,
          fixIts: [FixItSpec(message: "remove '.externalStorage'")])
      ],
      for: """
        @Model final class Task {
          @Attribute(.externalStorage, originalName: "n") var count: Int
          init() {}
        }
        """,
      fixed: """
        @Model final class Task {
          @Attribute(originalName: "n") var count: Int
          init() {}
        }
        """)
  }

  @Test func `a value has no relationship`() {
    expectDiagnostics(
      [
        DiagnosticSpec(
          message: "'@Relationship' cannot be applied to 'title': 'String' is not a model", line: 2,
          column: 3, fixIts: [FixItSpec(message: "remove '@Relationship'")]),
        DiagnosticSpec(
          message: "'@Relationship' cannot be applied to 'dates': '[Date]' is not a model", line: 3,
          column: 3, fixIts: [FixItSpec(message: "remove '@Relationship(deleteRule: .cascade)'")]),
        DiagnosticSpec(
          message: "'@Relationship' cannot be applied to 'count': 'Int' is not a model", line: 4,
          column: 3, fixIts: [FixItSpec(message: "remove '@Relationship'")]),
      ],
      for: """
        @Model final class Task {
          @Relationship var title: String?
          @Relationship(deleteRule: .cascade) var dates: [Date] = []
          @Relationship var count = 1
          init() {}
        }
        """,
      fixed: """
        @Model final class Task {
          var title: String?
          var dates: [Date] = []
          var count = 1
          init() {}
        }
        """)
  }

  @Test func `a relationship is no constant`() {
    expectDiagnostics(
      [
        DiagnosticSpec(
          message: "relationship 'owner' must be declared with 'var': "
            + "deleting its destination changes it", line: 2, column: 17,
          fixIts: [FixItSpec(message: "replace 'let' with 'private(set) var'")])
      ],
      for: """
        @Model final class Task {
          @Relationship let owner: Person?
          init() {}
        }
        """,
      fixed: """
        @Model final class Task {
          @Relationship private(set) var owner: Person?
          init() {}
        }
        """)
  }

  /// Of two classes that do so the macro sees one; the compiler then reports a circular reference.
  @Test func `only one side names the inverse`() {
    expectDiagnostics(
      [
        DiagnosticSpec(
          message: "'parent' and 'children' name each other as inverse; only one side may", line: 3,
          column: 39, fixIts: [FixItSpec(message: #"remove 'inverse: \Node.parent'"#)])
      ],
      for: #"""
        @Model final class Node {
          @Relationship(inverse: \Node.children) var parent: Node?
          @Relationship(deleteRule: .cascade, inverse: \Node.parent) var children: [Node] = []
          init() {}
        }
        """#,
      fixed: #"""
        @Model final class Node {
          @Relationship(inverse: \Node.children) var parent: Node?
          @Relationship(deleteRule: .cascade) var children: [Node] = []
          init() {}
        }
        """#)
  }
}
