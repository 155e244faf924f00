import Foundation
import Synchronization

/// The models that a container stores, and how their properties relate.
///
/// A schema is built once, from the metadata that `@Model` writes, and is immutable afterwards.
/// Models that are reachable through relationships are included without being named. Models that
/// contradict each other are reported when a container opens.
///
/// ```swift
/// let schema = Schema([Trip.self, Stop.self], version: Schema.Version(2, 0, 0))
/// let container = try ModelContainer(for: schema, configurations: [configuration])
/// print(schema.entitiesByName["Trip"]?.attributesByName.keys ?? [])
/// ```
///
/// Two schemas are equal if their versions and entities are.
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

  /// The models, in the order of discovery; empty for a decoded schema, and for one made of entities.
  let models: [ModelMetadata]
  /// Problems that prevent a container from opening, and notes that it reports.
  let findings: SchemaFindings
  /// Whether the schema is that of a ``VersionedSchema``: then ``version`` says which version of a plan is meant, of
  /// several with the same models. That of a list of classes is 1.0.0 unless it is given, and says nothing.
  let isVersioned: Bool

  /// Creates an empty schema.
  public convenience init() {
    self.init(entities: [], version: Version(1, 0, 0))
  }

  /// Creates a schema from entities made by hand, for tools that compare or describe schemas.
  ///
  /// It has no model types: it can be saved and compared, but no context has objects of it.
  public convenience init(_ entities: Entity..., version: Version = Version(1, 0, 0)) {
    self.init(entities: entities, version: version)
  }

  init(
    entities: [Entity], models: [ModelMetadata] = [], findings: SchemaFindings = .init(),
    version: Version, isVersioned: Bool = false
  ) {
    // By name: two schemas of the same models are equal, and encode to the same JSON, in whatever
    // order they were named.
    self.entities = entities.sorted { $0.name < $1.name }
    // Not `uniqueKeysWithValues`, which traps: two models of one name are a problem that the
    // container throws.
    entitiesByName = Dictionary(entities.map { ($0.name, $0) }) { first, _ in first }
    self.models = models
    self.findings = findings
    self.version = version
    self.isVersioned = isVersioned
    encodingVersion = Self.schemaEncodingVersion
  }

  /// The entity of a model type, or nil if the schema does not have it. Looked up by name: another version's class of
  /// the same name gives this schema's entity.
  ///
  /// ```swift
  /// let names = schema.entity(for: Trip.self)?.storedProperties.map(\.name) ?? []
  /// ```
  public func entity<T: PersistentModel>(for type: T.Type) -> Entity? {
    entitiesByName[Self.entityName(for: type)]
  }

  /// The name under which a model type is stored: its unqualified Swift name, such as `Trip` for `App.TripsV1.Trip`.
  public static func entityName<T: PersistentModel>(for type: T.Type) -> String {
    // Without modules and enclosing types: the versions of a class are nested in different enums,
    // and are one table.
    _typeName(type, qualified: false)
  }

  /// Writes the schema as JSON, replacing the file atomically.
  ///
  /// Key paths and default values are not part of it. ``SchemaLock`` keeps several versions in one file.
  ///
  /// ```swift
  /// try Schema(versionedSchema: LibraryV2.self).save(to: url)
  /// let recorded = try Schema.load(from: url)
  /// ```
  ///
  /// - Throws: Foundation's errors if the file cannot be written.
  public func save(to url: URL) throws {
    let encoder = JSONEncoder()
    // A stable text: in version control, a difference shows what has changed.
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
    try encoder.encode(self).write(to: url, options: .atomic)
  }

  /// Reads a schema that ``save(to:)`` wrote.
  ///
  /// A type that this program lacks becomes `Any`, with the stored form that the file records. A container cannot be
  /// opened with the result, which has no model types; compare it with ``SchemaDifference``.
  ///
  /// ```swift
  /// let difference = SchemaDifference(from: try Schema.load(from: url), to: schema)
  /// if !difference.isEmpty { print(difference) }
  /// ```
  ///
  /// - Throws: Foundation's errors if the file cannot be read or is no schema.
  public static func load(from url: URL) throws -> Schema {
    try JSONDecoder().decode(Schema.self, from: Data(contentsOf: url))
  }

  /// Whether versions and entities are equal. Schemas of the same models are, in whatever order the
  /// models were named.
  public static func == (left: Schema, right: Schema) -> Bool {
    left === right || (left.version == right.version && left.entities == right.entities)
  }

  /// Hashes the version and the names of the entities. Schemas that differ in properties alone have
  /// equal hashes.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(version)
    hasher.combine(entities.map(\.name))
  }

  /// The version and the names of the entities.
  public var debugDescription: String {
    "Schema \(version): \(entities.map(\.name).joined(separator: ", "))"
  }

  private enum CodingKeys: CodingKey { case entities, version, encodingVersion }

  /// Decodes a schema without model types: no container can be opened with it.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    entities = try container.decode([Entity].self, forKey: .entities)
    version = try container.decode(Version.self, forKey: .version)
    encodingVersion = try container.decode(Version.self, forKey: .encodingVersion)
    entitiesByName = Dictionary(entities.map { ($0.name, $0) }) { first, _ in first }
    models = []
    findings = SchemaFindings()
    isVersioned = false
    // References are encoded as names, so superclasses are linked once all entities are there.
    Entity.link(entities)
  }

  /// Encodes versions and entities. Key paths and default values are left out.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(entities, forKey: .entities)
    try container.encode(version, forKey: .version)
    try container.encode(encodingVersion, forKey: .encodingVersion)
  }
}

extension Schema {
  /// A version of a schema: major, minor, patch. Versions are ordered by these numbers.
  ///
  /// A store records the version of the schema that it was last opened with. Where several versions of a plan have the
  /// same models, the recorded version says which of them the store has, and that of a schema made of a
  /// ``VersionedSchema`` which one the container asks for. It also lets an older app refuse a newer store
  /// (``SwiftDataError/backwardMigration``).
  ///
  /// ```swift
  /// Schema.Version(1, 9, 0) < Schema.Version(1, 10, 0)    // true
  /// ```
  public struct Version: Codable, Hashable, Comparable, CustomStringConvertible, Sendable {
    /// The first component.
    public let major: Int
    /// The second component.
    public let minor: Int
    /// The third component.
    public let patch: Int

    /// Creates a version.
    public init(_ major: Int, _ minor: Int, _ patch: Int) {
      self.major = major
      self.minor = minor
      self.patch = patch
    }

    /// Compares the first component in which they differ.
    public static func < (left: Version, right: Version) -> Bool {
      (left.major, left.minor, left.patch) < (right.major, right.minor, right.patch)
    }

    /// The components with dots between them, such as `2.0.0`.
    public var description: String { "\(major).\(minor).\(patch)" }
  }

  /// A class's description of one property, generated by `@Model`.
  ///
  /// Only the code that `@Model` generates makes one; ``PersistentModel/schemaMetadata`` returns
  /// them.
  public struct PropertyMetadata {
    /// The property's name.
    public let name: String
    /// The property.
    public let keypath: AnyKeyPath
    /// The value of the property's initial expression, evaluated when the metadata was asked for.
    public let defaultValue: Any?
    /// The options given with `@Attribute`, `@Relationship`, `#Unique` or `#Index`.
    public let metadata: (any SchemaProperty)?

    /// Describes a property; called by the code that `@Model` generates.
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

// MARK: - Properties

/// A property of an entity: an attribute, a relationship, or a set of constraints.
///
/// The setters are for schemas made by hand. Once a container was made with a schema, changing its
/// properties has no effect.
public protocol SchemaProperty: Codable, Hashable {
  /// The property's name.
  var name: String { get }
  /// The name that the property had in an earlier schema.
  var originalName: String { get set }
  /// The Swift type of the property's value.
  var valueType: any Any.Type { get set }
  /// Whether the property is a stored value.
  var isAttribute: Bool { get }
  /// Whether the property refers to models.
  var isRelationship: Bool { get }
  /// Whether the property is not stored.
  var isTransient: Bool { get }
  /// Whether the value may be nil.
  var isOptional: Bool { get }
  /// Whether no two objects may have the same value.
  var isUnique: Bool { get }
}

// MARK: - Versions

/// One version of an app's models, which a migration plan leads to or from.
///
/// Once an app is shipped with a version, don't edit its classes: declare a new version with copies of those that
/// change.
///
/// ```swift
/// enum LibraryV2: VersionedSchema {
///   static let versionIdentifier = Schema.Version(2, 0, 0)
///   static var models: [any PersistentModel.Type] { [Book.self, Author.self] }
/// }
/// ```
public protocol VersionedSchema: SendableMetatype {
  /// The version, which a store records. It must differ between the versions of a plan; otherwise opening a container
  /// throws ``SwiftDataError/loadIssueModelContainer``.
  ///
  /// Give a new version a greater number than all that were shipped.
  static var versionIdentifier: Schema.Version { get }
  /// The models. What their relationships reach is included without being named.
  ///
  /// A class that did not change may be that of an earlier version.
  static var models: [any PersistentModel.Type] { get }
}

/// A model class that had another name in an earlier version of the app.
///
/// ```swift
/// extension Publication: RenamedModel {
///   static var originalName: String { "Book" }
/// }
/// ```
///
/// A store with rows of the earlier name has them as this class from then on, with their identifiers and relationships.
/// Another class may take the earlier name, and two classes may swap names: a class that only has the name gets these
/// rows if no other class has it as its original name.
public protocol RenamedModel: PersistentModel {
  /// The name that the class had.
  static var originalName: String { get }
}

extension Schema {
  /// Whether classes and properties that both schemas have by name also have the same earlier names in the source.
  ///
  /// A store of an earlier version of this library records no earlier names of classes; such a class counts as the
  /// same.
  func hasSameOriginalNames(as other: Schema) -> Bool {
    entities.allSatisfy { entity in
      guard let match = other.entitiesByName[entity.name] else { return true }
      if let one = entity.originalName, let two = match.originalName, one != two { return false }
      // Made once: it is computed at each call.
      let properties = match.storedPropertiesByName
      return entity.storedProperties.allSatisfy { property in
        properties[property.name].map { $0.originalName == property.originalName } ?? true
      }
    }
  }
}

// MARK: - Problems

/// What is wrong or unclear in a schema's models.
struct SchemaFindings {
  /// Contradictions, with which no container opens.
  var problems: [SchemaProblem] = []
  /// Relationships that are one-way since their inverse is ambiguous, which the app may not expect.
  var notes: [String] = []
  /// Classes that are replaced by others of the same name, in sentences.
  var replacements: [String] = []

  /// Throws the problems, if there are any, as one error.
  func check() throws {
    guard let first = problems.first else { return }
    // One error with all messages, so that an app with three mistakes needs one run and not three.
    // The first gives the code.
    throw SchemaProblem(first.code, problems.map(\.message).joined(separator: " "))
  }
}

/// A contradiction between the models of a schema, found when the schema is made.
///
/// A schema's initializer cannot throw, so the container throws it.
struct SchemaProblem: Error, Hashable {
  let code: SwiftDataError.Code
  let message: String

  init(_ code: SwiftDataError.Code, _ message: String) {
    self.code = code
    self.message = message
  }

  var error: SwiftDataError { SwiftDataError(code, message) }
}

extension Schema {
  /// The maximum number of remembered messages; beyond it a message may be reported again.
  private static let noteLimit = 1_000
  private static let reported = Mutex<Set<String>>([])

  /// Whether a message is reported for the first time in this process.
  private static func isNew(_ note: String) -> Bool {
    reported.withLock { reported in
      // A long-running server that makes schemas again and again must not collect messages without
      // end.
      if reported.count >= noteLimit { reported.removeAll() }
      return reported.insert(note).inserted
    }
  }

  /// Reports what is unclear in the models, once per process.
  func reportNotes() {
    // One by one: a log has a line for each problem, and shows a line break within one as an escape.
    for note in findings.notes where Self.isNew(note) {
      Report.problem(.inverseAmbiguous, message: note)
    }
    for note in findings.replacements where Self.isNew(note) { Report.problem(note) }
  }
}
