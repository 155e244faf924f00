import Foundation

extension Schema {
  /// A reference from one model to another, or to several: what `@Relationship` describes.
  ///
  /// A property whose type is a model, an optional of one, or an array of one is a relationship, with or without
  /// `@Relationship`.
  ///
  /// ```swift
  /// @Relationship(deleteRule: .cascade, maximumModelCount: 20, inverse: \Stop.trip) var stops: [Stop] = []
  /// ```
  public final class Relationship: SchemaProperty {
    /// The property's name.
    public internal(set) var name: String
    /// The name in an earlier version of the models; by default the name.
    public var originalName: String
    /// The Swift type of the property: a model, an array of one, or an optional.
    public var valueType: any Any.Type
    /// The options given in the source.
    public internal(set) var options: [Option]
    /// The name of the destination's entity.
    public internal(set) var destination: String
    /// The name of the property that points back, once the schema has found it.
    public internal(set) var inverseName: String?
    /// The property that points back, as given in the source.
    public internal(set) var inverseKeyPath: AnyKeyPath?
    /// The property itself; nil in a decoded schema.
    public internal(set) var keypath: AnyKeyPath?
    /// What happens to the destination when the owner is deleted.
    public internal(set) var deleteRule: DeleteRule
    /// The minimum number of destinations of a saved owner; 0 or nil for none. A save with fewer throws
    /// ``SwiftDataError/modelValidationFailure``.
    public internal(set) var minimumModelCount: Int?
    /// The maximum number of destinations of a saved owner; 0 or nil for no limit. A save with more throws
    /// ``SwiftDataError/modelValidationFailure``.
    public internal(set) var maximumModelCount: Int?
    /// A string that makes two otherwise equal versions of the relationship differ.
    public internal(set) var hashModifier: String?
    /// The stored form that an encoded schema records, for a type that this program may lack.
    var recorded: RecordedForm?

    /// Creates a relationship as `@Relationship` writes it; the schema fills in the rest.
    public init(
      _ options: Option..., deleteRule: DeleteRule = .nullify, minimumModelCount: Int? = 0,
      maximumModelCount: Int? = 0, originalName: String? = nil, inverse: AnyKeyPath? = nil,
      hashModifier: String? = nil
    ) {
      self.options = options
      self.deleteRule = deleteRule
      self.minimumModelCount = minimumModelCount
      self.maximumModelCount = maximumModelCount
      self.originalName = originalName ?? ""
      inverseKeyPath = inverse
      self.hashModifier = hashModifier
      name = ""
      destination = ""
      valueType = Any.self
    }

    /// Creates the relationship of a property, with the options of another.
    init(options other: Relationship?, of property: ModelMetadata.Property, destination: String) {
      options = other?.options ?? []
      deleteRule = other?.deleteRule ?? .nullify
      // nil only if the source says nil. Without options it is 0, the default of `@Relationship`.
      minimumModelCount = other.map(\.minimumModelCount) ?? 0
      maximumModelCount = other.map(\.maximumModelCount) ?? 0
      hashModifier = other?.hashModifier
      inverseKeyPath = other?.inverseKeyPath
      name = property.name
      let originalName = other?.originalName ?? ""
      self.originalName = originalName.isEmpty ? name : originalName
      valueType = property.valueType
      keypath = property.keyPath
      self.destination = destination
    }

    public var isAttribute: Bool { false }
    public var isRelationship: Bool { true }
    /// False: a transient property is not in a schema.
    public var isTransient: Bool { false }
    /// Whether the property may be nil. A save refuses a required reference without an object.
    public var isOptional: Bool { recorded?.isOptional ?? PropertyShape(valueType).isOptional }
    /// Whether no two owners refer to the same object.
    public var isUnique: Bool { options.contains(.unique) }
    /// Whether the property holds at most one model.
    public var isToOneRelationship: Bool {
      recorded?.isToOne ?? !PropertyShape(valueType).isToMany
    }

    /// Whether names, options, destinations, inverses, types, delete rules and hash modifiers are
    /// equal. Limits on the number of models are not compared.
    public static func == (left: Relationship, right: Relationship) -> Bool {
      // Not the limits on members: they constrain saves, and no table depends on them.
      left.name == right.name && left.destination == right.destination
        && left.deleteRule == right.deleteRule && left.inverseName == right.inverseName
        && left.options == right.options && left.originalName == right.originalName
        && left.valueType == right.valueType && left.hashModifier == right.hashModifier
    }

    /// Hashes the name and the destination.
    public func hash(into hasher: inout Hasher) {
      hasher.combine(name)
      hasher.combine(destination)
    }

    private enum CodingKeys: CodingKey {
      case name, originalName, options, valueType, destination, inverseName, deleteRule,
        minimumModelCount, maximumModelCount, hashModifier, form
    }

    /// Decodes a relationship without key paths, also one of a type that this program lacks.
    public init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      name = try container.decode(String.self, forKey: .name)
      originalName = try container.decode(String.self, forKey: .originalName)
      options = try container.decode([Option].self, forKey: .options)
      valueType = try ValueTypeName.type(named: container.decode(String.self, forKey: .valueType))
      destination = try container.decode(String.self, forKey: .destination)
      inverseName = try container.decodeIfPresent(String.self, forKey: .inverseName)
      deleteRule = try container.decode(DeleteRule.self, forKey: .deleteRule)
      minimumModelCount = try container.decodeIfPresent(Int.self, forKey: .minimumModelCount)
      maximumModelCount = try container.decodeIfPresent(Int.self, forKey: .maximumModelCount)
      hashModifier = try container.decodeIfPresent(String.self, forKey: .hashModifier)
      recorded = try container.decodeIfPresent(RecordedForm.self, forKey: .form)
    }

    /// Encodes all but the key paths. The inverse is encoded by its name.
    public func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(name, forKey: .name)
      try container.encode(originalName, forKey: .originalName)
      try container.encode(options, forKey: .options)
      try container.encode(ValueTypeName.name(of: valueType), forKey: .valueType)
      try container.encode(destination, forKey: .destination)
      try container.encodeIfPresent(inverseName, forKey: .inverseName)
      try container.encode(deleteRule, forKey: .deleteRule)
      try container.encodeIfPresent(minimumModelCount, forKey: .minimumModelCount)
      try container.encodeIfPresent(maximumModelCount, forKey: .maximumModelCount)
      try container.encodeIfPresent(hashModifier, forKey: .hashModifier)
      try container.encode(
        recorded ?? RecordedForm(isOptional: isOptional, isToOne: isToOneRelationship),
        forKey: .form)
    }
  }
}

extension Schema.Relationship {
  /// What happens to the destination of a relationship when its owner is deleted.
  ///
  /// Rules are applied by ``ModelContext/delete(_:)`` in memory, and again by the save, also to what other contexts
  /// have linked meanwhile.
  public enum DeleteRule: String, Codable, Sendable {
    /// The destination is deleted, too, and what its relationships cascade to. One that moved to another owner stays.
    case cascade
    /// The save throws ``SwiftDataError/deletionDenied`` while a destination exists that is not deleted, too.
    ///
    /// ```swift
    /// context.delete(author)
    /// do { try context.save() } catch SwiftDataError.deletionDenied { context.rollback() }
    /// ```
    case deny
    /// The destination keeps a reference in the store, which reads as nil.
    case noAction
    /// The destination's reference is cleared; the default. A reference without an inverse is cleared by the save.
    case nullify
  }

  /// How a relationship is treated.
  public struct Option: Codable, Hashable, Sendable {
    let name: String

    /// No two owners refer to the same destination: saving a second one updates the first.
    public static let unique = Option(name: "unique")
  }
}
