import SteadEncoding

/// The rules of a type that client and server share: fields with rules, by wire name, and unique constraints.
package struct EntityRules: Hashable, Sendable {
  /// The fields with rules, by wire name.
  package var fields: [String: FieldRule]
  /// The constraints, in the order in which they are enforced.
  package var unique: [UniqueRule]

  package init(fields: [String: FieldRule] = [:], unique: [UniqueRule] = []) {
    self.fields = fields
    self.unique = unique
  }

  /// Whether a field refers to a record.
  var hasReferences: Bool { fields.values.contains { $0.reference != nil } }
  /// Whether a field names a blob.
  var hasBlobs: Bool { fields.values.contains { $0.isBlob } }

  /// Whether everything that the older rules have is here, unchanged.
  func extends(_ older: EntityRules) -> Bool {
    older.fields.allSatisfy { fields[$0.key] == $0.value }
      && older.unique.allSatisfy(unique.contains)
  }

  /// All rules of both; nil if they contradict each other: both have a field or a constraint of one name, but with
  /// different rules.
  func union(_ other: EntityRules) -> EntityRules? {
    let added = other.unique.filter { !unique.contains($0) }
    // A field that the other rules lack counts as equal.
    guard fields.allSatisfy({ other.fields[$0.key] ?? $0.value == $0.value }),
      Set(unique.map(\.name)).isDisjoint(with: added.map(\.name))
    else { return nil }
    return EntityRules(fields: fields.merging(other.fields) { $1 }, unique: unique + added)
  }
}

/// The rules of a field that client and server share. A field without a rule merges by ``MergeRule/last`` and refers to
/// nothing.
package struct FieldRule: Hashable, Sendable {
  /// How two values become one.
  package var merge: MergeRule
  /// Set for a reference, whose value is the identifier of a record or null.
  package var reference: DeleteRule?
  /// Whether the value names a blob: `{"sha256": …, "size": …}`.
  package var isBlob: Bool

  package init(merge: MergeRule = .last, reference: DeleteRule? = nil, isBlob: Bool = false) {
    self.merge = merge
    self.reference = reference
    self.isBlob = isBlob
  }

  /// A reference with a delete rule.
  package static func reference(_ rule: DeleteRule) -> FieldRule { FieldRule(reference: rule) }
  /// A blob.
  package static var blob: FieldRule { FieldRule(isBlob: true) }
}

/// What happens to a record whose reference leads to a deleted one.
package enum DeleteRule: String, Hashable, Sendable, CaseIterable {
  /// It is also deleted.
  case cascade
  /// The reference becomes null.
  case nullify
  /// The deletion is refused while the record lives. If the deletion came first, the reference becomes null.
  case deny
}

// MARK: - Unique constraints

/// Fields whose combined values no two live records of a type may share. As in SQL, null equals nothing.
package struct UniqueRule: Hashable, Sendable {
  /// What happens to the later of two records with the same key.
  package enum Policy: Hashable, Sendable {
    /// It is merged into the older one and becomes its alias.
    case merge
    /// Both stay: the last string of the key gets this suffix with a number, as in "Notes (2)" for " (%)", where the
    /// percent sign stands for the number.
    case keepBoth(suffix: String)
  }

  /// The constraint's name, which never changes.
  package var name: String
  /// Wire names; at least one.
  package var fields: [String]
  /// What happens to the later of two records.
  package var policy: Policy

  package init(_ name: String, fields: [String], policy: Policy = .merge) {
    self.name = name
    self.fields = fields
    self.policy = policy
  }

  /// A string with the suffix of ``Policy/keepBoth(suffix:)``; without a percent sign, the number comes at the end.
  static func renamed(_ text: String, suffix: String, number: Int) -> String {
    guard let sign = suffix.firstIndex(of: "%") else { return text + suffix + String(number) }
    return text + suffix[..<sign] + String(number) + suffix[suffix.index(after: sign)...]
  }
}

// MARK: - Merging fields

/// How two values of one field are merged.
///
/// Each rule is commutative, associative and idempotent (a join of a semilattice), so neither the order of arrival nor
/// a repetition matters. A field's rule is permanent: two devices with different rules would not converge.
///
/// "Merging" in Documentation/SyncProtocol.md. Semilattices are why replicas converge: Shapiro, Preguiça, Baquero and
/// Zawirski, "Conflict-free Replicated Data Types" (2011).
package enum MergeRule: String, Hashable, Sendable, CaseIterable {
  /// The value with the greater stamp.
  case last
  /// The greater value.
  case max
  /// The smaller value; null counts as none.
  case min
  /// All elements of both arrays. Elements are never removed.
  case union
  /// Totals per device, ``SyncCounter``.
  case counter

  /// The merged field. Costs time in proportion to both values.
  ///
  /// Values that aren't of the rule's kind merge by ``last``.
  package func merged(_ one: Field, _ other: Field) -> Field {
    // The later stamp whichever value wins, so that the result doesn't depend on the order.
    let later = laterField(one, other)
    switch self {
    case .last: return later
    case .max: return Field(Swift.max(one.value, other.value), later.stamp)
    case .min:
      // Null sorts before all values, so the smaller one would be null, which has no value to keep.
      if one.value == .null || other.value == .null {
        return Field(Swift.max(one.value, other.value), later.stamp)
      }
      return Field(Swift.min(one.value, other.value), later.stamp)
    case .union:
      guard let first = one.value.array, let second = other.value.array else { return later }
      return Field(.array(Self.union(first, second)), later.stamp)
    case .counter:
      guard let value = SyncCounter.merged(one.value, other.value) else { return later }
      return Field(value, later.stamp)
    }
  }

  /// All elements, ascending, each once by its bytes: equal strings of other bytes are two elements everywhere.
  private static func union(_ one: [SyncValue], _ other: [SyncValue]) -> [SyncValue] {
    var elements: [SyncValue] = []
    for element in (one + other).sorted() {
      // Sorted, so equal elements are neighbors.
      if let last = elements.last, !(last < element) { continue }
      elements.append(element)
    }
    return elements
  }

  /// Equal stamps come from two repairs of one value, before and after a server was restored; then the greater
  /// value, so that all agree.
  private func laterField(_ one: Field, _ other: Field) -> Field {
    if one.stamp != other.stamp { return one.stamp < other.stamp ? other : one }
    return one.value < other.value ? other : one
  }
}

/// A number that several devices add to: `{"device": [edits, total], …}`. Its value is the sum of the totals (a
/// PN-counter).
///
/// Each device writes its own total, never an increment, so that a repetition changes nothing. Of two entries of one
/// device, the one with more edits is the later one: a total alone would not tell, since it may decrease.
package enum SyncCounter {
  /// The sum; malformed entries count nothing, and a sum beyond 64 bits wraps around.
  package static func total(_ value: SyncValue) -> Int64 {
    (value.object ?? [:]).values.reduce(0) { $0 &+ (entry($1)?.total ?? 0) }
  }

  /// The value to write for an addition: only the device's own entry, which merging adds to the others'.
  package static func adding(_ amount: Int64, to value: SyncValue, by device: DeviceID) -> SyncValue
  {
    let own = counts(in: value, by: device)
    // Wraps instead of trapping: the entry may come from another device.
    return .object([device.text: [.int(own.edits &+ 1), .int(own.total &+ amount)]])
  }

  /// The device's entry alone; null for none.
  static func entry(in value: SyncValue, by device: DeviceID) -> SyncValue {
    value.object?[device.text].map { .object([device.text: $0]) } ?? .null
  }

  /// How often a device has added, and how much in all.
  static func counts(in value: SyncValue, by device: DeviceID) -> (edits: Int64, total: Int64) {
    value.object?[device.text].flatMap(entry) ?? (0, 0)
  }

  /// The greater entry of each device, by edits and then by total; nil if a value isn't a counter.
  static func merged(_ one: SyncValue, _ other: SyncValue) -> SyncValue? {
    guard let first = one.object, let second = other.object else { return nil }
    // Arrays compare element by element: the edits first, and the totals only if these are equal.
    return .object(first.merging(second, uniquingKeysWith: Swift.max))
  }

  /// A device's entry; nil for one that is malformed.
  private static func entry(_ value: SyncValue) -> (edits: Int64, total: Int64)? {
    guard let numbers = value.array, numbers.count == 2, let edits = numbers[0].int,
      let total = numbers[1].int
    else { return nil }
    return (edits, total)
  }
}

// MARK: - Links

/// The identity of a link, the record of a many-to-many relationship between two records.
///
/// It is derived from the two records, so two devices that link them make the same record instead of two. Other to-many
/// relationships are derived from the references of the other side and are never sent.
///
/// "Links" under "Helpers that must agree" in Documentation/SyncProtocol.md, with an example.
package enum LinkID {
  /// `link-` and the first 32 digits of the SHA-256 of `relation`, a line feed, `first`, a line feed, `second`.
  package static func make(relation: String, first: RecordID, second: RecordID) -> RecordID {
    let text = "\(relation)\n\(first.text)\n\(second.text)"
    return RecordID(trusted: "link-" + SHA256.hexadecimal(text.utf8).prefix(32))
  }

  /// The rules of a link's type, whose two references have these wire names: they cascade, and a pair is unique. So
  /// deleting either record deletes the link, and links of merged records become one.
  package static func rules(first: String, second: String) -> EntityRules {
    EntityRules(
      fields: [first: .reference(.cascade), second: .reference(.cascade)],
      unique: [UniqueRule("pair", fields: [first, second])])
  }
}

// MARK: - Coding

extension EntityRules {
  init(_ value: SyncValue) throws(SyncCodingError) {
    let reader = try MemberReader(value, "type")
    self.init()
    if reader.value("fields") != nil {
      for (name, value) in try reader.object("fields") {
        guard name.isWireName else { throw reader.problem("fields", "named by wire names") }
        fields[name] = try FieldRule(value)
      }
    }
    guard let rules = reader.value("unique") else { return }
    guard let values = rules.array else { throw reader.problem("unique", "an array") }
    for value in values { unique.append(try UniqueRule(value)) }
  }

  var value: SyncValue {
    .members([
      "fields": fields.isEmpty ? nil : .object(fields.mapValues(\.value)),
      "unique": unique.isEmpty ? nil : .array(unique.map(\.value)),
    ])
  }
}

extension FieldRule {
  fileprivate init(_ value: SyncValue) throws(SyncCodingError) {
    let reader = try MemberReader(value, "field")
    self.init()
    if reader.value("merge") != nil {
      guard let rule = MergeRule(rawValue: try reader.string("merge")) else {
        throw reader.problem("merge", "a rule that is known")
      }
      merge = rule
    }
    if reader.value("reference") != nil {
      guard let rule = DeleteRule(rawValue: try reader.string("reference")) else {
        throw reader.problem("reference", "a rule that is known")
      }
      reference = rule
    }
    if reader.value("blob") != nil { isBlob = try reader.bool("blob") }
  }

  fileprivate var value: SyncValue {
    .members([
      "merge": merge == .last ? nil : .string(merge.rawValue),
      "reference": reference.map { .string($0.rawValue) }, "blob": isBlob ? .bool(true) : nil,
    ])
  }
}

extension UniqueRule {
  fileprivate init(_ value: SyncValue) throws(SyncCodingError) {
    let reader = try MemberReader(value, "unique constraint")
    let fields = (reader.value("fields")?.array ?? []).compactMap(\.string)
    // Without fields, all records would have one key.
    guard !fields.isEmpty, fields.allSatisfy(\.isWireName) else {
      throw reader.problem("fields", "a list of wire names")
    }
    self.init(try reader.string("name"), fields: fields)
    if reader.value("suffix") != nil { policy = .keepBoth(suffix: try reader.string("suffix")) }
  }

  fileprivate var value: SyncValue {
    var suffix: SyncValue?
    if case .keepBoth(let text) = policy { suffix = .string(text) }
    return .members([
      "name": .string(name), "fields": .array(fields.map { .string($0) }), "suffix": suffix,
    ])
  }
}
