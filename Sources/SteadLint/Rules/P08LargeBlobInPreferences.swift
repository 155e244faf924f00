import SwiftSyntax

private let flaw = RuleID(id: "P08", name: "large-blob-in-preferences", level: .warning)

extension Rule {
  static let largeBlobInPreferences = Rule(
    flaw,
    summary: "An encoded image, or a list that only grows, is written to preferences.",
    why: """
      All preferences of a program are read at its start and written as a whole. An image of a few megabytes slows \
      each launch, and each change of another key. A list that is encoded as a whole takes longer with each new \
      element.
      """,
    bad: #"UserDefaults.standard.set(photo.pngData(), forKey: "avatar")"#,
    good: """
      let name = "avatar.png"
      try photo.pngData()?.write(to: AppDirectories(id: "com.example.app").data.appending(path: name), options: .atomic)
      UserDefaults.standard.set(name, forKey: "avatar")
      """,
    avoids: [
      "File paths and file names.",
      "Images that are removed, or written to a file.",
      "Lists that something shortens, or whose length is compared with a limit. A list without a limit is a note.",
    ],
    inFile: { file in
      file.walk.calls.compactMap { call in
        guard call.name == "set" || call.name == "setValue", call.argument("forKey") != nil,
          let receiver = call.receiver?.code, isPreferences(receiver),
          let value = call.arguments.first?.expression,
          isImage(value, in: file)
        else { return nil }
        return Finding(
          flaw,
          "An image makes each launch and each change slower; write it to a file and keep the file's name.",
          at: file.place(call))
      }
    },
    inProject: { index in
      index.codings.compactMap { use in
        guard case .preference = use.target, let growth = use.growth else { return nil }
        return Finding(
          flaw,
          "The list that is encoded on line \(use.place.line) only grows, and each change writes all of it; "
            + "keep the last few hundred, or move to a database.",
          at: growth, level: .note)
      }
    })
}

private func isPreferences(_ receiver: String) -> Bool {
  receiver.hasPrefix("UserDefaults") || NameWords(receiver.lastComponent).words.last == "defaults"
    || receiver.hasPrefix("Preferences.")
}

private let encoders: Set<String> = [
  "pngData", "jpegData", "heicData", "tiffRepresentation", "UIImagePNGRepresentation",
  "UIImageJPEGRepresentation",
]

/// Whether an expression encodes an image, or is a variable that the function binds to one.
private func isImage(_ value: ExprSyntax, in file: FileContext) -> Bool {
  if value.mentions(anyOf: encoders) { return true }
  guard let name = value.as(DeclReferenceExprSyntax.self)?.baseName.text else { return false }
  let scope = value.scope
  return scope.tokens(viewMode: .sourceAccurate).contains { encoders.contains($0.text) }
    && bindings(of: name, in: scope).contains { $0.mentions(anyOf: encoders) }
}

private func bindings(of name: String, in scope: Syntax) -> [Syntax] {
  var found: [Syntax] = []
  var open = [scope]
  while let node = open.popLast() {
    if let binding = node.as(PatternBindingSyntax.self), binding.pattern.trimmedDescription == name
    {
      found.append(node)
    }
    if let binding = node.as(OptionalBindingConditionSyntax.self),
      binding.pattern.trimmedDescription == name
    {
      found.append(node)
    }
    open += node.children(viewMode: .sourceAccurate).filter { !$0.is(TokenSyntax.self) }
  }
  return found
}
