/// A property of an entity: an attribute, a relationship, or a set of constraints.
public protocol SchemaProperty: Codable, Hashable {
  /// The property's name.
  var name: String { get }
  /// The name that the property had in an earlier schema.
  var originalName: String { get set }
  /// The Swift type of the property's value.
  var valueType: any Any.Type { get set }
  var isAttribute: Bool { get }
  var isRelationship: Bool { get }
  var isTransient: Bool { get }
  var isOptional: Bool { get }
  var isUnique: Bool { get }
}
