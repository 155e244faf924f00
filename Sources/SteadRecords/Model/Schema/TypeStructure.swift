/// The structure of a type's values, as a store records it: an app may change a type and keep its name.
///
/// Two types with equal structures read each other's values.
indirect enum TypeStructure: Hashable, Sendable {
  /// A type of the standard library or of Foundation, or one that nothing is known of.
  case named(String)
  /// An optional of the structure.
  case optional(TypeStructure)
  /// An array, a range or another generic type of the standard library, and its parts.
  case collection(String, [TypeStructure])
  /// A raw value; of an enum also all its raw values.
  case raw(TypeStructure, cases: [String]?)
  /// The cases of an enum without raw value, each with the parts of its payload, and the keys that it reads from JSON if
  /// these are not the cases' names.
  case choice([String: [TypeStructure]], keys: [String]?)
  /// The fields of a struct, and the keys that it reads from JSON if these are not the fields' names.
  case fields([String: TypeStructure], keys: [String]?)
  /// A recursive reference: the type that many levels above.
  case outer(Int)
}

extension TypeStructure {
  /// Whether every value of another structure is a value of this one: it is equal, or enums in it have gained cases.
  ///
  /// If it is, a migration leaves the values of a column as they are, although the type has
  /// changed.
  func reads(_ other: TypeStructure) -> Bool {
    if self == other { return true }
    switch (self, other) {
    case (.optional(let mine), .optional(let theirs)): return mine.reads(theirs)
    case (.collection(let mine, let parts), .collection(let theirs, let others)):
      return mine == theirs && Self.read(parts, others)
    // More cases than before read all old values; fewer may not.
    case (.raw(let mine, let cases?), .raw(let theirs, let others?)):
      return mine == theirs && Set(cases).isSuperset(of: others)
    // Each old case must still be there under its key, with payloads that read the old ones.
    case (.choice(let cases, let keys), .choice(let others, let otherKeys)):
      return Set(keys ?? Array(cases.keys)).isSuperset(of: otherKeys ?? Array(others.keys))
        && others.allSatisfy { name, parts in cases[name].map { Self.read($0, parts) } ?? false }
    // A struct with a new field does not read old values by itself: the migration has to complete them.
    case (.fields(let fields, let keys), .fields(let others, let otherKeys)):
      return keys == otherKeys && fields.count == others.count
        && others.allSatisfy { name, field in fields[name]?.reads(field) ?? false }
    default: return false
    }
  }

  private static func read(_ parts: [TypeStructure], _ others: [TypeStructure]) -> Bool {
    parts.count == others.count && zip(parts, others).allSatisfy { $0.reads($1) }
  }

  /// What differs from an earlier structure, in phrases such as `the field volume is new`; empty if it can't be said in
  /// so few words.
  func changes(from old: TypeStructure) -> [String] {
    switch (old, self) {
    case (.raw(let before, let old?), .raw(let now, let new?)) where before == now:
      Self.names("case", Set(old), Set(new))
    case (.choice(let old, let before), .choice(let new, let now)):
      Self.names("case", Set(old.keys), Set(new.keys))
        + old.keys.sorted().filter { new[$0] != nil && new[$0] != old[$0] }
        .map { "the payload of the case \($0) is another" }
        + (before == now ? [] : ["the coding keys are others"])
    case (.fields(let old, let before), .fields(let new, let now)):
      Self.names("field", Set(old.keys), Set(new.keys))
        + old.keys.sorted().filter { new[$0] != nil && new[$0] != old[$0] }
        .map { "the type of the field \($0) is another" }
        + (before == now ? [] : ["the coding keys are others"])
    default: []
    }
  }

  /// What is new, then what is gone, as phrases.
  private static func names(_ kind: String, _ old: Set<String>, _ new: Set<String>) -> [String] {
    new.subtracting(old).sorted().map { "the \(kind) \($0) is new" }
      + old.subtracting(new).sorted().map { "the \(kind) \($0) is gone" }
  }
}

/// In JSON a name is a string, and everything else an object: `{"fields":{"volume":"Int"}}`. Documentation/RecordStore.md
/// lists the forms.
extension TypeStructure: Codable {
  private enum CodingKeys: CodingKey {
    case optional, collection, of, raw, cases, choice, fields, keys, outer
  }

  init(from decoder: any Decoder) throws {
    // A plain name is by far the most common form.
    if let name = try? decoder.singleValueContainer().decode(String.self) {
      self = .named(name)
      return
    }
    let container = try decoder.container(keyedBy: CodingKeys.self)
    if let wrapped = try container.decodeIfPresent(TypeStructure.self, forKey: .optional) {
      self = .optional(wrapped)
    } else if let name = try container.decodeIfPresent(String.self, forKey: .collection) {
      self = .collection(name, try container.decode([TypeStructure].self, forKey: .of))
    } else if let value = try container.decodeIfPresent(TypeStructure.self, forKey: .raw) {
      self = .raw(value, cases: try container.decodeIfPresent([String].self, forKey: .cases))
    } else if let cases = try container.decodeIfPresent(
      [String: [TypeStructure]].self, forKey: .choice)
    {
      self = .choice(cases, keys: try container.decodeIfPresent([String].self, forKey: .keys))
    } else if let fields = try container.decodeIfPresent(
      [String: TypeStructure].self, forKey: .fields)
    {
      self = .fields(fields, keys: try container.decodeIfPresent([String].self, forKey: .keys))
    } else if let levels = try container.decodeIfPresent(Int.self, forKey: .outer) {
      self = .outer(levels)
    } else {
      // A form of a later version of this library: the structure is then another one.
      // No type has this name, so it equals no structure of the program.
      self = .named("")
    }
  }

  func encode(to encoder: any Encoder) throws {
    if case .named(let name) = self {
      var container = encoder.singleValueContainer()
      return try container.encode(name)
    }
    var container = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .named: break
    case .optional(let wrapped): try container.encode(wrapped, forKey: .optional)
    case .collection(let name, let parts):
      try container.encode(name, forKey: .collection)
      try container.encode(parts, forKey: .of)
    case .raw(let value, let cases):
      try container.encode(value, forKey: .raw)
      try container.encodeIfPresent(cases, forKey: .cases)
    case .choice(let cases, let keys):
      try container.encode(cases, forKey: .choice)
      try container.encodeIfPresent(keys, forKey: .keys)
    case .fields(let fields, let keys):
      try container.encode(fields, forKey: .fields)
      try container.encodeIfPresent(keys, forKey: .keys)
    case .outer(let levels): try container.encode(levels, forKey: .outer)
    }
  }
}

// MARK: - Names of types

/// Names for value types in an encoded schema: the mangled name, by which the runtime finds a type again.
enum ValueTypeName {
  private static let names = TypeCache<String>()

  /// The name that is stored for a type.
  static func name(of type: any Any.Type) -> String {
    names.value(for: ObjectIdentifier(type)) {
      _mangledTypeName(type) ?? String(reflecting: type)
    }
  }

  /// The type with that name in this program, or `Any` if it has none.
  static func type(named name: String) -> any Any.Type {
    // The name of a type that was renamed or removed since is no error: the schema records its form
    // as well.
    _typeByName(name) ?? Any.self
  }
}
