import Foundation

extension Schema {
  /// A stored value of a model: what `@Attribute` describes.
  ///
  /// The schema makes one for each stored property. Read them to describe models; changing one after its schema was
  /// made has no effect on a container.
  ///
  /// ```swift
  /// for (name, attribute) in schema.entitiesByName["Trip"]?.attributesByName ?? [:] {
  ///   print(name, attribute.valueType, attribute.isUnique)
  /// }
  /// ```
  public class Attribute: SchemaProperty {
    /// The property's name, which is also the column's.
    public internal(set) var name: String
    /// The name in an earlier version of the models; by default the name.
    public var originalName: String
    /// The Swift type of the property; `Any` if a decoded schema names a type that this program lacks.
    public var valueType: any Any.Type
    /// The options given in the source.
    public internal(set) var options: [Option]
    /// The value of the property's initial expression.
    public internal(set) var defaultValue: Any?
    /// A string that makes two otherwise equal versions of the attribute differ.
    public internal(set) var hashModifier: String?
    /// The stored form that an encoded schema records, for a type that this program may lack.
    var recorded: RecordedForm?

    /// Creates an attribute as `@Attribute` writes it; the schema fills in name and type.
    public init(_ options: Option..., originalName: String? = nil, hashModifier: String? = nil) {
      self.options = options
      // The initializer's arguments are what the source says. The property's name and type come
      // from the metadata.
      name = ""
      self.originalName = originalName ?? ""
      valueType = Any.self
      self.hashModifier = hashModifier
    }

    /// Creates an attribute in full.
    public init(
      name: String, originalName: String? = nil, options: [Option] = [], valueType: any Any.Type,
      defaultValue: Any? = nil, hashModifier: String? = nil
    ) {
      self.name = name
      self.originalName = originalName ?? name
      self.options = options
      self.valueType = valueType
      self.defaultValue = defaultValue
      self.hashModifier = hashModifier
    }

    /// Creates an attribute with the options of another.
    convenience init(options other: Attribute?, name: String, type: any Any.Type) {
      let originalName = other?.originalName ?? ""
      self.init(
        name: name, originalName: originalName.isEmpty ? name : originalName,
        options: other?.options ?? [], valueType: type, hashModifier: other?.hashModifier)
    }

    public var isAttribute: Bool { true }
    public var isRelationship: Bool { false }
    /// False: a transient property is not in a schema.
    public var isTransient: Bool { false }
    /// Whether the column may be NULL.
    ///
    /// Taken from the recorded form if there is one, since `valueType` may then be `Any`, which
    /// doesn't show it.
    public var isOptional: Bool { recorded?.isOptional ?? PropertyShape(valueType).isOptional }
    /// Whether no two objects have the same value.
    public var isUnique: Bool { options.contains(.unique) }
    /// Whether a `ValueTransformer` makes the stored value.
    public var isTransformable: Bool { options.contains { $0.transformerName != nil } }
    /// Whether the value is stored opaquely, out of reach of predicates.
    public var isCodable: Bool { options.contains(.codable) }

    /// Whether names, options, types and hash modifiers are equal. Default values are not compared.
    public static func == (left: Attribute, right: Attribute) -> Bool {
      left.name == right.name && left.originalName == right.originalName
        && left.options == right.options && left.valueType == right.valueType
        && left.hashModifier == right.hashModifier
    }

    /// Not all that `==` compares: equal attributes have equal hashes, and others rarely do.
    public func hash(into hasher: inout Hasher) {
      hasher.combine(name)
      hasher.combine(options)
    }

    private enum CodingKeys: CodingKey {
      case name, originalName, options, valueType, hashModifier, form
    }

    /// Decodes an attribute, also one of a type that this program lacks: its recorded form is kept.
    public required init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      name = try container.decode(String.self, forKey: .name)
      originalName = try container.decode(String.self, forKey: .originalName)
      options = try container.decode([Option].self, forKey: .options)
      valueType = try ValueTypeName.type(named: container.decode(String.self, forKey: .valueType))
      hashModifier = try container.decodeIfPresent(String.self, forKey: .hashModifier)
      recorded = try container.decodeIfPresent(RecordedForm.self, forKey: .form)
    }

    /// Encodes all but the default value. An attribute that was decoded is encoded as it was
    /// recorded.
    public func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(name, forKey: .name)
      try container.encode(originalName, forKey: .originalName)
      try container.encode(options, forKey: .options)
      try container.encode(ValueTypeName.name(of: valueType), forKey: .valueType)
      try container.encodeIfPresent(hashModifier, forKey: .hashModifier)
      try container.encode(
        recorded
          ?? RecordedForm(
            isOptional: isOptional, encoding: encoding.rawValue, structure: structure),
        forKey: .form)
    }
  }

  /// An attribute whose value is a Codable struct with fields that predicates can reach.
  public final class CompositeAttribute: Attribute {
    /// The fields whose coding key is their name.
    public internal(set) var properties: [Attribute] = []
  }
}

extension Schema.Attribute {
  /// How an attribute is stored and treated.
  public struct Option: Codable, Hashable, Sendable {
    /// The option's name, as an encoded schema has it.
    let name: String
    /// The name of the transformer, of the option that names one.
    let transformerName: String?

    init(_ name: String, transformerName: String? = nil) {
      self.name = name
      self.transformerName = transformerName
    }

    /// No two objects have the same value: saving a second one updates the first (an upsert).
    ///
    /// A new object with a taken value updates that row, also with its default values. Changing an object's value to a
    /// taken one makes the save throw ``SwiftDataError/modelValidationFailure``. A nil is not equal to another nil.
    /// Strings are compared byte by byte. Costs an index. For several properties together use `#Unique`.
    ///
    /// ```swift
    /// @Attribute(.unique) var code: String
    /// ```
    public static let unique = Option("unique")
    /// Data of 128 KiB or more is stored in a separate file next to the store.
    ///
    /// Values of other types, such as `[Data]`, stay in their rows.
    ///
    /// The files are in the directory `.<store>_external`, and are removed with their rows. A value is read when the
    /// property is. Predicates over such a property are evaluated in memory.
    ///
    /// ```swift
    /// @Attribute(.externalStorage) var photo: Data?
    /// ```
    public static let externalStorage = Option("externalStorage")
    /// The string can be searched with ``ModelContext/search(_:for:matchesPrefix:limit:)``.
    ///
    /// Costs a full-text index, which has the words a second time, and a write to it with each save of the value.
    ///
    /// ```swift
    /// @Attribute(.spotlight) var text: String
    /// ```
    public static let spotlight = Option("spotlight")
    /// Kept in the schema. Nothing is encrypted by it: sync sends the value as it is.
    public static let allowsCloudEncryption = Option("allowsCloudEncryption")
    /// The history keeps the value of a deleted object in ``DefaultHistoryDelete/tombstone``.
    ///
    /// For an identifier by which another system knows the object. Without a history it has no effect.
    ///
    /// ```swift
    /// @Attribute(.preserveValueOnDeletion) var remoteID: String
    /// ```
    public static let preserveValueOnDeletion = Option("preserveValueOnDeletion")
    /// Changing only this value does not mark its object as changed.
    ///
    /// So `hasChanges` stays false and no save writes it alone; a save of another change writes it, too. It is not in
    /// the history.
    ///
    /// ```swift
    /// @Attribute(.ephemeral) var lastOpened: Date?
    /// ```
    public static let ephemeral = Option("ephemeral")
    /// The value is stored opaquely: predicates cannot reach into it, and its shape may change.
    ///
    /// For a Codable struct, which otherwise has a column for each field.
    ///
    /// ```swift
    /// @Attribute(.codable) var layout: WindowLayout
    /// ```
    public static let codable = Option("codable")

    /// The value is stored as data that a transformer of this class produces.
    ///
    /// ```swift
    /// @Attribute(.transformable(by: ColorTransformer.self)) var color: Color?
    /// ```
    ///
    /// Each value is turned back once before it is stored. If that fails, or the transformer returns no data, the save
    /// throws ``SwiftDataError/modelValidationFailure``. All threads share one transformer, so it needs to be
    /// stateless.
    public static func transformable(by type: ValueTransformer.Type) -> Option {
      // The full name with its module: two modules may have transformers of one name.
      Option("transformable", transformerName: String(reflecting: type))
        .registering(type)
    }

    /// The value is stored as data that the transformer with this registered name produces, or one of the class of that
    /// name.
    ///
    /// ```swift
    /// @Attribute(.transformable(by: "ColorTransformer")) var color: Color?
    /// ```
    public static func transformable(by name: String) -> Option {
      Option("transformable", transformerName: name)
    }

    private func registering(_ type: ValueTransformer.Type) -> Option {
      // So that the app need not do it. A transformer that the app has registered under the name
      // stays.
      AttributeTransformers.register(type, as: transformerName ?? "")
      return self
    }
  }
}

extension Schema.Attribute {
  /// How a column stores the attribute's values.
  package var encoding: _ColumnEncoding {
    if let recorded = recorded?.encoding.flatMap(_ColumnEncoding.init(rawValue:)) {
      return recorded
    }
    // Options come before the type: both hide what the type would say about the column.
    if isTransformable { return .opaque }
    let shape = PropertyShape(valueType)
    // In the macro's order. Values of other types than data stay in their rows.
    if options.contains(.externalStorage) {
      return shape.wrapped == Data.self ? .external : shape.encoding
    }
    return isCodable ? .opaque : shape.encoding
  }

  /// The structure of its values. nil if the program lacks the type and its structure was not recorded, and for values
  /// that only a transformer reads.
  var structure: TypeStructure? {
    if let recorded = recorded?.structure { return recorded }
    let type = PropertyShape(valueType).wrapped
    return type == Any.self || isTransformable ? nil : StructureReader.structure(of: type)
  }

  /// The name of the transformer that produces its stored value; nil if none does.
  package var transformerName: String? { options.lazy.compactMap(\.transformerName).first }
}

// MARK: - Recorded form

/// What an encoded schema records about a property's type besides its name, since a program that reads the schema may
/// no longer have the type: a later version of the same app has other types.
struct RecordedForm: Codable, Hashable, Sendable {
  var isOptional: Bool
  /// For an attribute: how the column stores its values.
  var encoding: String?
  /// For an attribute: what its values are made of. Schemas of earlier versions of this library lack it.
  var structure: TypeStructure?
  /// Of a relationship: whether it holds at most one model.
  var isToOne: Bool?
}
