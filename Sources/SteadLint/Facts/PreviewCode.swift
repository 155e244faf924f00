import SwiftSyntax

/// Distinguishes code for Xcode's previews and test doubles from code that users run.
///
/// A `#Preview`, a type that conforms to `PreviewProvider`, and a file in `Preview Content` are certain. Names count
/// where they name something made for previews, such as `PreviewData` and `makePreviewContainer`: a `LinkPreviewCache`
/// or `sampleRate` belongs to an app.
enum PreviewCode {
  private static let folders: Set<String> = [
    "Preview Content", "PreviewContent", "Preview Assets", "Preview Data",
  ]
  private static let protocols: Set<String> = ["PreviewProvider", "PreviewModifier"]

  /// Whether a file isn't part of a shipped app, by its folder or its name.
  static func isFile(_ path: String) -> Bool {
    let parts = path.split(separator: "/")
    guard let file = parts.last else { return false }
    let name = file.hasSuffix(".swift") ? file.dropLast(".swift".count) : file
    return parts.dropLast().contains { folders.contains(String($0)) } || isName(String(name))
      || ["preview", "previews"].contains(name.split(separator: "+").dropFirst().last?.lowercased())
  }

  /// Whether a node is a preview, or declares something made for previews.
  static func contains(_ node: Syntax) -> Bool {
    switch node.kind {
    case .macroExpansionDecl:
      node.as(MacroExpansionDeclSyntax.self)?.macroName.text == "Preview"
    case .macroExpansionExpr:
      node.as(MacroExpansionExprSyntax.self)?.macroName.text == "Preview"
    case .classDecl, .structDecl, .enumDecl, .actorDecl, .extensionDecl:
      conforms(node) || isExampleType(node) || node.declaredName.map(isName) == true
    case .functionDecl: node.declaredName.map(isName) == true
    case .variableDecl: node.declaredName.map(isName) == true || isSharedExample(node)
    default: false
    }
  }

  private static func conforms(_ node: Syntax) -> Bool {
    node.asProtocol(DeclGroupSyntax.self)?.inheritanceClause?.inheritedTypes.contains {
      protocols.contains($0.type.trimmedDescription.lastComponent)
    } ?? false
  }

  /// A `struct Preview` that conforms to nothing else; an app's view would conform to `View`.
  private static func isExampleType(_ node: Syntax) -> Bool {
    let inherited = node.asProtocol(DeclGroupSyntax.self)?.inheritanceClause?.inheritedTypes
    return ["Preview", "Previews", "Previewer"].contains(node.declaredName)
      && inherited?.contains { $0.type.trimmedDescription != "Sendable" } != true
  }

  /// `static var preview` and `static let samples`, which a type has for previews.
  private static func isSharedExample(_ node: Syntax) -> Bool {
    guard let variable = node.as(VariableDeclSyntax.self),
      variable.modifiers.contains(where: { ["static", "class"].contains($0.name.text) }),
      let name = node.declaredName
    else { return false }
    return ["preview", "previews", "sample", "samples"].contains(name)
  }

  // MARK: Names

  private static let verbs: Set<String> = [
    "make", "create", "build", "setup", "insert", "add", "generate", "get", "load", "shared", "in",
    "memory", "with", "for", "swiftui", "xcode",
  ]
  /// Words for things that are made for previews. Settings, windows, caches and controllers belong to an app.
  private static let things: Set<String> = [
    "data", "container", "containers", "content", "context", "sample", "samples", "helper",
    "helpers", "mock", "mocks", "model", "models", "modelcontainer", "database", "support", "trait",
    "modifier", "environment", "dependencies", "persistence",
  ]

  static func isName(_ name: String) -> Bool {
    let words = NameWords(name).words
    if words.contains(where: { ["mock", "mocks", "mocked"].contains($0) }) { return true }
    let rest = words.drop(while: verbs.contains)
    guard let first = rest.first, let second = rest.dropFirst().first else { return false }
    switch first {
    case "preview", "previews": return things.contains(second)
    case "sample": return ["data", "container", "content", "model", "models"].contains(second)
    default: return false
    }
  }
}
