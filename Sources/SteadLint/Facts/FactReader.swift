import SwiftSyntax

/// Reads a file's facts from its syntax. Types and constants are read here; the other facts have
/// readers of their own.
///
/// A fact says what one file shows, as the source writes it. Names aren't resolved: that is the
/// work of ``ProjectIndex``, which has all files. A reader lives as long as its file is read, on
/// one thread.
struct FactReader {
  let context: FileContext
  /// The types of the file's variables, which readers ask for receivers and values.
  let variables: VariableTypes
  /// The values of constants in functions, by the functions' positions and the constants' names.
  private let aliases: [Int: [String: ExprSyntax]]
  /// The calls that decode a field of a keyed container, by the offset where their function begins.
  private let decodings: [Int: [FunctionCallExprSyntax]]

  /// Collects what several readers need. Costs a pass over the variables and the calls of the file.
  init(_ context: FileContext) {
    self.context = context
    variables = VariableTypes(context.walk)
    var aliases: [Int: [String: ExprSyntax]] = [:]
    for variable in context.walk.variables
    where variable.bindingSpecifier.text == "let"
      // A member is a constant of its type, and ``constants()`` has it.
      && variable.parent?.is(MemberBlockItemSyntax.self) == false
    {
      for binding in variable.bindings {
        // Only `let key = Keys.token` and its like: any other value could depend on the run.
        guard let value = binding.initializer?.value, value.is(MemberAccessExprSyntax.self) else {
          continue
        }
        aliases[variable.scope.start, default: [:]][binding.pattern.trimmedDescription] = value
      }
    }
    self.aliases = aliases
    decodings = Dictionary(
      grouping: context.walk.calls.filter { ["decode", "decodeIfPresent"].contains($0.name) }
    ) { $0.scope.start }
  }

  /// All facts of the file. Costs several passes over the lists of ``SyntaxWalk`` and over the tokens.
  func facts(suppressions: [Suppression]) -> FileFacts {
    var facts = FileFacts()
    facts.path = context.path
    facts.imports = context.walk.imports
    facts.importsTests = !facts.imports.isDisjoint(with: ["XCTest", "Testing", "Quick", "Nimble"])
    facts.types = context.walk.types.compactMap(type)
    facts.constants = constants()
    facts.preferences = PreferenceReader(self).uses()
    facts.changedNames = ChangedNames(context.tree).names
    // After the preferences: a coding's key is that of a preference in the same function.
    facts.codings = CodingReader(self, preferences: facts.preferences).uses()
    facts.writtenFiles = FileUseReader(context: context).uses()
    facts.keychain = KeychainReader(self).uses()
    facts.unprotectedItems = context.unprotectedItems
    let schemas = SchemaReader(context: context)
    facts.schemas = schemas.schemas()
    facts.plans = schemas.plans()
    facts.stages = schemas.stages()
    facts.containers = schemas.containers()
    facts.predicates = PredicateReader(context: context).facts()
    facts.suppressions = suppressions
    // Only a manifest: `testTarget` elsewhere is a function of the program's own.
    if context.isManifest {
      facts.testFolders = folders(of: "testTarget", in: "Tests/")
      facts.executableFolders = folders(of: "executableTarget", in: "Sources/")
    }
    return facts
  }

  /// A key as the source writes it: a literal, a name to look up in the index, or an expression.
  ///
  /// `.rawValue` and the like are left out, since the index has the raw values of cases under the cases' names.
  func key(_ expression: ExprSyntax) -> KeyFact {
    if let literal = expression.literal { return .literal(literal) }
    var name = expression.code
    // Aliases of the same function only. Another function's constant with this name is another one.
    if let value = aliases[expression.scope.start]?[name] { name = value.code }
    for prefix in ["self.", "Self."] where name.hasPrefix(prefix) {
      name = String(name.dropFirst(prefix.count))
    }
    for suffix in [".rawValue", ".key", ".name", ".keyName"] where name.hasSuffix(suffix) {
      name = String(name.dropLast(suffix.count))
    }
    // What has brackets or operators is computed. Two such keys are equal only if their source is.
    let isName =
      !name.isEmpty && name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
    return isName ? .reference(name: name, scope: expression.enclosingType) : .other(name)
  }

  // MARK: - Types

  /// The fact of a type or an extension, with the types around it in its name.
  private func type(_ node: Syntax) -> TypeFact? {
    guard let group = node.asProtocol(DeclGroupSyntax.self), let name = node.declaredName else {
      return nil
    }
    let outer = node.enclosingType
    let (properties, cases, macros) = members(of: group)
    return TypeFact(
      // An extension is at the top level, and has the whole name itself: `SchemaV1.Item`.
      name: outer.isEmpty ? name : outer + "." + name, kind: kind(of: node),
      attributes: group.attributes.compactMap {
        $0.as(AttributeSyntax.self)?.attributeName.trimmedDescription
      },
      inherited: group.inheritanceClause?.inheritedTypes.map { inheritedName($0.type) } ?? [],
      properties: properties, cases: cases, macros: macros,
      decodesItself: decoder(of: group) != nil,
      decodesLeniently: decoder(of: group).map(isLenient) ?? false,
      takesAnyRawValue: takesAnyRawValue(group),
      uncheckedSendable: group.inheritanceClause?.inheritedTypes.contains {
        $0.type.code.contains("@unchecked") && $0.type.code.hasSuffix("Sendable")
      } ?? false,
      place: context.place(group.introducer))
  }

  /// The type's own `init(from:)`; nil if it is synthesized or inherited.
  private func decoder(of group: some DeclGroupSyntax) -> InitializerDeclSyntax? {
    group.memberBlock.members.lazy.compactMap { $0.decl.as(InitializerDeclSyntax.self) }.first {
      let first = $0.signature.parameterClause.parameters.first
      // `any Decoder`, `Decoder` and `Swift.Decoder`.
      return first?.firstName.text == "from" && first?.type.code.hasSuffix("Decoder") == true
    }
  }

  /// Whether each call that decodes a field has `try?`.
  ///
  /// False without such calls: an initializer that passes the decoder on may fail as a whole.
  private func isLenient(_ decoder: InitializerDeclSyntax) -> Bool {
    let calls = decodings[decoder.start] ?? []
    return !calls.isEmpty
      && calls.allSatisfy { call in
        call.ancestors.lazy.compactMap { $0.as(TryExprSyntax.self) }.first?
          .questionOrExclamationMark?.text == "?"
      }
  }

  /// Whether an `init(rawValue:)` accepts any string: it neither returns nil, nor decodes, nor calls another
  /// initializer.
  ///
  /// P05 passes over such a conformance, since `@AppStorage` never falls back to the default then.
  private func takesAnyRawValue(_ group: some DeclGroupSyntax) -> Bool {
    group.memberBlock.members.contains { member in
      guard let initializer = member.decl.as(InitializerDeclSyntax.self),
        let body = initializer.body,
        initializer.signature.parameterClause.parameters.first?.firstName.text == "rawValue"
      else { return false }
      return !body.mentions("nil", "init", "decode")
    }
  }

  /// The last part of an inherited type's name, without attributes such as `@retroactive` and `@unchecked`.
  private func inheritedName(_ type: TypeSyntax) -> String {
    let inner = type.as(AttributedTypeSyntax.self)?.baseType ?? type
    return inner.trimmedDescription.lastComponent
  }

  /// The kind of a declaration in `SyntaxWalk.types`; whatever isn't a type of its own is an
  /// extension.
  private func kind(of node: Syntax) -> TypeFact.Kind {
    switch node.kind {
    case .classDecl: .class
    case .structDecl: .struct
    case .enumDecl: .enum
    case .actorDecl: .actor
    default: .extension
    }
  }

  /// The properties, the cases and the macros among a type's members.
  ///
  /// Those in `#if` aren't looked at.
  private func members(of group: some DeclGroupSyntax) -> ([PropertyFact], [String], [String]) {
    var properties: [PropertyFact] = []
    var cases: [String] = []
    var macros: [String] = []
    for member in group.memberBlock.members {
      if let variable = member.decl.as(VariableDeclSyntax.self) {
        properties += variable.bindings.compactMap { property($0, of: variable) }
      } else if let enumCase = member.decl.as(EnumCaseDeclSyntax.self) {
        cases += enumCase.elements.map(\.name.text)
      } else if let macro = member.decl.as(MacroExpansionDeclSyntax.self) {
        macros.append(macro.trimmedDescription)
      }
    }
    return (properties, cases, macros)
  }

  /// The fact of a property; nil for a pattern other than a name.
  private func property(_ binding: PatternBindingSyntax, of variable: VariableDeclSyntax)
    -> PropertyFact?
  {
    guard let identifier = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier else {
      return nil
    }
    let modifiers = variable.modifiers.map(\.name.text)
    return PropertyFact(
      name: identifier.text, type: VariableTypes.type(of: binding),
      defaultValue: binding.initializer?.value.trimmedDescription,
      isStatic: modifiers.contains("static") || modifiers.contains("class"),
      isComputed: binding.accessorBlock.map(isComputed) ?? false,
      isConstant: variable.bindingSpecifier.text == "let",
      attributes: variable.attributes.compactMap { $0.as(AttributeSyntax.self).map(attribute) },
      // A fix inserts attributes before all modifiers, and a default value after the type if there
      // is one.
      place: context.place(identifier), start: variable.start,
      end: (binding.typeAnnotation.map(Syntax.init) ?? Syntax(binding.pattern)).end)
  }

  /// Whether a property has a getter. One with only observers is stored.
  ///
  /// A model keeps a stored property in its store, so rules and ``Payloads`` look at it.
  private func isComputed(_ block: AccessorBlockSyntax) -> Bool {
    // Braces without `get` are a getter.
    guard case .accessors(let accessors) = block.accessors else { return true }
    return !accessors.allSatisfy { ["willSet", "didSet"].contains($0.accessorSpecifier.text) }
  }

  /// The fact of an attribute, with the edit that removes each of its arguments. An argument without a label has its
  /// own source as its name, such as `.unique`.
  private func attribute(_ attribute: AttributeSyntax) -> AttributeFact {
    var arguments: [String: String] = [:]
    var removals: [String: Fix.Edit] = [:]
    var start: Int?
    if case .argumentList(let list) = attribute.arguments {
      start = list.start
      // The end of an argument is that of its expression: its node includes the comma that belongs
      // to the next edit.
      let all = Array(list)
      // An argument is removed with the comma before it; the first one, with the comma after it.
      for (index, argument) in all.enumerated() {
        let label = argument.label?.text ?? (argument.expression.code)
        arguments[label] = argument.expression.trimmedDescription
        let from = index == 0 ? argument.start : all[index - 1].expression.end
        let to = index == 0 && all.count > 1 ? all[1].start : argument.expression.end
        removals[label] = Fix.Edit(offset: from, length: to - from, replacement: "")
      }
    }
    return AttributeFact(
      name: attribute.attributeName.trimmedDescription, arguments: arguments,
      text: attribute.trimmedDescription,
      place: context.place(attribute), argumentsStart: start, removals: removals)
  }

  // MARK: - Constants

  /// The named strings: `let` constants, and the cases of enumerations with strings as raw values.
  ///
  /// Keys of preferences, keychain accounts and the like are looked up among these. A `var` isn't
  /// one, since its value may differ where it is read.
  private func constants() -> [ConstantFact] {
    var constants: [ConstantFact] = []
    for variable in context.walk.variables where variable.bindingSpecifier.text == "let" {
      for binding in variable.bindings {
        guard let value = binding.initializer?.value, let text = stringValue(value) else {
          continue
        }
        constants.append(
          constant(
            binding.pattern.trimmedDescription, text, modifiers: variable.modifiers,
            at: binding.pattern))
      }
    }
    for node in context.walk.types {
      guard let declaration = node.as(EnumDeclSyntax.self) else { continue }
      let inherited =
        declaration.inheritanceClause?.inheritedTypes.map(\.type.trimmedDescription) ?? []
      guard inherited.contains("String") else { continue }
      for member in declaration.memberBlock.members {
        for element in member.decl.as(EnumCaseDeclSyntax.self)?.elements ?? [] {
          // As the compiler does: a case without a raw value has its own name.
          let raw = element.rawValue.map(\.value)?.literal ?? element.name.text
          constants.append(
            constant(element.name.text, raw, modifiers: declaration.modifiers, at: element.name))
        }
      }
    }
    return constants
  }

  /// The content of a literal, or of a typed key that is made from one: `Key("token")`.
  ///
  /// The called type only has to sound like a key, and its first argument counts as the string.
  private func stringValue(_ value: ExprSyntax) -> String? {
    if let literal = value.literal { return literal }
    guard let call = value.as(FunctionCallExprSyntax.self),
      call.name.hasSuffix("Key") || call.name == "Name"
    else { return nil }
    return call.arguments.first?.expression.literal
  }

  /// The fact of a named string. A local, private or instance constant is private: a fix in another place can't name
  /// it.
  private func constant(
    _ name: String, _ value: String, modifiers: DeclModifierListSyntax, at node: some SyntaxProtocol
  ) -> ConstantFact {
    let outer = node.enclosingType
    let isLocal = node.ancestors.contains {
      $0.is(CodeBlockSyntax.self) || $0.is(ClosureExprSyntax.self)
    }
    let isHidden = modifiers.contains { ["private", "fileprivate"].contains($0.name.text) }
    // A member needs a value of the type to be read, and a literal can't be replaced by that.
    let isInstance =
      node.ancestors.contains { $0.is(MemberBlockSyntax.self) }
      && !node.ancestors.contains { $0.is(EnumCaseDeclSyntax.self) }
      && !modifiers.contains { ["static", "class"].contains($0.name.text) }
    return ConstantFact(
      name: outer.isEmpty ? name : outer + "." + name, value: value,
      isPrivate: isLocal || isHidden || isInstance, place: context.place(node))
  }

  // MARK: - Manifest

  /// The folders of a manifest's targets: the named path, or SwiftPM's default.
  ///
  /// Each has a slash at its end, so that `Tests/App` isn't a prefix of `Tests/AppKit`. A target
  /// whose name isn't a literal has none.
  private func folders(of kind: String, in folder: String) -> [String] {
    // Paths in a manifest begin at its folder, which need not be the folder that is checked.
    let root = context.path.split(separator: "/").dropLast().map { $0 + "/" }.joined()
    return context.walk.calls.filter { $0.name == kind }.compactMap { call in
      if let path = call.argument("path")?.literal { return root + path + "/" }
      return call.argument("name")?.literal.map { root + folder + $0 + "/" }
    }
  }
}

// MARK: - Suppressions

/// Finds comments `// stead:disable ID reason`, for their own line, and `// stead:disable:next ID reason`, for
/// the next one.
///
/// ```swift
/// defaults.set(token, forKey: "token")  // stead:disable P01 the token of a public demo
/// ```
///
/// A comment without a reason is collected, too. It disables nothing, and ``Screening`` reports it
/// as L01.
enum SuppressionReader {
  /// The suppressions of a file, in the order of the source. Costs a pass over all tokens.
  static func read(_ tree: SourceFileSyntax, bytes: [UInt8], context: FileContext) -> [Suppression]
  {
    var found: [Suppression] = []
    // A comment after code is in the trailing trivia of the token before it, and one on a line of
    // its own in the leading trivia of the next token.
    for token in tree.tokens(viewMode: .sourceAccurate) {
      found += read(
        token.leadingTrivia, from: token.position.utf8Offset, context: context, near: token)
      found += read(
        token.trailingTrivia, from: token.endPositionBeforeTrailingTrivia.utf8Offset,
        context: context, near: token)
    }
    return found
  }

  /// The suppressions in a token's trivia. Comments are in no node of the tree, so they need this pass over all
  /// tokens.
  private static func read(
    _ trivia: Trivia, from start: Int, context: FileContext, near token: TokenSyntax
  ) -> [Suppression] {
    // A piece of trivia has a length and no position, so the offsets are added up.
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
  ///
  /// Several rules have commas and no spaces between them: everything after the first space is the
  /// reason.
  static func parse(_ comment: String) -> (rules: [String], isNext: Bool, reason: String)? {
    let text = comment.drop { $0 == "/" }.trimmed
    guard text.hasPrefix("stead:disable") else { return nil }
    var rest = text.dropFirst("stead:disable".count)
    let isNext = rest.hasPrefix(":next")
    if isNext { rest = rest.dropFirst(":next".count) }
    // A word such as `stead:disabled` is prose.
    guard rest.isEmpty || rest.first == " " else { return nil }
    let words = rest.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
    let rules = words.first?.split(separator: ",").map(String.init) ?? []
    let reason = words.count > 1 ? words[1].trimmed : ""
    return (rules, isNext, reason)
  }
}

/// A comment that disables rules for a line.
struct Suppression: Codable, Sendable {
  /// The identifiers or names of rules, as the comment has them. An unknown one disables nothing.
  let rules: [String]
  /// The line whose findings it disables.
  let line: Int
  /// Why the finding is accepted; empty if the comment doesn't say.
  let reason: String
  /// The comment itself, at which L01 is reported.
  let place: Place
}
