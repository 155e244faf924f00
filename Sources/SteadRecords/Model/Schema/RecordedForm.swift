/// What an encoded schema says of a property's type beside its name, since the type may be gone from a program
/// that reads the schema: a later version of the same app has types of its own.
struct RecordedForm: Codable, Hashable, Sendable {
  var isOptional: Bool
  /// Of an attribute: how its values lie in the column.
  var encoding: String?
  /// Of a relationship: whether it holds at most one model.
  var isToOne: Bool?
}
