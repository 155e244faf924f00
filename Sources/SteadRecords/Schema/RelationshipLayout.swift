/// How a relationship is deleted, limited and reached from its other side.
struct RelationshipLayout: Sendable {
  let deleteRule: Schema.Relationship.DeleteRule
  let minimum: Int
  let maximum: Int
  /// The index of the inverse in the destination's properties. Where several share this to-one
  /// relationship as their inverse, it is the first that the object can be in.
  let inverse: Int?
  /// Of a to-one relationship that several name as their inverse: all of them that objects of the
  /// class can be in, in the order of their declaration. An object is in one of them at a time.
  var lists: [SharedList] = []
  /// The relationship's number among those that share its inverse; nil where it shares none.
  var list: Int?
}

/// One of several relationships that name the same to-one relationship as their inverse.
struct SharedList: Hashable, Sendable {
  /// Its index in the properties of the to-one's destination.
  let property: Int
  /// Its place in the order of declaration, from 0: what the to-one's `listColumn` holds.
  let number: Int
}
