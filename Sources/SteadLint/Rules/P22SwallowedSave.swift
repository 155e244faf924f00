import SwiftSyntax

private let flaw = RuleID(id: "P22", name: "swallowed-save", level: .warning)

extension Rule {
  static let swallowedSave = Rule(
    flaw,
    summary: "A failed `save()` of a context goes unnoticed.",
    why: """
      A save can fail: on a full disk, for an invalid value, after another process has changed the object. With `try?` the app \
      shows the change, and it's gone at the next start.
      """,
    bad: "try? modelContext.save()",
    good: """
      do {
        try modelContext.save()
      } catch {
        alert = SaveFailure(error)
      }
      """,
    avoids: [
      "Other things that are saved: only contexts count, by their type or name.",
      "Tests and previews.",
      "A result that is used, such as `(try? context.save()) == nil`.",
    ],
    inFile: { file in
      let variables = VariableTypes(file.walk)
      return file.walk.tries.compactMap { attempt in
        guard attempt.questionOrExclamationMark?.text == "?",
          let call = saveCall(attempt.expression),
          let receiver = call.receiver, receiver.isContext(variables), isUnused(attempt)
        else { return nil }
        return Finding(
          flaw,
          "A failed save goes unnoticed and the change is lost; catch the error and tell the user.",
          at: file.place(attempt))
      }
    })
}

private func saveCall(_ expression: ExprSyntax) -> FunctionCallExprSyntax? {
  if let call = expression.as(FunctionCallExprSyntax.self) {
    return call.name == "save" && call.arguments.isEmpty ? call : nil
  }
  if let waiting = expression.as(AwaitExprSyntax.self) { return saveCall(waiting.expression) }
  return nil
}

/// Whether the result is thrown away.
private func isUnused(_ attempt: TryExprSyntax) -> Bool {
  guard let parent = attempt.parent else { return true }
  if let item = parent.as(CodeBlockItemSyntax.self) {
    // The only expression of a function or closure can be its result.
    _ = item
    return true
  }
  return parent.as(SequenceExprSyntax.self)?.code.hasPrefix("_=") == true
    || parent.parent?.code.hasPrefix("_=") == true
}
