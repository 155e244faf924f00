import SwiftSyntax

/// Directories that the system empties, and a file's names for them.
struct FleetingPlaces {
  let context: FileContext

  static let words: Set<String> = ["cache", "caches", "cached", "temporary", "temp", "tmp"]

  /// Whether such a place is named by a parameter of an initializer, or by the value of a path or URL that a function
  /// uses.
  func areNamed(in scope: Syntax) -> Bool {
    if let initializer = scope.as(InitializerDeclSyntax.self),
      initializer.signature.parameterClause.parameters.contains(where: {
        isFleeting($0.firstName.text)
      })
    {
      return true
    }
    let names = Set(identifiers(in: scope))
    return context.walk.variables.contains { variable in
      guard let binding = variable.bindings.first,
        names.contains(binding.pattern.trimmedDescription),
        variable.parent?.is(MemberBlockItemSyntax.self) == true, isString(binding)
      else { return false }
      return (binding.initializer.map { identifiers(in: $0) } ?? []).contains(where: isFleeting)
    }
  }

  /// Whether the type around a function has a `rebuild` or `reindex`, which makes the stored data again.
  func areBuiltAgain(around scope: Syntax) -> Bool {
    let group = scope.ancestors.dropFirst().lazy.compactMap {
      $0.asProtocol(DeclGroupSyntax.self)
    }.first
    return group?.memberBlock.members.contains { member in
      ["rebuild", "reindex"].contains(member.decl.as(FunctionDeclSyntax.self)?.name.text)
    } ?? false
  }

  private func identifiers(in node: some SyntaxProtocol) -> [String] {
    node.tokens(viewMode: .sourceAccurate).compactMap { token in
      if case .identifier(let text) = token.tokenKind { text } else { nil }
    }
  }

  private func isFleeting(_ name: String) -> Bool {
    NameWords(name).contains(anyOf: Self.words)
  }

  /// Whether a property's name says that it's a path or a URL, not the cache itself.
  private func isString(_ binding: PatternBindingSyntax) -> Bool {
    let words = NameWords(binding.pattern.trimmedDescription).words
    return ["path", "url", "file", "directory", "folder"].contains(words.last)
  }
}
