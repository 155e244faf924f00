/// What an encoded schema records about a property's type besides its name, since a program that reads the schema may
/// no longer have the type: a later version of the same app has other types.
struct RecordedForm: Codable, Hashable, Sendable {
  var isOptional: Bool
  /// For an attribute: how the column stores its values.
  var encoding: String?
  /// For an attribute: what its values are made of. Schemas of earlier versions of this library lack it.
  var structure: TypeStructure?
  /// Of a relationship: whether it holds at most one model.
  var isToOne: Bool?
}
