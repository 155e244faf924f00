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
  /// The arguments of each `#Unique` and `#Index`, as written.
  var constraints: [Constraint]

  /// The stored properties without a column; nil when the class has any that the macro cannot fill in.
  var unstored: [UnstoredProperty]?
  var hasDeinitializer: Bool

  /// A stored property without a column.
  struct UnstoredProperty {
    var name: String
    var initialValue: String
  }

  struct Constraint {
    enum Kind: String { case unique = "Unique", index = "Index" }

    var kind: Kind
    /// `[\.a], [\.b]`
    var arguments: String
  }

  /// Whether the class inherits or conforms to anything, so that it might be below another model.
  var inheritsSomething: Bool

  /// The index of a property, as generated code spells it.
  ///
  /// A literal where syntax alone shows that the class is a root; else it counts on from the first.
  func index(_ position: Int) -> String {
    Self.index(position, in: name, inherits: inheritsSomething)
  }

  static func index(_ position: Int, in model: String, inherits: Bool) -> String {
    inherits ? "\(model)._$first + \(position)" : "\(position)"
  }
}
