/// What the rules need to know about a file, without its syntax: small enough to be kept between runs.
struct FileFacts: Codable, Sendable {
  var path = ""
  /// Whether it imports a test framework.
  var importsTests = false
  var imports: Set<String> = []
  var types: [TypeFact] = []
  /// Named strings: static properties and raw values as `Type.name`, globals by their name.
  var constants: [ConstantFact] = []
  var preferences: [PreferenceUse] = []
  /// The names whose values it may change.
  var changedNames: Set<String> = []
  var codings: [CodingUse] = []
  var writtenFiles: [FileUse] = []
  var keychain: [KeychainUse] = []
  /// The calls that add a keychain item, in a file that never mentions accessibility.
  var unprotectedItems: [Place] = []
  var schemas: [SchemaFact] = []
  var plans: [PlanFact] = []
  var stages: [StageFact] = []
  var containers: [ContainerFact] = []
  var predicates: [PredicateFact] = []
  var suppressions: [Suppression] = []
  /// The folders of the test targets in a package's manifest.
  var testFolders: [String] = []
  /// The folders of the executable targets in a package's manifest.
  var executableFolders: [String] = []
}

/// A stage of a migration plan.
struct StageFact: Codable, Sendable {
  let plan: String
  let from: String
  let to: String
}

/// A call that makes a container or a configuration, or a `Schema` for one.
struct ContainerFact: Codable, Sendable {
  enum Kind: String, Codable { case container, configuration, schema }

  let kind: Kind
  let models: [String]
  let plan: String?
  let isInMemory: Bool
  /// Whether it has a URL, a group or a name, so that its store isn't `default.store`.
  let hasPlace: Bool
  /// As it's written, such as `.none`; nil without the argument.
  let cloudKit: String?
  let scope: Int
  let place: Place
}

/// A use of a model's property in a `#Predicate`.
struct PredicateFact: Codable, Sendable {
  let model: String
  let path: [String]
  /// What the property is compared with, if that is a name or a path of names.
  let comparedWith: String?
  let place: Place
}
