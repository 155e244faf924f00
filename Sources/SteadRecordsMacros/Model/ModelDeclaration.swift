/// A class with `@Model` as plain values, without syntax: what parsing returns and expansion takes.
///
/// It has no syntax, so that what is written can be tested without a compiler, and a macro doesn't walk the tree
/// twice.
struct ModelDeclaration {
  /// The class's bare name, as key paths must spell it.
  var name: String
  /// Whether the class can have no subclass. Members are then static, and objects are made without an initializer.
  var isFinal: Bool
  /// `public`, `package`, or nothing: what a member needs to serve as a witness.
  var access: String
  /// The name of the superclass as written, when the superclass is a model.
  var supermodel: String?
  /// The stored, persisted properties in the order of their indices.
  var properties: [PersistedProperty]
  /// The arguments of each `#Unique` and `#Index`, as written.
  var constraints: [Constraint]

  /// The stored properties without a column; nil if the macro cannot initialize one of them.
  var unstored: [UnstoredProperty]?
  /// Whether the class has a `deinit` of its own.
  var hasDeinitializer: Bool

  /// A stored property without a column, with the source of its initial value.
  struct UnstoredProperty {
    var name: String
    var initialValue: String
  }

  /// A `#Unique` or `#Index`.
  struct Constraint {
    enum Kind: String { case unique = "Unique", index = "Index" }

    /// Whether values must differ or are only found quickly.
    var kind: Kind
    /// `[\.a], [\.b]`
    var arguments: String
  }

  /// Whether the class inherits or conforms to anything, so that it might be below another model.
  var inheritsSomething: Bool

  /// The index of a property as generated code spells it: a literal if syntax alone shows that the class has no
  /// superclass, else an expression that continues the superclass's indices.
  func index(_ position: Int) -> String {
    Self.index(position, in: name, inherits: inheritsSomething)
  }

  /// The same, for a role that does not parse the whole class.
  static func index(_ position: Int, in model: String, inherits: Bool) -> String {
    // An inheritance clause may list protocols alone. `_$first` is 0 then, which the compiler can
    // see through.
    inherits ? "\(model)._$first + \(position)" : "\(position)"
  }
}

// MARK: - Properties

/// A property with a column.
struct PersistedProperty {
  /// The name as written, in backticks if it needs them.
  var name: String
  /// The declared type; nil when the initial value decides it.
  var type: String?
  /// The source of the initial value.
  var initialValue: String?
  /// Whether it is a `let`, which cannot have accessors.
  var isConstant: Bool
  /// What its options ask of its slot.
  var storage: Storage
  /// `Attribute(…)` or `Relationship(…)` with the arguments as written; nil without such an attribute.
  var metadata: String?
  /// Whether it has `@Relationship`. A property without it may be one as well, by its type.
  var isRelationship: Bool
  /// Its observers; accessors of the macro take their place, and call them.
  var observers: [Observer]
  /// Whether the initial value is more than a literal, so that evaluating it costs something.
  var evaluates: Bool
  /// Whether syntax alone shows that the type isn't a model.
  var isValue: Bool

  /// What the options ask of the slot. For the rest the property's type decides.
  enum Storage {
    case plain, external, transformable, opaque

    /// The function that makes the slot.
    var function: String {
      switch self {
      case .plain, .external: "_makeSlot"
      case .transformable: "_makeTransformableSlot"
      case .opaque: "_makeOpaqueSlot"
      }
    }
  }

  /// `willSet` or `didSet`.
  struct Observer {
    enum Kind: String { case willSet, didSet }

    var kind: Kind
    /// The name of the value handed over, when it is used at all.
    var parameter: String?
    /// The source between the braces.
    var body: String
  }

  /// The name without backticks, which is the column's name.
  var plainName: String { name.filter { $0 != "`" } }
  /// The member that stores the value.
  var slot: String { prefixed("_$slot_") }
  /// The member of no size whose initialization stands for that of the property, so that the compiler reports an
  /// initializer that forgets it.
  var proof: String { prefixed("_$proof_") }
  /// The member that is true while an observer runs: as in the language, an assignment in an observer calls no
  /// observer.
  var observing: String { prefixed("_$observing_") }
  /// Whether an initializer may leave the property alone.
  var hasInitialValue: Bool {
    // As in the language: a `var` of optional type starts as nil, a `let` does not.
    initialValue != nil || (!isConstant && isOptional)
  }

  /// `T?` and `T!` start as nil; `Optional<T>` does not.
  var isOptional: Bool { type.map { $0.hasSuffix("?") || $0.hasSuffix("!") } ?? false }

  /// The type where an expression is expected of it: `T!` is only a spelling of `T?`.
  var usableType: String? {
    type.map { $0.hasSuffix("!") ? String($0.dropLast()) + "?" : $0 }
  }

  /// Whether it may be a to-many relationship, whose array is changed in place; observers need the old
  /// value, too.
  var isChangedInPlace: Bool {
    // Only a to-many relationship gains from it. A guess that is wrong, such as for an array of
    // structs, costs the accessor and nothing else.
    guard storage == .plain, !isValue, observers.isEmpty else { return false }
    let start = type ?? initialValue ?? ""
    return start.hasPrefix("[") || start.hasPrefix("Array<")
  }

  /// The expression that makes the slot.
  var slotExpression: String {
    // In parentheses: a type such as `any P` or a function type could not be followed by `.self`
    // otherwise.
    let argument =
      usableType.map { "(\($0)).self" } ?? "inferring: \(initialValue ?? "nil")"
    let option = storage == .external ? ", external: true" : ""
    return "SteadRecords.\(storage.function)(\(argument)\(option))"
  }

  /// The property's key path, where the root is known from what surrounds it.
  func keyPath(of model: String) -> String {
    // With a root before them the compiler takes these two for types, backticks or not.
    plainName == "Type" || plainName == "Protocol" ? "\\.`\(plainName)`" : "\\\(model).\(name)"
  }

  /// The name of a generated member that belongs to the property.
  ///
  /// Unique, since no property's own name may start with `_$` and no two prefixes start alike.
  private func prefixed(_ prefix: String) -> String {
    guard name.first == "`" else { return prefix + name }
    // After a prefix, a keyword no longer needs its backticks; a raw identifier still does.
    let isKeyword = plainName.utf8.allSatisfy { $0 == UInt8(ascii: "_") || isLetterOrDigit($0) }
    return isKeyword ? prefix + plainName : "`\(prefix)\(plainName)`"
  }

  /// Whether a byte can be part of a plain identifier.
  private func isLetterOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...:
      true
    default: false
    }
  }
}
