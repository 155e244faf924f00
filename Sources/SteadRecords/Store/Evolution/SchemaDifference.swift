import Foundation

/// What has changed from one schema to another, and whether a store's data can follow automatically.
///
/// It is derived from the schemas alone, and reads no store: a change may still be refused because of a store's
/// content, such as two rows with the same value of a property that becomes unique.
///
/// Changes that need no migration plan: models and properties that are added, removed or renamed
/// (`@Attribute(originalName:)`, `@Relationship(originalName:)`); new properties that are optional or have a default
/// value; required properties that become optional, and optional ones with a default value that become required; delete
/// rules, indexes, `.unique`, `.externalStorage`; relationships that lead to one object or to several now.
///
/// ```swift
/// let difference = SchemaDifference(from: shipped, to: Schema([Book.self, Author.self]))
/// print(difference)            // a sentence for each change
/// print(difference.refusals)   // what needs a migration plan, and what to write in it
/// ```
///
/// A refusal makes opening a container throw ``SwiftDataError/loadIssueModelContainer``, unless a custom stage handles
/// it.
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

    /// What a custom stage can do about a change that the store cannot follow.
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

  /// Compares two schemas by the names of their entities and properties, original names included.
  ///
  /// Costs some microseconds for each property. A schema may be decoded, whose types this program lacks; their recorded
  /// form is compared then.
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

// MARK: - Attributes

/// The effect of a changed type on an attribute's values.
enum AttributeChange {
  /// The type is the same.
  case none
  /// The same stored values are read as another type, and all of them can be.
  case same
  /// The same stored values are read as another type, if they can be.
  case checked
  /// Values in files are moved into the column.
  case inlined
  /// Values may be stored in files.
  case externalized
  /// Stored values would have to be converted.
  case refused

  /// Compares how columns store the values first, and what the values are made of then.
  init(from old: Schema.Attribute, to new: Schema.Attribute) {
    let isSameTransformer = old.transformerName == new.transformerName
    switch (old.encoding, new.encoding) {
    case (.external, .external): self = .none
    case (.external, .data): self = .inlined
    case (.data, .external): self = .externalized
    // An earlier version of this library took each type for data, and stored NULL.
    case (.external, _) where Self.wasTakenForData(old, new): self = .checked
    case (let before, let now) where before != now || !isSameTransformer: self = .refused
    // Nothing is known of what a transformer reads.
    case (.opaque, _) where old.structure == nil || new.structure == nil: self = .none
    default: self = Self.ofTypes(old, new)
    }
  }

  /// Whether an attribute with the option for external storage was never data.
  private static func wasTakenForData(_ old: Schema.Attribute, _ new: Schema.Attribute) -> Bool {
    let type = PropertyShape(old.valueType).wrapped
    return type != Any.self && type != Data.self && isOfOneName(old, new)
  }

  /// For types whose columns store values in the same way.
  private static func ofTypes(_ old: Schema.Attribute, _ new: Schema.Attribute) -> AttributeChange {
    // By structure: an app may change a type under its name, and its versions have types of one name.
    let structure = new.structure
    if let before = old.structure, structure?.reads(before) ?? false { return .none }
    // Without optionality, which `SchemaComparison` compares.
    let before = PropertyShape(old.valueType).wrapped
    let now = PropertyShape(new.valueType).wrapped
    if let range = IntegerRange(before), let wider = IntegerRange(now) {
      return wider.contains(range) ? .same : .checked
    }
    switch new.encoding {
    case .integer, .unsigned64, .text: return .checked
    // An earlier version of this library recorded no more than a name that the program no longer has.
    case .json, .composite: return old.structure == nil ? .same : .checked
    case .opaque: return .checked
    // Of numbers Float alone can't hold what the others can.
    case .real where now == Float.self: return .checked
    default:
      if case .raw? = structure { return .checked }
      return .same
    }
  }

  /// Whether the types may be one type, whose name is the same or not recorded.
  static func isOfOneName(_ old: Schema.Attribute, _ new: Schema.Attribute) -> Bool {
    let before = PropertyShape(old.valueType).wrapped
    return before == Any.self || "\(before)" == "\(PropertyShape(new.valueType).wrapped)"
  }
}

/// The numbers that an integer type holds.
struct IntegerRange {
  /// The least number; `Int64` has that of every type.
  let least: Int64
  /// The greatest number; `UInt64` has that of every type.
  let greatest: UInt64

  /// nil for a type that is no integer.
  init?(_ type: any Any.Type) {
    guard let integer = type as? any FixedWidthInteger.Type else { return nil }
    self.init(of: integer)
  }

  private init<T: FixedWidthInteger>(of type: T.Type) {
    least = Int64(clamping: T.min)
    greatest = UInt64(clamping: T.max)
  }

  /// Whether every number of another type is one of this type.
  func contains(_ other: IntegerRange) -> Bool {
    least <= other.least && greatest >= other.greatest
  }
}

// MARK: - Words

/// What a property is, in words: `a String`, `an optional Int`, `a relationship to several Tag`.
struct PropertyForm: CustomStringConvertible {
  let description: String

  /// Describes a property by its type as the program has it, or by its recorded encoding.
  init(_ property: any SchemaProperty) {
    if let relationship = property as? Schema.Relationship {
      let count =
        relationship.isToOneRelationship
        ? relationship.isOptional ? "one or no" : "one" : "several"
      description = "a relationship to \(count) \(relationship.destination)"
    } else {
      let name = Self.typeName(property)
      description = property.isOptional ? "an optional \(name)" : "a required \(name)"
    }
  }

  /// The type's name. For a type that the program lacks, it is how values are stored.
  private static func typeName(_ property: any SchemaProperty) -> String {
    let type = PropertyShape(property.valueType).wrapped
    if type != Any.self { return "\(type)" }
    let encoding = (property as? Schema.Attribute)?.recorded?.encoding
    return "value" + (encoding.map { " stored as \($0)" } ?? "")
  }
}
