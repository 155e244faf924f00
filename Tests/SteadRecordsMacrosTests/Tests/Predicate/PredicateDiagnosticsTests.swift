import SwiftSyntaxMacrosGenericTestSupport
import Testing

/// What `#Predicate` says of a closure that it cannot express, and where.
@Suite struct PredicateDiagnosticsTests {
  /// Expects one message at the place that a marker stands before.
  private func expect(
    _ message: String, for source: String, fixIts: [FixItSpec] = [], fixed: String? = nil,
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line,
    column: UInt = #column
  ) {
    let parts = source.split(separator: "🔹", maxSplits: 1, omittingEmptySubsequences: false).map(
      String.init)
    let before = parts[0].split(separator: "\n", omittingEmptySubsequences: false)
    expectDiagnostics(
      [
        DiagnosticSpec(
          message: message, line: before.count, column: (before.last?.utf8.count ?? 0) + 1,
          fixIts: fixIts)
      ],
      for: parts.joined(), fixed: fixed, fileID: fileID, filePath: filePath, line: line,
      column: column)
  }

  @Test func assignments() {
    expect(
      "a predicate cannot assign; compare with '=='", for: "#Predicate<Task> { $0.title 🔹= name }")
  }

  @Test func statements() {
    expect(
      "a predicate cannot contain a loop; use contains(where:), allSatisfy or filter",
      for: "#Predicate<Task> { task in\n  🔹for step in task.steps { return step.done }\n}")
    expect(
      "a predicate cannot contain 'switch'; it is made of let, if, guard and one value",
      for: "#Predicate<Task> { 🔹switch $0.rank { default: true } }")
    expect(
      "the value of this expression is unused; join conditions with '&&' or '||'",
      for: "#Predicate<Task> { task in\n  🔹task.done\n  return task.rank > 1\n}")
    expect(
      "every branch of a predicate must give a value; add an 'else'",
      for: "#Predicate<Task> { 🔹if $0.done { true } }")
    expect(
      "every path through a predicate must end with a value",
      for: "#Predicate<Task> { 🔹let rank = $0.rank }")
    expect("a predicate must give a Boolean value", for: "#Predicate<Task> 🔹{ }")
  }

  @Test func variables() {
    expect(
      "a predicate cannot change variables; use 'let'",
      for: "#Predicate<Task> { task in\n  🔹var rank = task.rank\n  return rank > 1\n}",
      fixIts: [FixItSpec(message: "replace 'var' with 'let'")],
      fixed: "#Predicate<Task> { task in\n  let rank = task.rank\n  return rank > 1\n}")
    expect(
      "a constant in a predicate needs a value",
      for: "#Predicate<Task> { task in\n  let 🔹rank: Int\n  return task.rank > 1\n}")
  }

  @Test func effects() {
    expect(
      "a predicate cannot use 'try'; compute the value before the predicate and capture it",
      for: "#Predicate<Task> { 🔹try test($0) }")
    expect(
      "a predicate cannot use 'await'; compute the value before the predicate and capture it",
      for: "#Predicate<Task> { $0.done && 🔹await test($0) }")
  }

  @Test func `methods say what to write instead`() {
    expect(
      "'trimmingCharacters' cannot be called on a model's value in a predicate; "
        + "store the trimmed text",
      for: #"#Predicate<Task> { $0.title.🔹trimmingCharacters(in: .whitespaces) == "x" }"#)
    expect(
      "'sorted' cannot be called on a model's value in a predicate; "
        + "sort with the descriptor's sortBy",
      for: "#Predicate<Task> { $0.note?.lines.🔹sorted().isEmpty == true }")
    expect(
      "'addingTimeInterval' cannot be called on a model's value in a predicate; "
        + "move the interval to the other side, where it is computed once",
      for: "#Predicate<Task> { $0.due.🔹addingTimeInterval(60) < now }")
    expect(
      "'filter' in a predicate needs a closure written in place",
      for: "#Predicate<Task> { $0.steps.filter(🔹isDone).isEmpty }")
  }

  @Test func `functions of the model`() {
    expect(
      "a function cannot be called with a model's value in a predicate; write its condition here, "
        + "or put it into another predicate and call 'evaluate'",
      for: "#Predicate<Task> { task in !🔹isUrgent(task) }")
  }

  @Test func `expressions with the model`() {
    expect(
      "a string interpolation cannot use a model's value in a predicate; "
        + "compute it before the predicate and capture it",
      for: #"#Predicate<Task> { 🔹"\($0.title)!" == name }"#)
    expect(
      "an array literal cannot use a model's value in a predicate; "
        + "compute it before the predicate and capture it",
      for: "#Predicate<Task> { 🔹[$0.first, $0.last].contains(name) }")
    expect(
      "operator '&' is not supported in a predicate; compute the value before the predicate "
        + "and capture it",
      for: "#Predicate<Task> { $0.flags 🔹& 1 == 1 }")
  }

  @Test func `no closure`() {
    expect(
      "a predicate is written as a closure, such as { $0.name == name }",
      for: "🔹#Predicate<Task>(test)")
  }
}
