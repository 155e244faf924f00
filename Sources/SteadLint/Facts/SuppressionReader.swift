import SwiftSyntax

/// Finds comments `// stead:disable ID reason`, for their own line, and `// stead:disable:next ID reason`, for
/// the next one.
enum SuppressionReader {
  static func read(_ tree: SourceFileSyntax, bytes: [UInt8], context: FileContext) -> [Suppression]
  {
    var found: [Suppression] = []
    for token in tree.tokens(viewMode: .sourceAccurate) {
      found += read(
        token.leadingTrivia, from: token.position.utf8Offset, context: context, near: token)
      found += read(
        token.trailingTrivia, from: token.endPositionBeforeTrailingTrivia.utf8Offset,
        context: context, near: token)
    }
    return found
  }

  private static func read(
    _ trivia: Trivia, from start: Int, context: FileContext, near token: TokenSyntax
  ) -> [Suppression] {
    var offset = start
    var found: [Suppression] = []
    for piece in trivia {
      let length = piece.sourceLength.utf8Length
      if case .lineComment(let text) = piece, let (rules, isNext, reason) = parse(text) {
        let place = context.place(from: offset, length: length, near: token)
        found.append(
          Suppression(
            rules: rules, line: place.line + (isNext ? 1 : 0), reason: reason, place: place))
      }
      offset += length
    }
    return found
  }

  /// The parts of a comment; nil for any other comment.
  static func parse(_ comment: String) -> (rules: [String], isNext: Bool, reason: String)? {
    let text = comment.drop { $0 == "/" }.trimmed
    guard text.hasPrefix("stead:disable") else { return nil }
    var rest = text.dropFirst("stead:disable".count)
    let isNext = rest.hasPrefix(":next")
    if isNext { rest = rest.dropFirst(":next".count) }
    guard rest.isEmpty || rest.first == " " else { return nil }
    let words = rest.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
    let rules = words.first?.split(separator: ",").map(String.init) ?? []
    let reason = words.count > 1 ? words[1].trimmed : ""
    return (rules, isNext, reason)
  }
}
