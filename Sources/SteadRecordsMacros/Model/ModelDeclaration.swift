/// What `@Model` knows of a class: plain values, free of syntax.
struct ModelDeclaration {
  /// The class's bare name, as key paths must spell it.
  var name: String
  var isFinal: Bool
  /// `public`, `package`, or nothing: what a member needs to serve as a witness.
  var access: String
  /// The name of the superclass as written, when the superclass is a model.
  var supermodel: String?
  /// The stored, persisted properties in the order of their indices.
  var properties: [PersistedProperty]
  /// The arguments of each `#Unique` and `#Index`, ready to follow the type's name.
  var constraints: [Constraint]

  struct Constraint {
    enum Kind: String { case unique = "Unique", index = "Index" }

    var kind: Kind
    /// `([\.a], [\.b])`
    var arguments: String
  }

  /// Whether the class inherits or conforms to anything, so that it might be below another model.
  var inheritsSomething: Bool

  /// The index of a property, as generated code spells it.
  ///
  /// A literal where syntax alone shows that the class is a root; else it counts on from the first.
  func index(_ position: Int) -> String {
    inheritsSomething ? "\(name)._$first + \(position)" : "\(position)"
  }
}

/// A property that gets a column.
struct PersistedProperty {
  /// The name as written, in backticks if it needs them.
  var name: String
  /// The declared type; nil when the initial value decides it.
  var type: String?
  var initialValue: String?
  /// Whether it is a `let`, which accessors cannot be attached to.
  var isConstant: Bool
  var storage: Storage
  /// `Attribute(…)` or `Relationship(…)` with the arguments as written; nil without such an attribute.
  var metadata: String?
  var isRelationship: Bool
  var observers: [Observer]

  /// Which family of slots the options ask for; within a family the type decides.
  enum Storage: String {
    case plain = "_makeSlot"
    case transformable = "_makeTransformableSlot"
    case external = "_makeExternalSlot"
    case opaque = "_makeOpaqueSlot"
  }

  struct Observer {
    enum Kind: String { case willSet, didSet }

    var kind: Kind
    /// The name of the value handed over, when it is used at all.
    var parameter: String?
    var body: String
  }

  /// The name without backticks, which is the column's.
  var plainName: String { name.filter { $0 != "`" } }
  var slot: String { prefixed("_") }
  /// The property of no size whose initialization stands for that of the property.
  var proof: String { prefixed("_$") }
  /// Whether the class's initializers may leave the property alone.
  var hasInitialValue: Bool {
    initialValue != nil || (!isConstant && isOptional)
  }

  /// `T?` and `T!` start as nil; `Optional<T>` does not.
  var isOptional: Bool { type.map { $0.hasSuffix("?") || $0.hasSuffix("!") } ?? false }

  /// The type where an expression is expected of it: `T!` is only a spelling of `T?`.
  var usableType: String? {
    type.map { $0.hasSuffix("!") ? String($0.dropLast()) + "?" : $0 }
  }

  /// The expression that makes the slot.
  var slotExpression: String {
    let function = "SteadRecords.\(storage.rawValue)"
    if let usableType { return "\(function)((\(usableType)).self)" }
    return "\(function)(inferring: \(initialValue ?? "nil"))"
  }

  func prefixed(_ prefix: String) -> String {
    let isPlain = plainName.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
    return isPlain ? prefix + plainName : "`\(prefix)\(plainName)`"
  }
}
