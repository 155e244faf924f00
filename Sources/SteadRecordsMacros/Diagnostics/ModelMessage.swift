import SwiftDiagnostics
import SwiftSyntax

/// The diagnostics of the macros about a declaration, except those inside predicates. A message says what is refused
/// and why.
///
/// Some sentences are Apple's own, so that what is found about them on the web helps here, too.
enum ModelMessage: Equatable {
  /// `@Model` or another macro for classes on another kind of type.
  case notAClass(macro: String, kind: String, name: String)
  /// `@ModelActor` on a type that is no actor.
  case notAnActor(kind: String, name: String)
  /// A class without a designated initializer, which `@Model` keeps the compiler from making.
  case missingInitializer(model: String)
  /// A generic class: each specialization would need columns of its own.
  case genericClass(model: String)
  /// `var a, b: Int`, where a macro can only be attached to one of the two.
  case severalBindings
  /// A `lazy` property, whose storage the compiler makes itself.
  case lazy(property: String)
  /// A `weak` or `unowned` property: the context keeps objects alive.
  case reference(modifier: String, property: String)
  /// A tuple, which can't conform to Codable.
  case tuple(property: String)
  /// A property wrapper, whose storage would take the place of the slot.
  case wrapper(attribute: String, property: String)
  /// A `@Transient` property without an initial value, which an object read from the store needs.
  case transientWithoutValue(property: String)
  /// An attribute about storage on a static or computed property.
  case notStored(attribute: String, property: String)
  /// Two attributes of which a property can have one.
  case contradiction(first: String, second: String, property: String)
  /// A relationship that is a `let`, although the deletion of its destination changes it.
  case constantRelationship(property: String)
  /// `@Relationship` on a type that is certainly no model.
  case relationshipOfValue(property: String, type: String)
  /// `.unique` on an array, which can't be a key.
  case uniqueArray(property: String)
  /// `.externalStorage` on a value that is never large.
  case externalValue(property: String, type: String)
  /// Two relationships of one class that name each other, which the compiler reports as a circular reference.
  case inverseOnBothSides(first: String, second: String)
  /// A `#Unique` or `#Index` for another class.
  case foreignConstraint(macro: String, type: String, model: String)
  /// A `#Unique` or `#Index` over something without a column.
  case constraintOverOther(macro: String, property: String)
  /// A name that every model has; see ``ReservedNames/reserved``.
  case reserved(property: String)
  /// A name that begins as generated members do.
  case reservedPrefix(property: String)
  /// A property named like the module that generated code names.
  case hidesModule
  /// A name of a member of `PersistentModel`, which the property hides.
  case hidesMember(property: String)
  /// A name that Core Data's objects have, so that the model opens no store on Apple's systems.
  case refusedByApple(property: String)
}

extension ModelMessage: DiagnosticMessage {
  var message: String {
    switch self {
    case .notAClass(let macro, let kind, let name):
      "'@\(macro)' cannot be applied to \(kind) type '\(name)'"
    case .notAnActor(let kind, let name):
      "'@ModelActor' cannot be applied to \(kind) type '\(name)'"
    case .missingInitializer(let model):
      "@Model requires an initializer be provided for '\(model)'"
    case .genericClass(let model):
      "'@Model' cannot be applied to generic class '\(model)': an entity has one set of columns"
    case .severalBindings:
      "a persisted property needs a separate declaration"
    case .lazy(let property):
      "'lazy' cannot be used on persisted property '\(property)': its value comes from the store"
    case .reference(let modifier, let property):
      "'\(modifier)' cannot be used on persisted property '\(property)': "
        + "the context decides how long a model lives"
    case .tuple(let property):
      "persisted property '\(property)' cannot be a tuple; use a Codable struct"
    case .wrapper(let attribute, let property):
      "property wrapper '@\(attribute)' cannot be used on persisted property '\(property)'"
    case .transientWithoutValue(let property):
      "@Transient property '\(property)' needs an initial value: "
        + "objects read from the store have no other"
    case .notStored(let attribute, let property):
      "'@\(attribute)' has no effect on '\(property)', which the model does not store"
    case .contradiction(let first, let second, let property):
      "'\(property)' cannot be both '@\(first)' and '@\(second)'"
    case .constantRelationship(let property):
      "relationship '\(property)' must be declared with 'var': deleting its destination changes it"
    case .relationshipOfValue(let property, let type):
      "'@Relationship' cannot be applied to '\(property)': '\(type)' is not a model"
    case .uniqueArray(let property):
      "'.unique' cannot be applied to '\(property)': an array cannot be a key"
    case .externalValue(let property, let type):
      "'.externalStorage' cannot be applied to '\(property)': "
        + "a '\(type)' takes no more space than a reference to a file"
    case .inverseOnBothSides(let first, let second):
      "'\(first)' and '\(second)' name each other as inverse; only one side may"
    case .foreignConstraint(let macro, let type, let model):
      "'#\(macro)<\(type)>' has no effect in '\(model)'"
    case .constraintOverOther(let macro, let property):
      "'#\(macro)' can only name stored properties of its class, and '\(property)' isn't one"
    case .reserved(let property):
      "a model cannot store a property named '\(property)': every model has one that says what it is"
    case .reservedPrefix(let property):
      "a model cannot store a property named '\(property)': names that start with '_$' are generated"
    case .hidesModule:
      "a model cannot store a property named 'SteadRecords': it hides the module of that name"
    case .hidesMember(let property):
      "stored property '\(property)' hides the model's own '\(property)'"
    case .refusedByApple(let property):
      "SwiftData on Apple's systems refuses to store a property named '\(property)', at run time"
    }
  }

  /// Warnings are for code that runs here, and not on Apple's systems or not as it reads.
  var severity: DiagnosticSeverity {
    switch self {
    case .hidesMember, .refusedByApple, .foreignConstraint: .warning
    default: .error
    }
  }

  /// The case's name, so that tests and tools need not compare sentences.
  var diagnosticID: MessageID {
    let label = Mirror(reflecting: self).children.first?.label ?? "\(self)"
    return MessageID(domain: "SteadRecords", id: label)
  }
}

// MARK: - Fix-its

/// The fix-its that go with diagnostics.
enum ModelRemedy: FixItMessage {
  case replace(String, with: String)
  case insertMemberwiseInitializer
  case remove(String)
  case insert(String)
  case split

  var message: String {
    switch self {
    case .replace(let old, let new): "replace '\(old)' with '\(new)'"
    case .insertMemberwiseInitializer: "insert a memberwise initializer"
    case .remove(let text): "remove '\(text)'"
    case .insert(let text): "insert '\(text)'"
    case .split: "declare each property separately"
    }
  }

  var fixItID: MessageID {
    let label = Mirror(reflecting: self).children.first?.label ?? "\(self)"
    return MessageID(domain: "SteadRecords", id: label)
  }
}

// Changes of source that fix-its make, as strings: the tree around them stays as the user wrote it.

extension FixIt {
  /// Replaces a node's text.
  static func replacing(_ node: some SyntaxProtocol, with text: String) -> FixIt {
    FixIt(
      message: ModelRemedy.replace(node.trimmedDescription, with: text),
      changes: [
        .replaceText(range: node.trimmedRange, with: text, in: Syntax(node.root))
      ])
  }

  /// Removes a node with the space that follows it.
  static func removing(_ node: some SyntaxProtocol, named name: String? = nil) -> FixIt {
    FixIt(
      message: ModelRemedy.remove(name ?? node.trimmedDescription),
      changes: [
        .replaceText(
          range: node.positionAfterSkippingLeadingTrivia..<node.endPosition, with: "",
          in: Syntax(node.root))
      ])
  }

  /// Removes one of a list of arguments with the comma that separates it.
  static func removing(_ argument: LabeledExprSyntax, from list: LabeledExprListSyntax) -> FixIt {
    var range = argument.positionAfterSkippingLeadingTrivia..<argument.endPosition
    // Any other argument has its comma within its own range.
    if argument.id == list.last?.id, let index = list.index(of: argument), index > list.startIndex {
      // The last argument takes the comma before it along.
      let previous = list[list.index(before: index)]
      range = previous.expression.endPositionBeforeTrailingTrivia..<range.upperBound
    }
    let name = argument.with(\.trailingComma, nil).trimmedDescription
    return FixIt(
      message: ModelRemedy.remove(name),
      changes: [.replaceText(range: range, with: "", in: Syntax(argument.root))])
  }

  /// Inserts text at a position.
  static func inserting(
    _ text: String, at position: AbsolutePosition, of node: some SyntaxProtocol,
    message: ModelRemedy? = nil
  ) -> FixIt {
    FixIt(
      message: message ?? .insert(text.trimmingSpaces),
      changes: [
        .replaceText(range: position..<position, with: text, in: Syntax(node.root))
      ])
  }
}

extension String {
  /// The string without spaces at its ends.
  var trimmingSpaces: String {
    String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }
}

extension SyntaxProtocol {
  /// A diagnostic at this node.
  func diagnostic(
    _ message: ModelMessage, highlight: Syntax? = nil, fixIts: [FixIt] = []
  ) -> Diagnostic {
    Diagnostic(node: self, message: message, highlights: highlight.map { [$0] }, fixIts: fixIts)
  }
}
