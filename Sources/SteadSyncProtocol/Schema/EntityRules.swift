/// What client and server know of a type: fields with rules, by wire name, and unique constraints.
public struct EntityRules: Hashable, Sendable {
  public var fields: [String: FieldRule]
  public var unique: [UniqueRule]

  public init(fields: [String: FieldRule] = [:], unique: [UniqueRule] = []) {
    self.fields = fields
    self.unique = unique
  }

  /// Whether everything that the older rules have is here, unchanged.
  func extends(_ older: EntityRules) -> Bool {
    older.fields.allSatisfy { fields[$0.key] == $0.value }
      && older.unique.allSatisfy(unique.contains)
  }
}
