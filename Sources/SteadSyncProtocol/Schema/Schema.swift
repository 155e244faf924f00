import SteadEncoding

/// The rules of a zone's types, by which client and server merge in the same way.
///
/// ```
/// {"types":{"Task":{"fields":{"file":{"blob":true},"hits":{"merge":"counter"},"parent":{"reference":"nullify"}},
///  "unique":[{"fields":["list","name"],"name":"name","suffix":" (%)"}]}},"version":2}
/// ```
///
/// Wire names are permanent, and a later version only adds: records and pending transactions of every older version
/// stay valid. A type or a field without rules needs no entry.
///
/// "Schema" in Documentation/SyncProtocol.md.
package struct Schema: Hashable, Sendable {
  /// The version, which increases with each addition.
  package var version: Int
  /// The rules of types, by wire name.
  package var entities: [String: EntityRules]

  package init(version: Int, entities: [String: EntityRules]) {
    self.version = version
    self.entities = entities
  }

  /// The schema of a zone without any rules.
  package static let empty = Schema(version: 0, entities: [:])

  /// Whether this schema has everything that an older one has, unchanged.
  package func extends(_ older: Schema) -> Bool {
    version >= older.version
      && older.entities.allSatisfy { entities[$0.key]?.extends($0.value) ?? false }
  }

  /// A digest of the rules without the version, to compare those of one version: 64-bit FNV-1a over the JSON of
  /// `types`. Costs the encoding of the schema.
  package var digest: UInt64 {
    var digest = UInt64.emptyDigest
    digest.digest(SyncValue.object(entities.mapValues(\.value)).encoded())
    return digest
  }

  /// All rules of both schemas, in the order of this one, with the greater version; nil if they contradict each other:
  /// both have a field or a constraint with the same name, but with different rules.
  func union(_ other: Schema) -> Schema? {
    var union = self
    union.version = max(version, other.version)
    for (type, rules) in other.entities {
      guard let joined = (entities[type] ?? EntityRules()).union(rules) else { return nil }
      union.entities[type] = joined
    }
    return union
  }

  /// The rules of a field; nil for a field without any.
  func rule(_ field: String, of type: String) -> FieldRule? { entities[type]?.fields[field] }

  /// The types whose rules differ from those in the older schema: their records may have new keys,
  /// references or blobs.
  func typesToIndex(since older: Schema) -> [String] {
    entities.keys.filter { entities[$0] != older.entities[$0] }.sorted()
  }
}

// MARK: - Keys and references of a record

extension Schema {
  /// The keys by which a record is found; none for a tombstone.
  package func index(of record: Record) -> RecordIndex {
    guard record.isLive, let rules = entities[record.type] else { return RecordIndex() }
    var index = RecordIndex()
    for (name, rule) in rules.fields where rule.reference != nil || rule.isBlob {
      guard let value = record.fields[name]?.value else { continue }
      if rule.isBlob {
        if let blob = Self.blob(value) { index.blobs.append(blob) }
      } else if let target = Self.target(value) {
        index.targets.append(target)
      }
    }
    // The loop follows a dictionary, and the index is ascending with each record once.
    if index.targets.count > 1 { index.targets = Set(index.targets).sorted() }
    if index.blobs.count > 1 { index.blobs = Set(index.blobs).sorted() }
    index.tokens = tokens(of: record).map(\.token)
    return index
  }

  /// The unique keys that a record holds, one for each constraint whose fields all have values.
  ///
  /// A token is the type, the constraint and the values as JSON in ASCII, percent-encoded; if that is longer than 160
  /// characters, its SHA-256. So it is a valid identifier, and equal values have equal tokens on every device.
  ///
  /// Equality of keys is that of "Settling" in SyncProtocol.md: by the bytes of their JSON. The percent-encoding and
  /// the digest are this implementation's own and aren't sent.
  package func tokens(of record: Record) -> [(rule: UniqueRule, token: UniqueToken)] {
    guard record.isLive, let rules = entities[record.type] else { return [] }
    return rules.unique.compactMap { rule in
      // With type and constraint, since equal values under two constraints are different keys.
      var values: [SyncValue] = [.string(record.type), .string(rule.name)]
      for name in rule.fields {
        // As in SQL, null equals nothing.
        guard let value = record.fields[name]?.value, value != .null else { return nil }
        values.append(value)
      }
      return (rule, Self.token(values))
    }
  }

  /// The name of a key's values, in the characters of an identifier.
  private static func token(_ values: [SyncValue]) -> UniqueToken {
    let text = JSONWriter.text(.array(values), escapesUnicode: true)
    var escaped: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      // Characters that an identifier may not have, the escape sign, and DEL.
      case 0...0x20, 0x22, 0x25, 0x5C, 0x7F: escaped.appendPercentEncoded(byte)
      default: escaped.append(byte)
      }
    }
    guard escaped.count > 160 else {
      return UniqueToken(trusted: String(decoding: escaped, as: UTF8.self))
    }
    // JSON of an array begins with a bracket, so a digest is never taken for a key.
    return UniqueToken(trusted: "#" + SHA256.hexadecimal(escaped))
  }

  /// The record that a reference's value leads to.
  package static func target(_ value: SyncValue) -> RecordID? {
    value.string.flatMap { RecordID($0) }
  }

  /// The blob that a value names.
  package static func blob(_ value: SyncValue) -> BlobID? {
    value.object?["sha256"]?.string.flatMap { BlobID($0) }
  }

  /// The blobs that a mutation names, with the sizes that it claims: the server has their bytes later, if at all.
  func blobs(of mutation: Mutation) -> [(id: BlobID, size: Int)] {
    guard let rules = entities[mutation.type], rules.hasBlobs else { return [] }
    return SyncValue.sorted(mutation.values).compactMap { name, value in
      guard rules.fields[name]?.isBlob == true, let blob = Self.blob(value) else { return nil }
      return (blob, value.object?["size"]?.int.map { Int($0) } ?? 0)
    }
  }

  /// The references of a record, by field, in the order of the fields' names.
  package func references(of record: Record) -> [(field: String, target: RecordID)] {
    guard let rules = entities[record.type] else { return [] }
    return SyncValue.sorted(rules.fields).compactMap { name, rule in
      guard rule.reference != nil, let value = record.fields[name]?.value,
        let target = Self.target(value)
      else { return nil }
      return (name, target)
    }
  }
}

// MARK: - Indexes

/// The keys, besides its identity, by which a storage finds a record. Empty for a tombstone.
package struct RecordIndex: Hashable, Sendable {
  /// The unique keys that it holds, in the order of the type's constraints.
  package var tokens: [UniqueToken]
  /// The records that it refers to, ascending, each once.
  package var targets: [RecordID]
  /// The blobs that it names, ascending, each once.
  package var blobs: [BlobID]

  package init(tokens: [UniqueToken] = [], targets: [RecordID] = [], blobs: [BlobID] = []) {
    self.tokens = tokens
    self.targets = targets
    self.blobs = blobs
  }
}

// MARK: - Coding

extension Schema: SyncCodable {
  package init(syncValue: SyncValue) throws(SyncCodingError) {
    let reader = try MemberReader(syncValue, "schema")
    var entities: [String: EntityRules] = [:]
    for (name, value) in try reader.object("types") {
      guard name.isWireName else { throw reader.problem("types", "named by wire names") }
      entities[name] = try EntityRules(value)
    }
    self.init(version: Int(try reader.count("version")), entities: entities)
  }

  package var syncValue: SyncValue {
    .members([
      "version": .int(Int64(version)), "types": .object(entities.mapValues(\.value)),
    ])
  }
}
