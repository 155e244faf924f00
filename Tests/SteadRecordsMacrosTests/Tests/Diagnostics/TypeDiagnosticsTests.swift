import SwiftSyntaxMacrosGenericTestSupport
import Testing

/// What the macros say of types that they cannot take.
@Suite struct TypeDiagnosticsTests {
  @Test func `a struct becomes a class`() {
    expectDiagnostics(
      [
        DiagnosticSpec(
          message: "'@Model' cannot be applied to struct type 'Task'", line: 1, column: 15,
          fixIts: [FixItSpec(message: "replace 'struct' with 'final class'")])
      ],
      for: """
        @Model public struct Task {
        }
        """,
      fixed: """
        @Model public final class Task {
        }
        """)
  }

  @Test func `an enum cannot become anything else`() {
    expectDiagnostics(
      [
        DiagnosticSpec(
          message: "'@Model' cannot be applied to enum type 'Task'", line: 1, column: 8)
      ],
      for: "@Model enum Task { case a }")
  }

  @Test func `an actor becomes a class`() {
    expectDiagnostics(
      [
        DiagnosticSpec(
          message: "'@Model' cannot be applied to actor type 'Task'", line: 1, column: 8,
          fixIts: [FixItSpec(message: "replace 'actor' with 'final class'")])
      ],
      for: "@Model actor Task {}", fixed: "@Model final class Task {}")
  }

  @Test func `a model actor must be an actor`() {
    expectDiagnostics(
      [
        DiagnosticSpec(
          message: "'@ModelActor' cannot be applied to class type 'Worker'", line: 1, column: 20,
          fixIts: [FixItSpec(message: "replace 'class' with 'actor'")])
      ],
      for: "@ModelActor public class Worker {}", fixed: "@ModelActor public actor Worker {}")
  }

  @Test func `a generic class has no entity`() {
    expectDiagnostics(
      [
        DiagnosticSpec(
          message: "'@Model' cannot be applied to generic class 'Box': "
            + "an entity has one set of columns", line: 1, column: 23)
      ],
      for: """
        @Model final class Box<Value> {
          init() {}
        }
        """)
  }

  @Test func `a missing initializer is written`() {
    expectDiagnostics(
      [
        DiagnosticSpec(
          message: "@Model requires an initializer be provided for 'Task'", line: 1, column: 1,
          fixIts: [FixItSpec(message: "insert a memberwise initializer")])
      ],
      for: """
        @Model public final class Task {
          var title: String
          var count = 0
          var due: Date?
          let key = 1
          var made = Date()
          var text: String { title }

          func act() {}
        }
        """,
      fixed: """
        @Model public final class Task {
          var title: String
          var count = 0
          var due: Date?
          let key = 1
          var made = Date()

          public init(title: String, count: Int = 0, due: Date? = nil, made: Date = Date()) {
            self.title = title
            self.count = count
            self.due = due
            self.made = made
          }
          var text: String { title }

          func act() {}
        }
        """)
  }

  @Test func `a convenience initializer is not enough`() {
    expectDiagnostics(
      [
        DiagnosticSpec(
          message: "@Model requires an initializer be provided for 'Task'", line: 1, column: 1,
          fixIts: [FixItSpec(message: "insert a memberwise initializer")])
      ],
      for: """
        @Model final class Task {
          convenience init(a: Int) { self.init() }
        }
        """,
      fixed: """
        @Model final class Task {

          init() {
          }
          convenience init(a: Int) { self.init() }
        }
        """)
  }

  @Test func `a constraint speaks of its own class`() {
    expectDiagnostics(
      [
        DiagnosticSpec(
          message: "'#Index<Other>' has no effect in 'Task'", line: 2, column: 10,
          severity: .warning, fixIts: [FixItSpec(message: "replace 'Other' with 'Task'")])
      ],
      for: #"""
        @Model final class Task {
          #Index<Other>([\.title])
          var title = ""
          init() {}
        }
        """#,
      fixed: #"""
        @Model final class Task {
          #Index<Task>([\.title])
          var title = ""
          init() {}
        }
        """#)
  }
}
