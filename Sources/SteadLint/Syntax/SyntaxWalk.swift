import SwiftSyntax

/// The nodes of a file that rules ask for, collected in one pass, in the order of the source.
///
/// The pass has its own stack, so that a deep tree takes memory and doesn't crash the process.
///
/// Rules look through these lists instead of walking the tree: thirty rules and a dozen readers
/// would otherwise walk it dozens of times.
///
/// The lists are flat. Whether a node is in another one is asked by their offsets, or by walking up
/// to its ancestors.
struct SyntaxWalk {
  /// The calls of functions, methods and initializers. An outer call comes before those in its
  /// arguments.
  private(set) var calls: [FunctionCallExprSyntax] = []
  /// The declarations with `let` and `var`, of members, locals and globals. `if let` isn't one.
  private(set) var variables: [VariableDeclSyntax] = []
  /// The classes, structures, enumerations, actors and extensions.
  private(set) var types: [Syntax] = []
  /// The macros in expressions, such as `#Predicate`.
  private(set) var macros: [MacroExpansionExprSyntax] = []
  /// All kinds of `try`.
  private(set) var tries: [TryExprSyntax] = []
  /// The `do` statements, with `catch` clauses or without.
  private(set) var dos: [DoStmtSyntax] = []
  /// The accesses by subscript.
  private(set) var subscripts: [SubscriptCallExprSyntax] = []
  /// The accesses of members. Of `a.b.c` both `a.b.c` and `a.b` are in the list.
  private(set) var members: [MemberAccessExprSyntax] = []
  /// The names that begin with `kSec`.
  private(set) var keychainNames: [DeclReferenceExprSyntax] = []
  /// The imported modules, with dots for submodules.
  private(set) var imports: Set<String> = []
  /// The sequences of operators, which the parser doesn't fold: among them all assignments and comparisons.
  private(set) var assignments: [SequenceExprSyntax] = []
  /// Whether a node is too deep for recursive functions.
  private(set) var isTooDeep = false

  /// How deep a node may be. The descriptions of nodes, which rules read, are recursive.
  static let depthLimit = 3_000

  /// Walks a tree. Stops early if it is too deep, and the lists are then incomplete: such a file
  /// isn't checked.
  init(_ tree: SourceFileSyntax) {
    var stack: [(Syntax, Int)] = [(Syntax(tree), 0)]
    while let (node, depth) = stack.popLast() {
      // At the first such node: nothing that was collected is used then.
      guard depth < Self.depthLimit else {
        isTooDeep = true
        return
      }
      collect(node)
      var children: [Syntax] = []
      // Tokens are most of a tree, and no list has them.
      for child in node.children(viewMode: .sourceAccurate) where !child.is(TokenSyntax.self) {
        children.append(child)
      }
      // Reversed, since the last one is taken first.
      for child in children.reversed() { stack.append((child, depth + 1)) }
    }
  }

  /// Puts a node into the list of its kind.
  ///
  /// The kind decides first, so a node is cast once and not to each type in turn.
  private mutating func collect(_ node: Syntax) {
    switch node.kind {
    case .functionCallExpr: node.as(FunctionCallExprSyntax.self).map { calls.append($0) }
    case .subscriptCallExpr: node.as(SubscriptCallExprSyntax.self).map { subscripts.append($0) }
    case .variableDecl: node.as(VariableDeclSyntax.self).map { variables.append($0) }
    case .classDecl, .structDecl, .enumDecl, .actorDecl, .extensionDecl: types.append(node)
    case .macroExpansionExpr: node.as(MacroExpansionExprSyntax.self).map { macros.append($0) }
    case .tryExpr: node.as(TryExprSyntax.self).map { tries.append($0) }
    case .doStmt: node.as(DoStmtSyntax.self).map { dos.append($0) }
    case .memberAccessExpr: node.as(MemberAccessExprSyntax.self).map { members.append($0) }
    case .importDecl:
      if let path = node.as(ImportDeclSyntax.self)?.path { imports.insert(path.trimmedDescription) }
    case .sequenceExpr: node.as(SequenceExprSyntax.self).map { assignments.append($0) }
    case .declReferenceExpr:
      if let name = node.as(DeclReferenceExprSyntax.self), name.baseName.text.hasPrefix("kSec") {
        keychainNames.append(name)
      }
    default: break
    }
  }
}

// MARK: - Lines

/// Where the lines of a file begin, in bytes.
///
/// It is made once for a file, in one pass. Each place then costs a binary search.
struct LineTable {
  private let bytes: [UInt8]
  /// The offset of the first byte of each line, ascending.
  private let starts: [Int]

  /// Finds the beginnings of the lines in some bytes, which it keeps for quotations.
  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    var starts = [0]
    for (index, byte) in bytes.enumerated() where byte == UInt8(ascii: "\n") {
      starts.append(index + 1)
    }
    self.starts = starts
  }

  /// The longest line that a finding quotes, in bytes. A longer line is probably generated, and is cut.
  private static let quotedLength = 400

  /// The place of a range of bytes, cut to its first line.
  ///
  /// Any offset gives a place: one beyond the end counts as the end.
  func place(from offset: Int, length: Int, path: String, isInPreview: Bool) -> Place {
    let offset = min(max(0, offset), bytes.count)
    let index = lineIndex(at: offset)
    // A place of several lines is underlined to the end of its first one, which is all that a
    // report shows.
    let end = endOfLine(index)
    return Place(
      path: path, line: index + 1, column: offset - starts[index] + 1,
      width: max(1, min(length, end - offset)),
      sourceLine: String(
        decoding: bytes[starts[index]..<min(end, starts[index] + Self.quotedLength)], as: UTF8.self),
      isInPreview: isInPreview, offset: offset, length: length)
  }

  /// The line of an offset, by binary search.
  private func lineIndex(at offset: Int) -> Int {
    var (low, high) = (0, starts.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if starts[middle] <= offset { low = middle } else { high = middle }
    }
    return low
  }

  /// The offset of a line's end, without its line feed and a carriage return before that.
  private func endOfLine(_ index: Int) -> Int {
    var end = index + 1 < starts.count ? starts[index + 1] - 1 : bytes.count
    if end > starts[index], bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
    return end
  }
}

// MARK: - App extensions

/// The types that widgets and intent handlers conform to. Both read what an app has written for them.
enum ExtensionTypes {
  /// Protocols of widgets, and the base class of extensions for intents.
  private static let widgets: Set<String> = [
    "Widget", "WidgetBundle", "TimelineProvider", "IntentTimelineProvider",
    "AppIntentTimelineProvider", "NCWidgetProviding", "INExtension",
  ]

  /// Whether a type with these inherited types, such as `INPlayMediaIntentHandling`, is a widget or an intent
  /// handler.
  static func contains(_ inherited: [String]) -> Bool {
    inherited.contains {
      widgets.contains($0) || $0.hasPrefix("IN") && $0.hasSuffix("IntentHandling")
    }
  }
}
