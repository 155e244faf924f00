import SwiftSyntax

// A plugin is built without optimization in debug builds. There, parsing and laying out an expansion takes longer than
// the compiler takes to compile it. So expansions are laid out as they are written, and passed on in nodes that only
// hold the source: the compiler parses them anyway.

extension DeclSyntax {
  /// Declarations that only the compiler parses.
  init(text: String) { self.init(MissingDeclSyntax(placeholder: .identifier(text))) }
}

extension ExtensionDeclSyntax {
  /// An empty extension that only the compiler parses.
  init(text: String) {
    self.init(
      extensionKeyword: .identifier(text),
      extendedType: MissingTypeSyntax(placeholder: .identifier("")),
      memberBlock: MemberBlockSyntax(
        leftBrace: .identifier(" {"), members: [], rightBrace: .identifier("}")))
  }
}

extension AttributeSyntax {
  /// An attribute that only the compiler parses.
  init(text: String) {
    self.init(
      atSign: .identifier(text), attributeName: MissingTypeSyntax(placeholder: .identifier("")))
  }
}

extension AccessorDeclSyntax {
  /// An accessor that only the compiler parses, one level inside its braces.
  init(text: String) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    self.init(accessorSpecifier: .identifier("  " + lines.joined(separator: "\n  ")))
  }
}

extension [String] {
  /// A declaration with these lines in its braces.
  func body(of head: String) -> String {
    isEmpty ? "\(head) {}" : "\(head) {\n\(indented)\n}"
  }

  /// The lines, one level further in.
  var indented: String { "  " + joined(separator: "\n  ") }
}
