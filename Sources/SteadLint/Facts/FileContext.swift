import SwiftParser
import SwiftSyntax

/// A parsed file, as the rules about single files see it. It exists only while the file is checked.
///
/// It holds the syntax tree, which takes many times the memory of the source. So nothing that
/// outlives the check may refer to it: a ``Finding`` and ``FileFacts`` have copies of what they
/// need.
struct FileContext {
  /// The path relative to the folder that is checked.
  let path: String
  let tree: SourceFileSyntax
  /// The nodes of the tree by kind.
  let walk: SyntaxWalk
  /// Where lines begin, for places in findings.
  let lines: LineTable
  /// Whether it is a manifest of SwiftPM.
  let isManifest: Bool
  /// Whether all of the file is made for previews, by its path.
  private let isPreviewFile: Bool

  /// Makes the context of a parsed file.
  ///
  /// - Parameter bytes: The file's contents, from which the tree was made: offsets of nodes count
  ///   in them.
  init(path: String, tree: SourceFileSyntax, walk: SyntaxWalk, bytes: [UInt8]) {
    self.path = path
    self.tree = tree
    self.walk = walk
    lines = LineTable(bytes)
    isPreviewFile = PreviewCode.isFile(path)
    // By the whole name, so a manifest for another compiler, `Package@swift-5.9.swift`, isn't one.
    isManifest = path.split(separator: "/").last == "Package.swift"
  }

  /// The place of a node, without the comments and spaces around it.
  func place(_ node: some SyntaxProtocol) -> Place {
    let start = node.positionAfterSkippingLeadingTrivia.utf8Offset
    let end = node.endPositionBeforeTrailingTrivia.utf8Offset
    return place(from: start, length: end - start, near: node)
  }

  /// The place of a range of bytes. A node nearby says whether it is in a preview.
  func place(from start: Int, length: Int, near node: some SyntaxProtocol) -> Place {
    lines.place(
      // The file first, since the node's answer costs a walk to the root.
      from: start, length: length, path: path, isInPreview: isPreviewFile || node.isInPreview)
  }
}

extension SyntaxProtocol {
  /// The offset of the first byte, without comments and spaces.
  var start: Int { positionAfterSkippingLeadingTrivia.utf8Offset }
  /// The offset after the last byte, without comments and spaces.
  var end: Int { endPositionBeforeTrailingTrivia.utf8Offset }

  /// The nodes around it, from the inside out.
  ///
  /// The node itself is the first. The sequence is lazy, and a search that ends early pays only for
  /// what it has passed.
  var ancestors: UnfoldFirstSequence<Syntax> {
    sequence(first: Syntax(self)) { $0.parent }
  }

  /// Whether it's in a `#Preview` or a `PreviewProvider`, or in something that only previews use.
  ///
  /// Costs a walk to the root, so it is asked for findings and facts, not for each node.
  var isInPreview: Bool { ancestors.contains(where: PreviewCode.contains) }

  /// The name of a declaration; nil if it has none.
  ///
  /// A declaration of several variables has the name of the first one, and an extension that of the
  /// type it extends.
  var declaredName: String? {
    let node = Syntax(self)
    switch node.kind {
    case .classDecl: return node.as(ClassDeclSyntax.self)?.name.text
    case .structDecl: return node.as(StructDeclSyntax.self)?.name.text
    case .enumDecl: return node.as(EnumDeclSyntax.self)?.name.text
    case .actorDecl: return node.as(ActorDeclSyntax.self)?.name.text
    case .extensionDecl: return node.as(ExtensionDeclSyntax.self)?.extendedType.trimmedDescription
    case .functionDecl: return node.as(FunctionDeclSyntax.self)?.name.text
    case .variableDecl:
      return node.as(VariableDeclSyntax.self)?.bindings.first?.pattern.trimmedDescription
    // All initializers of a type share it. Where a function begins tells them apart.
    case .initializerDecl: return "init"
    default: return nil
    }
  }

  /// The types around it, joined by full stops.
  ///
  /// An extension contributes the whole name that it is written with, so a member of `extension
  /// App.Keys` is in `App.Keys`. Empty for globals.
  var enclosingType: String {
    var names: [String] = []
    for node in ancestors.dropFirst() {
      switch node.kind {
      case .classDecl, .structDecl, .enumDecl, .actorDecl, .extensionDecl:
        if let name = node.declaredName { names.append(name) }
      default: break
      }
    }
    // They were found from the inside out.
    return names.reversed().joined(separator: ".")
  }

  /// The function, initializer, accessor or member around it; the file if none exists.
  ///
  /// A closure is no scope: what it uses is declared in the function around it as often as in itself.
  var scope: Syntax {
    var last = Syntax(self)
    for node in ancestors {
      last = node
      switch node.kind {
      case .functionDecl, .initializerDecl, .deinitializerDecl, .accessorDecl, .subscriptDecl:
        return node
      // A local variable is in the scope of its function; a member's initial value and getter are
      // one of their own.
      case .variableDecl:
        if node.parent?.is(MemberBlockItemSyntax.self) == true { return node }
      // Any other member, such as a case. Without this, its scope would be what is around the type.
      case .memberBlockItem:
        return node
      default: break
      }
    }
    return last
  }

  /// Whether one of the words is among its tokens.
  func mentions(_ words: String...) -> Bool {
    mentions(anyOf: Set(words))
  }

  /// Whether one of the words is among its tokens, wherever it stands. Costs a pass over the tokens.
  func mentions(anyOf words: Set<String>) -> Bool {
    tokens(viewMode: .sourceAccurate).contains { words.contains($0.text) }
  }

  /// Its tokens as one string, without comments and spaces.
  ///
  /// By it, expressions are compared and patterns such as `isStoredInMemoryOnly:true` are found, however the
  /// code is formatted.
  ///
  /// Words run together, as in `letdata=try`, so a pattern must have none of the source's spaces.
  /// Costs a pass over the tokens and a string for each call.
  var code: String {
    tokens(viewMode: .sourceAccurate).map(\.text).joined()
  }
}

extension FunctionCallExprSyntax {
  /// The last part of the called name: `save` in `context.save()`.
  ///
  /// `FetchDescriptor` in `FetchDescriptor<Note>()`. Empty for anything else that is called, such
  /// as a closure.
  var name: String {
    if let member = calledExpression.as(MemberAccessExprSyntax.self) {
      return member.declName.baseName.text
    }
    if let generic = calledExpression.as(GenericSpecializationExprSyntax.self) {
      return generic.expression.code.lastComponent
    }
    return calledExpression.as(DeclReferenceExprSyntax.self)?.baseName.text ?? ""
  }

  /// What a method is called on.
  ///
  /// Nil for a function or an initializer, and for a member whose type is inferred, such as
  /// `.init()`.
  var receiver: ExprSyntax? {
    calledExpression.as(MemberAccessExprSyntax.self)?.base
  }

  /// The first argument with a label, or the first without one if the label is nil.
  ///
  /// Trailing closures aren't among the arguments.
  func argument(_ label: String?) -> ExprSyntax? {
    arguments.first { $0.label?.text == label }?.expression
  }
}

extension ExprSyntax {
  /// The content of a string literal without interpolations.
  ///
  /// Escapes are resolved, so it's the string that the program has at run time. Nil for any other
  /// expression.
  var literal: String? {
    self.as(StringLiteralExprSyntax.self)?.representedLiteralValue
  }
}

// MARK: - Previews

/// Distinguishes code for Xcode's previews and test doubles from code that users run.
///
/// A `#Preview`, a type that conforms to `PreviewProvider`, and a file in `Preview Content` are certain.
/// Names count where they name something made for previews, such as `PreviewData` and `makePreviewContainer`:
/// a `LinkPreviewCache` or `sampleRate` belongs to an app.
///
/// Findings in such code aren't reported: it never meets a user's data.
enum PreviewCode {
  /// The folder that Xcode's templates make for previews, and other names that projects give it.
  private static let folders: Set<String> = [
    "Preview Content", "PreviewContent", "Preview Assets", "Preview Data",
  ]
  /// The protocols of SwiftUI that only previews use.
  private static let protocols: Set<String> = ["PreviewProvider", "PreviewModifier"]

  /// Whether a file isn't part of a shipped app, by its folder or its name.
  static func isFile(_ path: String) -> Bool {
    let parts = path.split(separator: "/")
    guard let file = parts.last else { return false }
    let name = file.hasSuffix(".swift") ? file.dropLast(".swift".count) : file
    return parts.dropLast().contains { folders.contains(String($0)) } || isName(String(name))
      // `Note+Preview.swift`, but not `Preview.swift`, which may be an app's screen.
      || ["preview", "previews"].contains(name.split(separator: "+").dropFirst().last?.lowercased())
  }

  /// Whether a node is a preview, or declares something made for previews.
  ///
  /// Looks at the node alone. ``SyntaxProtocol/isInPreview`` asks it about each node around a
  /// place.
  static func contains(_ node: Syntax) -> Bool {
    switch node.kind {
    // A freestanding macro is a declaration or an expression in the tree, depending on where it is.
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

  /// Whether a type conforms to one of the protocols of previews.
  private static func conforms(_ node: Syntax) -> Bool {
    node.asProtocol(DeclGroupSyntax.self)?.inheritanceClause?.inheritedTypes.contains {
      protocols.contains($0.type.trimmedDescription.lastComponent)
    } ?? false
  }

  /// A `struct Preview` that conforms to nothing else; an app's view would conform to `View`.
  ///
  /// The name alone would also fit an app's screen that shows what the user is going to print or
  /// send.
  private static func isExampleType(_ node: Syntax) -> Bool {
    let inherited = node.asProtocol(DeclGroupSyntax.self)?.inheritanceClause?.inheritedTypes
    return ["Preview", "Previews", "Previewer"].contains(node.declaredName)
      && inherited?.contains { $0.type.trimmedDescription != "Sendable" } != true
  }

  /// `static var preview` and `static let samples`, which a type has for previews.
  ///
  /// Only static ones: `var preview: Image` of an instance is an app's data.
  private static func isSharedExample(_ node: Syntax) -> Bool {
    guard let variable = node.as(VariableDeclSyntax.self),
      variable.modifiers.contains(where: { ["static", "class"].contains($0.name.text) }),
      let name = node.declaredName
    else { return false }
    return ["preview", "previews", "sample", "samples"].contains(name)
  }

  // MARK: - Names

  /// Words that may come before the name of what is made for previews.
  ///
  /// They are dropped from the front, so that `makeSharedPreviewContainer` begins with `preview`.
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

  /// Whether a name is that of something made for previews or of a test double.
  ///
  /// `mock` is enough wherever it stands. `preview` and `sample` have to be followed by one of the
  /// things that are made for previews: `PreviewData` is one, a `LinkPreviewCache` and a
  /// `sampleRate` belong to an app.
  static func isName(_ name: String) -> Bool {
    let words = NameWords(name).words
    if words.contains(where: { ["mock", "mocks", "mocked"].contains($0) }) { return true }
    let rest = words.drop(while: verbs.contains)
    // One word alone, such as `preview`, is left to `isSharedExample` and `isExampleType`, which
    // look at more.
    guard let first = rest.first, let second = rest.dropFirst().first else { return false }
    switch first {
    case "preview", "previews": return things.contains(second)
    case "sample": return ["data", "container", "content", "model", "models"].contains(second)
    default: return false
    }
  }
}
