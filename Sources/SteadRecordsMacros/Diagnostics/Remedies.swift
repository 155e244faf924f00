import SwiftDiagnostics
import SwiftSyntax

// Changes of source that fix-its make, as strings: the tree around them stays as the user wrote it.

extension FixIt {
  static func replacing(_ node: some SyntaxProtocol, with text: String) -> FixIt {
    FixIt(
      message: ModelRemedy.replace(node.trimmedDescription, with: text),
      changes: [
        .replaceText(range: node.trimmedRange, with: text, in: Syntax(node.root))
      ])
  }

  /// Removes a node with the space that follows it.
  static func removing(_ node: some SyntaxProtocol, named name: String? = nil) -> FixIt {
    FixIt(
      message: ModelRemedy.remove(name ?? node.trimmedDescription),
      changes: [
        .replaceText(
          range: node.positionAfterSkippingLeadingTrivia..<node.endPosition, with: "",
          in: Syntax(node.root))
      ])
  }

  /// Removes one of a list of arguments with the comma that separates it.
  static func removing(_ argument: LabeledExprSyntax, from list: LabeledExprListSyntax) -> FixIt {
    var range = argument.positionAfterSkippingLeadingTrivia..<argument.endPosition
    if argument.id == list.last?.id, let index = list.index(of: argument), index > list.startIndex {
      // The last argument takes the comma before it along.
      let previous = list[list.index(before: index)]
      range = previous.expression.endPositionBeforeTrailingTrivia..<range.upperBound
    }
    let name = argument.with(\.trailingComma, nil).trimmedDescription
    return FixIt(
      message: ModelRemedy.remove(name),
      changes: [.replaceText(range: range, with: "", in: Syntax(argument.root))])
  }

  static func inserting(
    _ text: String, at position: AbsolutePosition, of node: some SyntaxProtocol,
    message: ModelRemedy? = nil
  ) -> FixIt {
    FixIt(
      message: message ?? .insert(text.trimmingSpaces),
      changes: [
        .replaceText(range: position..<position, with: text, in: Syntax(node.root))
      ])
  }
}

extension String {
  var trimmingSpaces: String {
    String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }
}

extension SyntaxProtocol {
  /// A diagnostic at this node.
  func says(
    _ message: ModelMessage, highlight: Syntax? = nil, fixIts: [FixIt] = []
  ) -> Diagnostic {
    Diagnostic(node: self, message: message, highlights: highlight.map { [$0] }, fixIts: fixIts)
  }
}
