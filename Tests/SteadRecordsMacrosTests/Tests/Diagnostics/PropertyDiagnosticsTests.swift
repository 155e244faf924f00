import SwiftSyntaxMacrosGenericTestSupport
import Testing

/// What `@Model` says of properties that it cannot store.
@Suite struct PropertyDiagnosticsTests {
  private func source(_ property: String) -> String {
    "@Model final class Task {\n  \(property)\n  init() {}\n}"
  }

  private func expect(
    _ message: String, for property: String, column: Int = 3, remedies: [String] = [],
    first: String? = nil, warning: Bool = false, fileID: StaticString = #fileID,
    filePath: StaticString = #filePath, line: UInt = #line
  ) {
    expectDiagnostics(
      [
        DiagnosticSpec(
          message: message, line: 2, column: column, severity: warning ? .warning : .error,
          fixIts: remedies.map { FixItSpec(message: $0) })
      ],
      for: source(property), remedies: remedies.first.map { [$0] }, fixed: first.map(source),
      fileID: fileID, filePath: filePath, line: line)
  }

  @Test func `lazy is refused`() {
    expect(
      "'lazy' cannot be used on persisted property 'a': its value comes from the store",
      for: "lazy var a = 1", remedies: ["remove 'lazy'", "insert '@Transient'"],
      first: "var a = 1")
  }

  @Test func `weak is refused`() {
    expect(
      "'weak' cannot be used on persisted property 'a': "
        + "the context decides how long a model lives",
      for: "private weak var a: Task?", column: 11,
      remedies: ["remove 'weak'", "insert '@Transient'"], first: "private var a: Task?")
  }

  @Test func `a tuple is refused`() {
    expect(
      "persisted property 'a' cannot be a tuple; use a Codable struct", for: "var a: (Int, Int)",
      column: 10)
    expect(
      "persisted property 'a' cannot be a tuple; use a Codable struct", for: "var a = (1, 2)",
      column: 11)
  }

  @Test func `a property wrapper is refused`() {
    expect(
      "property wrapper '@Published' cannot be used on persisted property 'a'",
      for: "@Published var a = 1", remedies: ["remove '@Published'", "insert '@Transient'"],
      first: "var a = 1")
  }

  @Test func `several properties in one declaration are split`() {
    expect(
      "a persisted property needs a separate declaration",
      for: "private var a, b: Int, c = 1", remedies: ["declare each property separately"],
      first: "private var a: Int\n  private var b: Int\n  private var c = 1")
  }

  @Test func `a transient property needs a value`() {
    expect(
      "@Transient property 'a' needs an initial value: "
        + "objects read from the store have no other",
      for: "@Transient var a: Int", column: 18, remedies: ["insert '= <#initial value#>'"],
      first: "@Transient var a: Int = <#initial value#>")
  }

  @Test func `attributes of what is not stored are removed`() {
    expect(
      "'@Attribute' has no effect on 'a', which the model does not store",
      for: "@Attribute(.unique) var a: Int { 1 }", remedies: ["remove '@Attribute(.unique)'"],
      first: "var a: Int { 1 }")
    expect(
      "'@Relationship' has no effect on 'a', which the model does not store",
      for: "@Relationship static var a: [Task] = []", remedies: ["remove '@Relationship'"],
      first: "static var a: [Task] = []")
  }

  @Test func `contradictions are named`() {
    expect(
      "'a' cannot be both '@Attribute' and '@Relationship'",
      for: "@Attribute @Relationship var a: Task?",
      remedies: ["remove '@Attribute'", "remove '@Relationship'"],
      first: "@Relationship var a: Task?")
    expect(
      "'a' cannot be both '@Attribute' and '@Transient'", for: "@Transient @Attribute var a = 1",
      column: 14, remedies: ["remove '@Attribute'", "remove '@Transient'"],
      first: "@Transient var a = 1")
  }

  @Test(arguments: [
    ("hasChanges", "stored property 'hasChanges' hides the model's own 'hasChanges'"),
    ("isDeleted", "stored property 'isDeleted' hides the model's own 'isDeleted'"),
    (
      "description",
      "SwiftData on Apple's systems refuses to store a property named 'description', at run time"
    ),
    ("hash", "SwiftData on Apple's systems refuses to store a property named 'hash', at run time"),
  ])
  func `unlucky names are named`(name: String, message: String) {
    expect(message, for: "var \(name) = false", column: 7, warning: true)
  }

  @Test func `reserved names are refused`() {
    expect(
      "a model cannot store a property named 'persistentModelID': "
        + "every model has one that says what it is",
      for: "var persistentModelID = 1", column: 7)
    expect(
      "a model cannot store a property named '_$state': names that start with '_$' are generated",
      for: "var _$state = 1", column: 7)
    expect(
      "a model cannot store a property named 'SteadRecords': it hides the module of that name",
      for: "var SteadRecords = 1", column: 7)
  }
}
