/// What the rules need to know of a file, without its syntax: small enough to be kept between runs.
struct FileFacts: Codable, Sendable {
  var path = ""
  /// Whether it imports a framework of tests.
  var importsTests = false
  var imports: Set<String> = []
  var types: [TypeFact] = []
  /// Strings with a name: static properties and raw values by `Type.name`, and global ones by their name.
  var constants: [ConstantFact] = []
  var preferences: [PreferenceUse] = []
  /// The names that it may change the values of.
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
  /// The targets of a package's manifest that are tests, as folders.
  var testFolders: [String] = []
  /// The targets of a package's manifest that are programs, as folders.
  var executableFolders: [String] = []
}

/// A stage of a plan.
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
  /// Whether it names a file, a group or a name, and so isn't `default.store`.
  let hasPlace: Bool
  /// As it's written, such as `.none`; nil without the argument.
  let cloudKit: String?
  let scope: Int
  let place: Place
}

/// What a `#Predicate` says of a property of its model.
struct PredicateFact: Codable, Sendable {
  let model: String
  let path: [String]
  /// What it's compared with, if it's a name or a path of names.
  let comparedWith: String?
  let place: Place
}
