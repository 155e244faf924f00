/// What the rules about a project need to know about a file, without its syntax.
///
/// It is kept in the cache between runs. A change of it, or of a type in it, requires a new version
/// of ``LintCache``: the cache identifies values by their order alone.
///
/// Facts depend on the file alone, and never on other files or on options. Otherwise a cached fact
/// could be out of date although its file is unchanged. What needs other files is in
/// ``ProjectIndex``.
///
/// Names and expressions are strings as the source writes them. The facts of all files are in
/// memory at once, so they hold no syntax: a node keeps its whole tree alive.
struct FileFacts: Codable, Sendable {
  /// Relative to the folder that is checked.
  var path = ""
  /// Whether it imports a test framework.
  var importsTests = false
  /// The imported modules, submodules included: `os.lock`. Imports under a condition count.
  var imports: Set<String> = []
  /// The types and extensions that the file declares, nested and local ones included.
  var types: [TypeFact] = []
  /// Named strings: static properties and raw values as `Type.name`, globals by their name.
  var constants: [ConstantFact] = []
  /// Calls of `UserDefaults` and the like, then wrapped properties, each in the order of the
  /// source.
  var preferences: [PreferenceUse] = []
  /// The names whose values it may change.
  var changedNames: Set<String> = []
  /// The calls of `encode` and `decode`, with what their functions do about failures.
  var codings: [CodingUse] = []
  /// The calls that write a file.
  var writtenFiles: [FileUse] = []
  /// The calls of `SecItemAdd` and its siblings.
  var keychain: [KeychainUse] = []
  /// The calls that add a keychain item, in a file that never mentions accessibility.
  var unprotectedItems: [Place] = []
  /// The versioned schemas of SwiftData.
  var schemas: [SchemaFact] = []
  /// The migration plans. Their stages are apart, since an extension in another file may have them.
  var plans: [PlanFact] = []
  /// The migration stages that the file makes, in a plan or elsewhere.
  var stages: [StageFact] = []
  /// The calls that make a container, a configuration or a schema.
  var containers: [ContainerFact] = []
  /// The properties that `#Predicate` closures use.
  var predicates: [PredicateFact] = []
  /// The comments that disable rules, those without a reason included.
  var suppressions: [Suppression] = []
  /// The folders of the test targets in a package's manifest, each with a slash at its end.
  var testFolders: [String] = []
  /// The folders of the executable targets in a package's manifest, each with a slash at its end.
  var executableFolders: [String] = []
}

/// A stage of a migration plan.
struct StageFact: Codable, Sendable {
  /// The type in which the stage is made: the plan, or an extension of it.
  let plan: String
  /// The name of the schema before the stage, without `.self`.
  let from: String
  /// The name of the schema after the stage, without `.self`.
  let to: String
}

/// A call that makes a container or a configuration, or a `Schema` for one.
struct ContainerFact: Codable, Sendable {
  /// What the call makes. `modelContainer(for:)` of a view counts as a container.
  enum Kind: String, Codable { case container, configuration, schema }

  let kind: Kind
  /// The names of the models among its arguments, as the source writes them.
  let models: [String]
  /// The argument `migrationPlan:`, as the source writes it; nil without it.
  let plan: String?
  /// Whether the store is in memory only, by the arguments, or because all configurations of the
  /// function are.
  let isInMemory: Bool
  /// Whether it has a URL, a group or a name, so that its store isn't `default.store`.
  let namesStore: Bool
  /// As it's written, such as `.none`; nil without the argument.
  let cloudKit: String?
  /// Where the function around it begins.
  let scope: Int
  let place: Place
}

/// A use of a model's property in a `#Predicate`.
struct PredicateFact: Codable, Sendable {
  /// The name of the model, by the predicate's type, its parameter, or the descriptor around it.
  let model: String
  /// The names after the predicate's parameter: `folder` and `name` in `$0.folder?.name`. Never
  /// empty.
  let path: [String]
  /// What the property is compared with, if that is a name or a path of names.
  let comparedWith: String?
  let place: Place
}

// MARK: - Types

/// A class, structure, enumeration, actor or extension.
struct TypeFact: Codable, Sendable {
  /// The keyword of the declaration. A type and each of its extensions have a fact of their own.
  enum Kind: String, Codable { case `class`, `struct`, `enum`, actor, `extension` }

  /// With the types around it: `SchemaV1.Item`.
  let name: String
  let kind: Kind
  /// The names of its attributes without `@`, such as `Model`.
  let attributes: [String]
  /// The last parts of the names after the colon: protocols, a superclass, or a type of raw
  /// values.
  let inherited: [String]
  /// The variables among the members of this declaration.
  let properties: [PropertyFact]
  let cases: [String]
  /// `#Unique` and other macros among its members.
  let macros: [String]
  /// Whether it has its own `init(from:)`, which decides what an absent field means.
  let decodesItself: Bool
  /// Whether that `init(from:)` uses a default for each field that it can't decode.
  let decodesLeniently: Bool
  /// Whether its `init?(rawValue:)` accepts any string, and so never discards what is stored.
  let takesAnyRawValue: Bool
  /// Whether it's `@unchecked Sendable`.
  let uncheckedSendable: Bool
  let place: Place

  var isModel: Bool { attributes.contains("Model") }
}

/// A property of a type.
struct PropertyFact: Codable, Sendable {
  let name: String
  /// As it's written, or as its default value shows.
  let type: String?
  /// The source of its initial value; nil without one.
  let defaultValue: String?
  /// Whether it's `static` or `class`.
  let isStatic: Bool
  /// Whether it has a getter. A property with only observers is stored.
  let isComputed: Bool
  let isConstant: Bool
  /// Attributes, property wrappers and macros before it.
  let attributes: [AttributeFact]
  let place: Place
  /// Where an attribute can be inserted.
  let start: Int
  /// Where a default value can be inserted.
  let end: Int

  /// The first attribute with a name, which is given without `@`.
  func attribute(_ name: String) -> AttributeFact? {
    attributes.first { $0.name == name }
  }

  /// Whether a model stores it: neither static nor computed, and without `@Transient`.
  var isStored: Bool {
    !isStatic && !isComputed && attribute("Transient") == nil
  }
}

/// An attribute or wrapper of a property.
struct AttributeFact: Codable, Sendable {
  let name: String
  /// The source of each argument by its label. An argument without a label has its own source as
  /// its name.
  let arguments: [String: String]
  /// The source of the whole attribute. Rules search it for options such as `.unique`, wherever
  /// they stand.
  let text: String
  let place: Place
  /// Where another argument can be inserted; nil without parentheses.
  let argumentsStart: Int?
  /// For each argument, the edit that removes it with the comma before or after it.
  let removals: [String: Fix.Edit]
}

// The cache identifies values only by their order, and dictionaries have none. So each dictionary
// is written as two lists of the same length, sorted by key.
extension AttributeFact {
  private enum CodingKeys: CodingKey {
    // `labels` and `values` are one dictionary, and so are `removed` and `removals`.
    case name, labels, values, text, place, argumentsStart, removed, removals
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    name = try container.decode(String.self, forKey: .name)
    let labels = try container.decode([String].self, forKey: .labels)
    let values = try container.decode([String].self, forKey: .values)
    // A damaged record may repeat a label, for which `uniqueKeysWithValues` would trap.
    arguments = Dictionary(zip(labels, values)) { first, _ in first }
    text = try container.decode(String.self, forKey: .text)
    place = try container.decode(Place.self, forKey: .place)
    argumentsStart = try container.decodeIfPresent(Int.self, forKey: .argumentsStart)
    let removed = try container.decode([String].self, forKey: .removed)
    let edits = try container.decode([Fix.Edit].self, forKey: .removals)
    removals = Dictionary(zip(removed, edits)) { first, _ in first }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name, forKey: .name)
    let arguments = arguments.sorted { $0.key < $1.key }
    try container.encode(arguments.map(\.key), forKey: .labels)
    try container.encode(arguments.map(\.value), forKey: .values)
    try container.encode(text, forKey: .text)
    try container.encode(place, forKey: .place)
    try container.encodeIfPresent(argumentsStart, forKey: .argumentsStart)
    let removals = removals.sorted { $0.key < $1.key }
    try container.encode(removals.map(\.key), forKey: .removed)
    try container.encode(removals.map(\.value), forKey: .removals)
  }
}

// MARK: - Names

/// A named string constant.
struct ConstantFact: Codable, Sendable {
  let name: String
  let value: String
  /// Whether other files can't use it.
  let isPrivate: Bool
  let place: Place
}

/// A key as the source writes it.
enum KeyFact: Codable, Hashable, Sendable {
  /// The string itself.
  case literal(String)
  /// A name, and the type in which it's looked up.
  case reference(name: String, scope: String)
  /// An expression that is neither, such as a string with interpolations.
  case other(String)
}

// MARK: - Schemas

/// A `VersionedSchema`.
struct SchemaFact: Codable, Sendable {
  struct Model: Codable, Sendable {
    let name: String
    let place: Place
  }

  let name: String
  /// The three numbers of its version; nil if the source doesn't have them as literals.
  let version: [Int]?
  let models: [Model]
  let place: Place
}

/// A `SchemaMigrationPlan`.
struct PlanFact: Codable, Sendable {
  let name: String
  let schemas: [String]
  /// Whether the file has the plan's list of schemas. Without it no gap is certain.
  let isComplete: Bool
  let place: Place
}
