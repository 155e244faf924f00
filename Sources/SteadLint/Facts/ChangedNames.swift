import SwiftSyntax

/// The names that a file may change the values of: left of `=`, in key paths, in bindings, and after `&`.
///
/// It says too much rather than too little: `let name = 1` counts, too.
struct ChangedNames {
  private(set) var names: Set<String> = []

  init(_ tree: SourceFileSyntax) {
    var isBound = false
    for token in tree.tokens(viewMode: .sourceAccurate) {
      switch token.tokenKind {
      case .identifier(let name):
        isBound = isBound || name.hasPrefix("$")
        if isBound || Self.isAssigned(token) {
          names.insert(name.hasPrefix("$") ? String(name.dropFirst()) : name)
        }
      case .backslash, .prefixAmpersand: isBound = true
      case .period, .postfixQuestionMark, .exclamationMark, .keyword(.self): break
      default: isBound = false
      }
    }
  }

  private static func isAssigned(_ token: TokenSyntax) -> Bool {
    switch token.nextToken(viewMode: .sourceAccurate)?.tokenKind {
    case .equal: true
    case .binaryOperator(let text): text.hasSuffix("=") && !comparisons.contains(text)
    default: false
    }
  }

  private static let comparisons: Set<String> = ["==", "!=", "===", "!==", "<=", ">=", "~="]
}
