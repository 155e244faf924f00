import Foundation

/// The models that a container stores, and how their properties relate.
///
/// A schema is built once, from the metadata that `@Model` writes, and is immutable afterwards.
/// Models that are reachable through relationships are included without being named. Models that
/// contradict each other are reported when a container opens.
public final class Schema: Codable, Hashable, CustomDebugStringConvertible, @unchecked Sendable {
  // Sendable: every stored property is a `let`, and the entities are not mutated once their schema
  // exists; the mutable requirements of `SchemaProperty` are for building a schema by hand.

  /// The version of the encoding that `save(to:)` writes.
  public static let schemaEncodingVersion = Version(1, 0, 0)

  /// The entities, ordered by name.
  public let entities: [Entity]
  /// The entities by their names.
  public let entitiesByName: [String: Entity]
  /// The version that the app gave this schema.
  public let version: Version
  /// The version of the encoding that this schema was read from, or is written with.
  public let encodingVersion: Version

  /// The models, in the order of discovery; empty for a decoded schema.
  let models: [ModelMetadata]
  /// What keeps a container from opening, and what it reports.
  let findings: SchemaFindings

  /// Creates an empty schema.
  public convenience init() {
    self.init(entities: [], version: Version(1, 0, 0))
  }

  /// Creates a schema from entities made by hand; it has no model types.
  public convenience init(_ entities: Entity..., version: Version = Version(1, 0, 0)) {
    self.init(entities: entities, version: version)
  }

  init(
    entities: [Entity], models: [ModelMetadata] = [], findings: SchemaFindings = .init(),
    version: Version
  ) {
    self.entities = entities.sorted { $0.name < $1.name }
    entitiesByName = Dictionary(entities.map { ($0.name, $0) }) { first, _ in first }
    self.models = models
    self.findings = findings
    self.version = version
    encodingVersion = Self.schemaEncodingVersion
  }

  /// The entity of a model type, or nil when the schema does not hold it.
  public func entity<T: PersistentModel>(for type: T.Type) -> Entity? {
    entitiesByName[Self.entityName(for: type)]
  }

  /// The name under which a model type is stored: its unqualified Swift name.
  public static func entityName<T: PersistentModel>(for type: T.Type) -> String {
    _typeName(type, qualified: false)
  }

  /// Writes the schema as JSON, replacing the file at once.
  public func save(to url: URL) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
    try encoder.encode(self).write(to: url, options: .atomic)
  }

  /// Reads a schema that `save(to:)` wrote.
  public static func load(from url: URL) throws -> Schema {
    try JSONDecoder().decode(Schema.self, from: Data(contentsOf: url))
  }

  public static func == (left: Schema, right: Schema) -> Bool {
    left === right || (left.version == right.version && left.entities == right.entities)
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(version)
    hasher.combine(entities.map(\.name))
  }

  public var debugDescription: String {
    "Schema \(version): \(entities.map(\.name).joined(separator: ", "))"
  }

  private enum CodingKeys: CodingKey { case entities, version, encodingVersion }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    entities = try container.decode([Entity].self, forKey: .entities)
    version = try container.decode(Version.self, forKey: .version)
    encodingVersion = try container.decode(Version.self, forKey: .encodingVersion)
    entitiesByName = Dictionary(entities.map { ($0.name, $0) }) { first, _ in first }
    models = []
    findings = SchemaFindings()
    Entity.link(entities)
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(entities, forKey: .entities)
    try container.encode(version, forKey: .version)
    try container.encode(encodingVersion, forKey: .encodingVersion)
  }
}

extension Schema {
  /// A version of a schema: major, minor, patch.
  public struct Version: Codable, Hashable, Comparable, CustomStringConvertible, Sendable {
    public let major: Int
    public let minor: Int
    public let patch: Int

    public init(_ major: Int, _ minor: Int, _ patch: Int) {
      self.major = major
      self.minor = minor
      self.patch = patch
    }

    public static func < (left: Version, right: Version) -> Bool {
      (left.major, left.minor, left.patch) < (right.major, right.minor, right.patch)
    }

    public var description: String { "\(major).\(minor).\(patch)" }
  }

  /// What `@Model` says of one property of a class.
  public struct PropertyMetadata {
    /// The property's name.
    public let name: String
    /// The property.
    public let keypath: AnyKeyPath
    /// The value of the property's initial expression, evaluated when the metadata was asked for.
    public let defaultValue: Any?
    /// The options given with `@Attribute`, `@Relationship`, `#Unique` or `#Index`.
    public let metadata: (any SchemaProperty)?

    public init(
      name: String, keypath: AnyKeyPath, defaultValue: Any? = nil,
      metadata: (any SchemaProperty)? = nil
    ) {
      self.name = name
      self.keypath = keypath
      self.defaultValue = defaultValue
      self.metadata = metadata
    }
  }
}
