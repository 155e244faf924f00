/// What is known about a whole project: the facts of its files, and names looked up across them.
///
/// There is no type checker. A name is looked up as the source writes it, from the innermost type
/// around it outwards, and is unknown if several declarations contradict each other. Rules report
/// nothing about what is unknown.
///
/// It is made for each run from the facts, which costs time for all of them, and is then only read.
///
/// What depends on several files has to be decided here and not in a fact: facts are cached by
/// their own file's digest, and would not notice a change of another one.
struct ProjectIndex: Sendable {
  /// The facts of all files, in the order of their paths.
  let files: [FileFacts]
  /// What property lists and Xcode projects show.
  let settings: ProjectSettings
  /// Whether to check the models as if the app synced with CloudKit.
  let assumesCloudKit: Bool
  /// The fields that Codable types had in an earlier version, by the types' names.
  let earlierPayloads: [String: Set<String>]

  /// The classes with `@Model`, copies in earlier schemas and those of tests included.
  let models: [TypeFact]
  let schemas: [SchemaFact]
  let plans: [PlanFact]
  /// The uses of preferences in all files, those of tests included.
  let preferences: [PreferenceUse]
  /// The encodings and decodings in all files, those of tests included.
  let codings: [CodingUse]
  /// The names whose values some file may change.
  let changedNames: Set<String>
  /// The declarations and extensions by their full names.
  private let types: [String: [TypeFact]]
  /// The named strings by the last two parts of their names, so that a lookup compares a few and
  /// not all.
  private let constants: [String: [ConstantFact]]
  /// The named strings by their values.
  private let constantsByValue: [String: [ConstantFact]]
  /// The folders of test targets, as manifests name them.
  private let testFolders: [String]
  /// The files that import a test framework.
  private let testFiles: Set<String>
  /// The folders with a manifest of SwiftPM or Tuist, each with a slash at its end. The project's folder is
  /// the empty string.
  private let packages: [String]

  /// Groups the facts of files, which are in the order of their paths: so the first of several
  /// declarations is the same in each run.
  ///
  /// - Parameters:
  ///   - assumesCloudKit: Whether models count as synced, whatever the files show.
  ///   - earlierPayloads: The fields of Codable types in an earlier version; empty if none is
  ///     known, and P06 reports nothing then.
  init(
    files: [FileFacts], settings: ProjectSettings, assumesCloudKit: Bool,
    earlierPayloads: [String: Set<String>] = [:]
  ) {
    self.earlierPayloads = earlierPayloads
    self.files = files
    self.settings = settings
    self.assumesCloudKit = assumesCloudKit
    let all = files.flatMap(\.types)
    models = all.filter(\.isModel)
    schemas = files.flatMap(\.schemas)
    plans = files.flatMap(\.plans)
    preferences = files.flatMap(\.preferences)
    codings = files.flatMap(\.codings)
    changedNames = files.reduce(into: []) { $0.formUnion($1.changedNames) }
    types = Dictionary(grouping: all, by: \.name)
    let named = files.flatMap(\.constants)
    constants = Dictionary(grouping: named) { $0.name.lastTwoComponents }
    constantsByValue = Dictionary(grouping: named, by: \.value)
    testFolders = files.flatMap(\.testFolders)
    packages = files.map(\.path).compactMap { path in
      guard let name = path.split(separator: "/").last,
        // The second one is Tuist's.
        ["Package.swift", "Project.swift"].contains(name)
      else { return nil }
      return String(path.dropLast(name.count))
    }
    testFiles = Set(files.filter(\.importsTests).map(\.path))
  }

  // MARK: - Files

  /// Whether a file belongs to tests: by what it imports, a manifest, or a folder's name. It isn't a fact of the
  /// file, because a manifest can say so.
  ///
  /// A folder counts if its name ends in `Tests`, as the folders of Xcode's templates do, or is
  /// `TestSupport`.
  func isTest(_ path: String) -> Bool {
    testFiles.contains(path) || testFolders.contains { path.hasPrefix($0) }
      || path.split(separator: "/").dropLast().contains {
        $0.hasSuffix("Tests") || $0 == "TestSupport"
      }
  }

  /// Whether a place is neither in a test nor in a preview, and its file is compiled.
  ///
  /// The findings of most rules count only there: ``Rule/Scope``.
  func isShipped(_ place: Place) -> Bool {
    !place.isInPreview && !isTest(place.path) && isCompiled(place.path)
  }

  /// Whether a target may have a file: a package has all below its manifest.
  func isCompiled(_ path: String) -> Bool {
    // A package's own files aren't in an Xcode project, even if one lies beside it.
    settings.mayBeCompiled(path) || packages.contains(where: path.hasPrefix)
  }

  /// Whether a file belongs to an executable target of a package.
  ///
  /// Costs a search through all manifests, so it is asked for few places.
  func isInExecutable(_ path: String) -> Bool {
    files.flatMap(\.executableFolders).contains { path.hasPrefix($0) }
  }

  /// Whether a file has a widget or an intent handler, which reads what an app has written for it.
  ///
  /// P04 passes over such files, since the app writes again what doesn't decode there.
  func isAppExtension(_ path: String) -> Bool {
    files.first { $0.path == path }?.types.contains { ExtensionTypes.contains($0.inherited) }
      ?? false
  }

  // MARK: - Keys

  /// A key's string; nil if it isn't known.
  func value(of key: KeyFact) -> String? {
    switch key {
    case .literal(let value): return value
    case .other: return nil
    case .reference(let name, let scope): return value(of: name, in: scope)
    }
  }

  /// The value of a constant, looked up in a type and in those around it.
  ///
  /// An inner declaration hides an outer one, as in Swift. If several declarations on one level differ, the next
  /// level is tried.
  private func value(of name: String, in scope: String) -> String? {
    // `.token` is a member of a type that the compiler infers. It is looked up like a name without
    // a type.
    let path = name.hasPrefix(".") ? String(name.dropFirst()) : name
    var outer = scope.split(separator: ".").map(String.init)
    while true {
      let full = (outer + [path]).joined(separator: ".")
      // The end of the full name is enough, so `Keys.token` at the top level is found from within
      // `App`, too.
      let exact = (constants[full.lastTwoComponents] ?? []).filter {
        $0.name == full || full.hasSuffix("." + $0.name)
      }
      // The longest name is the innermost declaration.
      let length = exact.map(\.name.count).max()
      if let value = single(exact.filter { $0.name.count == length }) { return value }
      if outer.isEmpty { break }
      outer.removeLast()
    }
    // The name may begin in a type that isn't in the project, such as one of another module that has an
    // extension here.
    return path.contains(".") ? single(constants[path.lastTwoComponents] ?? []) : nil
  }

  /// The value that all declarations agree on; nil if there are several values.
  private func single(_ found: [ConstantFact]) -> String? {
    let values = Set(found.map(\.value))
    return values.count == 1 ? values.first : nil
  }

  /// A constant with a value that other files can use.
  ///
  /// Only members whose full names are about keys or settings, since any other constant may have
  /// the same string by coincidence. The first by name, so that each run proposes the same one.
  func sharedConstant(of value: String) -> ConstantFact? {
    (constantsByValue[value] ?? []).filter {
      !$0.isPrivate && $0.name.contains(".")
        && NameWords($0.name).contains(
          anyOf: ["key", "keys", "defaults", "preferences", "settings", "storage"])
    }
    .min { $0.name < $1.name }
  }

  // MARK: - Types

  /// The declarations and extensions of a type, by its name as the source writes it.
  ///
  /// - Parameters:
  ///   - name: A name with or without the types around it; optionals and lists are taken off.
  ///   - scope: The type in which the name is looked up first. Then come the types around it, and
  ///     then globals.
  func declarations(of name: String, in scope: String = "") -> [TypeFact] {
    let name = name.elementType
    var outer = scope.split(separator: ".").map(String.init)
    while true {
      if let found = types[(outer + [name]).joined(separator: ".")] { return found }
      if outer.isEmpty { break }
      outer.removeLast()
    }
    return []
  }

  /// The model with a name; nil for any other type.
  func model(_ name: String, in scope: String = "") -> TypeFact? {
    declarations(of: name, in: scope).first(where: \.isModel)
  }

  /// The type of a property, which is looked up in a type and then in those around it.
  ///
  /// Globals aren't looked up.
  func type(of property: String, in scope: String) -> String? {
    var outer = scope
    while !outer.isEmpty {
      for declaration in types[outer] ?? [] {
        if let found = declaration.properties.first(where: { $0.name == property }) {
          return found.type
        }
      }
      outer = outer.split(separator: ".").dropLast().joined(separator: ".")
    }
    return nil
  }

  /// The model at the other end of a property.
  ///
  /// Nil for a property whose type isn't a model of the project.
  func destination(of property: PropertyFact, in model: TypeFact) -> TypeFact? {
    property.type.flatMap { self.model($0, in: model.name) }
  }
}

// MARK: - Schemas

extension ProjectIndex {

  /// The earlier schemas of each migration plan, each with the newest schema of the plan.
  ///
  /// The newest is the one with the highest version. One without a literal version counts as the
  /// oldest, since it sorts first. Costs a sort for each plan, and is computed at each call.
  var olderSchemas: [(schema: SchemaFact, newest: SchemaFact)] {
    var found: [(SchemaFact, SchemaFact)] = []
    for plan in plans {
      let ordered = plan.schemas.compactMap(schema).sorted { one, other in
        (one.version ?? []).lexicographicallyPrecedes(other.version ?? [])
      }
      guard let newest = ordered.last else { continue }
      found += ordered.dropLast().map { ($0, newest) }
    }
    return found
  }

  /// The schema with a name as the source writes it, or else with the same last part.
  ///
  /// The last part decides if no full name matches, as for a plan inside a type that names its
  /// schemas without it.
  func schema(_ name: String) -> SchemaFact? {
    schemas.first { $0.name == name }
      ?? schemas.first { $0.name.lastComponent == name.lastComponent }
  }

  /// Whether a model is a copy in an earlier schema, which must not change any more.
  ///
  /// Rules about models pass over it: stores of that version exist, and a change of the copy would
  /// make them unknown.
  func isFrozen(_ model: TypeFact) -> Bool {
    olderSchemas.contains { model.name.hasPrefix($0.schema.name + ".") }
  }

  // MARK: - CloudKit

  /// The models that sync with CloudKit, and why they do; nil if none does.
  ///
  /// The reason goes into messages, since a reader has to know where to look if it is wrong.
  var cloudModels: (models: [TypeFact], reason: String)? {
    // A container in memory has no store to sync.
    let shipped = files.flatMap(\.containers).filter { isShipped($0.place) && !$0.isInMemory }
    let options = shipped.compactMap(\.cloudKit)
    let reason: String
    // A configuration counts more than entitlements: an app with CloudKit can have a local store, too.
    if assumesCloudKit {
      reason = "this run assumes CloudKit"
    } else if options.contains(where: { !$0.hasSuffix(".none") }) {
      reason = "a configuration names a CloudKit database"
    } else if settings.hasCloudKit, !shipped.isEmpty, options.isEmpty {
      reason = "the app's entitlements have CloudKit"
    } else {
      return nil
    }
    // A container without models in its call gets them from elsewhere, so all models count then.
    let named = shipped.flatMap(\.models).compactMap { model($0) }
    let reached = named.isEmpty ? models : reachable(from: named)
    return (reached.filter { isShipped($0.place) && !isFrozen($0) }, reason)
  }

  /// Models, and those that their relationships lead to.
  ///
  /// A container includes them, too, so CloudKit refuses it for any of them.
  private func reachable(from roots: [TypeFact]) -> [TypeFact] {
    var found: [String: TypeFact] = [:]
    var open = roots
    while let model = open.popLast() {
      // Relationships lead in circles, so each model is followed once.
      guard found.updateValue(model, forKey: model.name) == nil else { continue }
      open += model.properties.compactMap { destination(of: $0, in: model) }
    }
    // Sorted, since a dictionary's order differs from run to run.
    return found.values.sorted { $0.name < $1.name }
  }
}

extension String {
  /// `Keys.token` of `App.Settings.Keys.token`: by these, constants are found without a search through all.
  fileprivate var lastTwoComponents: String {
    split(separator: ".").suffix(2).joined(separator: ".")
  }
}

// MARK: - Payloads

/// The Codable types that a project keeps, with their fields: what later versions of the program
/// have to decode.
///
/// It follows types from what is stored to the types of their fields, so a field that is added deep
/// inside is seen, too. A type that is only encoded into a request isn't reached.
///
/// A baseline has the ``fields`` of one version. P06 compares them with those of the next: only
/// what both runs see as stored can be compared.
struct Payloads: Sendable {
  /// The encoded fields of each type, by the type's full name.
  let fields: [String: Set<String>]
  /// The fields without which a value of each type doesn't decode, by the type's full name.
  private let required: [String: [PropertyFact]]

  /// Finds the types and their fields.
  ///
  /// Invariant: each type is taken once, by its full name, so types that contain each other end the
  /// search.
  init(_ index: ProjectIndex) {
    var fields: [String: Set<String>] = [:]
    var required: [String: [PropertyFact]] = [:]
    // From the types that code stores, to the types of their fields.
    var open = Self.roots(in: index)
    // A field's type is looked up in the type that has the field, as Swift does.
    while let (name, scope) = open.popLast() {
      let declarations = index.declarations(of: name, in: scope)
      guard let full = declarations.first?.name, fields[full] == nil, Self.isPayload(declarations)
      else { continue }
      let keys = index.declarations(of: "CodingKeys", in: full).first {
        $0.name == full + ".CodingKeys"
      }?.cases
      let encoded = declarations.flatMap(\.properties).filter { Self.isEncoded($0, keys: keys) }
      fields[full] = Set(encoded.map(\.name))
      // An `init(from:)` of its own decides itself what an absent field means.
      if !declarations.contains(where: \.decodesItself) {
        // A default value doesn't help: the synthesized `init(from:)` requires every field that
        // isn't optional.
        required[full] = encoded.filter { $0.type?.isOptionalType != true }
      }
      open += encoded.compactMap { property in property.type.map { ($0.payloadType, full) } }
    }
    self.fields = fields
    self.required = required
  }

  /// The fields that decoding requires, and that earlier values lack.
  ///
  /// A type that the earlier version lacked has no values yet, and isn't in the result. Sorted by
  /// type.
  func additions(since earlier: [String: Set<String>]) -> [(type: String, field: PropertyFact)] {
    earlier.sorted { $0.key < $1.key }.flatMap { name, known in
      (required[name] ?? []).filter { !known.contains($0.name) }.map { (name, $0) }
    }
  }

  /// The types that are encoded to, or decoded from, a place that outlives the program.
  ///
  /// The properties of models count as well: a model keeps a Codable value as a whole.
  private static func roots(in index: ProjectIndex) -> [(String, String)] {
    let coded = index.codings.compactMap { use -> (String, String)? in
      guard index.isShipped(use.place), isKept(use.target) else { return nil }
      let type = use.type ?? use.property.flatMap { index.type(of: $0, in: use.scopeType) }
      return type.map { ($0.payloadType, use.scopeType) }
    }
    let stored = index.models.flatMap { model in
      model.properties.filter(\.isStored).compactMap { property in
        property.type.map { ($0.payloadType, model.name) }
      }
    }
    return coded + stored
  }

  /// Whether a target outlives the program and is read by its later versions.
  private static func isKept(_ target: CodingUse.Target) -> Bool {
    switch target {
    case .preference, .file, .cloud: true
    case .secret, .unknown: false
    }
  }

  /// Whether a type is encoded by its fields: a structure or class that is Codable, and no model.
  ///
  /// A model has a schema, whose changes P19 and P20 are about. An enumeration is encoded by its
  /// cases.
  private static func isPayload(_ declarations: [TypeFact]) -> Bool {
    declarations.contains { [.struct, .class].contains($0.kind) && !$0.isModel }
      && declarations.contains { !Set($0.inherited).isDisjoint(with: ["Codable", "Decodable"]) }
  }

  /// Whether the synthesized `init(from:)` decodes a property.
  ///
  /// - Parameter keys: The cases of the type's own `CodingKeys`; nil if the compiler makes them.
  private static func isEncoded(_ property: PropertyFact, keys: [String]?) -> Bool {
    guard !property.isStatic, !property.isComputed, keys?.contains(property.name) != false else {
      return false
    }
    // A constant with a value isn't decoded.
    return !(property.isConstant && property.defaultValue != nil)
  }
}
