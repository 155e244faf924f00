/// The rules of a type that client and server share: fields with rules, by wire name, and unique constraints.
package struct EntityRules: Hashable, Sendable {
  package var fields: [String: FieldRule]
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

  /// All rules of both; nil if both have a field or a constraint, but with different rules.
  func union(_ other: EntityRules) -> EntityRules? {
    let added = other.unique.filter { !unique.contains($0) }
    guard fields.allSatisfy({ other.fields[$0.key] ?? $0.value == $0.value }),
      Set(unique.map(\.name)).isDisjoint(with: added.map(\.name))
    else { return nil }
    return EntityRules(fields: fields.merging(other.fields) { $1 }, unique: unique + added)
  }
}
