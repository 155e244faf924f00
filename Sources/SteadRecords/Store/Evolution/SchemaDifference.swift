/// What has changed from one schema to another, and whether a store's data can follow automatically.
///
/// It is derived from the schemas alone, and reads no store: a change may still be refused because of a store's
/// content, such as two rows with the same value of a property that becomes unique.
///
/// Changes that need no migration plan: models and properties that are added, removed or renamed
/// (`@Attribute(originalName:)`, `@Relationship(originalName:)`); new properties that are optional or have a default value;
/// required properties that become optional, and optional ones with a default value that become required; delete
/// rules, indexes, `.unique`, `.externalStorage`; relationships that lead to one object or to several now.
public struct SchemaDifference: Sendable {
  /// One thing that has changed.
  public struct Change: Sendable, Hashable, CustomStringConvertible {
    /// The entity's present name, or its former name if it is gone.
    public let entity: String
    /// The property's name; nil for a change of the entity itself.
    public let property: String?
    /// What has changed, in a sentence.
    public let description: String
    /// Whether stored data is gone afterwards, or is stored in another form.
    public let losesData: Bool
    /// What a custom stage of a migration plan can do about a refusal; nil for nothing.
    var cure: Cure?
    /// What has changed, without the part that a custom stage handles; nil if ``description`` has no such part.
    var fact: String?
    /// Whether the property's type may be the same one, whose values its column stores in the same way: the program
    /// no longer has it under its name, or it has changed under its name.
    var isOfUnknownType = false

    enum Cure {
      /// It gives rows the values that they lack.
      case values
      /// It reads the property as it was, and sets it as it is: two properties of one name.
      case replacement
    }
  }

  /// The changes that a store's data follows automatically.
  public let changes: [Change]
  /// The changes that it cannot follow, each with a remedy.
  public let refusals: [Change]

  /// Compares two schemas.
  ///
  /// Costs some microseconds for each property.
  public init(from old: Schema, to new: Schema) {
    self.init(SchemaMatch(from: old, to: new))
  }

  init(_ match: SchemaMatch) {
    var comparison = SchemaComparison(match)
    comparison.run()
    (changes, refusals) = (comparison.changes, comparison.refusals)
  }

  /// Whether the schemas need the same tables.
  public var isEmpty: Bool { changes.isEmpty && refusals.isEmpty }
  /// Whether the schemas are the same but for what is in their types: an app may have moved a type into its versions
  /// since, or all its versions share a type that it has changed.
  var isOfUnknownTypes: Bool { refusals.isEmpty && changes.allSatisfy(\.isOfUnknownType) }
  /// Whether stored data is gone afterwards, or is stored in another form.
  public var losesData: Bool { changes.contains(where: \.losesData) }
}

extension SchemaDifference: CustomStringConvertible {
  /// The changes, then the refusals, one per line.
  public var description: String {
    (changes + refusals).map(\.description).joined(separator: "\n")
  }

  /// The changes in one line, without remedies: for a stage whose closures convert what cannot follow automatically,
  /// and for a migration that was done.
  var facts: String {
    (changes + refusals).map { $0.fact ?? $0.description }.joined(separator: " ")
  }
}
