import SwiftSyntax

/// The names that a file may change the values of.
///
/// A name counts if it's on the left of `=`, in a key path or a binding, after `&`, or if something follows it that may
/// change a part of it, such as `.append` or a subscript. Only plain reads don't count. `let name = 1` counts, too.
struct ChangedNames {
  private(set) var names: Set<String> = []

  init(_ tree: SourceFileSyntax) {
    var isBound = false
    // The names in each open parenthesis: `(a, b) = (1, 2)` sets both.
    var open: [[String]] = []
    for token in tree.tokens(viewMode: .sourceAccurate) {
      switch token.tokenKind {
      case .identifier(let text):
        isBound = isBound || text.hasPrefix("$")
        let name = text.hasPrefix("$") ? String(text.dropFirst()) : text
        if isBound || Self.isChanged(token) { names.insert(name) }
        if !open.isEmpty { open[open.count - 1].append(name) }
      case .backslash, .prefixAmpersand: isBound = true
      case .period, .postfixQuestionMark, .exclamationMark, .keyword(.self), .keyword(.Self): break
      case .leftParen:
        isBound = false
        open.append([])
      case .rightParen:
        isBound = false
        let inside = open.popLast() ?? []
        if token.nextToken(viewMode: .sourceAccurate)?.tokenKind == .equal {
          names.formUnion(inside)
        }
      default: isBound = false
      }
    }
  }

  /// Whether what follows a name may change its value or a part of it.
  private static func isChanged(_ token: TokenSyntax) -> Bool {
    switch token.nextToken(viewMode: .sourceAccurate)?.tokenKind {
    case .equal, .period, .leftSquare, .postfixQuestionMark, .exclamationMark: true
    case .binaryOperator(let text): text.hasSuffix("=") && !comparisons.contains(text)
    default: false
    }
  }

  private static let comparisons: Set<String> = ["==", "!=", "===", "!==", "<=", ">=", "~="]
}
