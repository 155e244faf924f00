/// What a property is, in words: `a String`, `an optional Int`, `a relationship to several Tag`.
struct PropertyForm: CustomStringConvertible {
  let description: String

  init(_ property: any SchemaProperty) {
    if let relationship = property as? Schema.Relationship {
      let count =
        relationship.isToOneRelationship
        ? relationship.isOptional ? "one or no" : "one" : "several"
      description = "a relationship to \(count) \(relationship.destination)"
    } else {
      let name = Self.typeName(property)
      description = property.isOptional ? "an optional \(name)" : "a required \(name)"
    }
  }

  private static func typeName(_ property: any SchemaProperty) -> String {
    let type = PropertyShape(property.valueType).wrapped
    if type != Any.self { return "\(type)" }
    let encoding = (property as? Schema.Attribute)?.recorded?.encoding
    return "value" + (encoding.map { " stored as \($0)" } ?? "")
  }
}
