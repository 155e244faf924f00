/// The columns and tables of pairs that classes of one hierarchy share, and that a match would tear apart.
struct SharedPlaces {
  /// A property whose values cannot go where the match takes them.
  struct Split {
    let entity: String
    let property: String
    let description: String
  }

  private(set) var splits: [Split] = []

  /// A property of a class, with where it is or was stored.
  private struct Member {
    let entity: String
    let property: String
    let place: String
    var name: String { "\(entity).\(property)" }
  }

  init(_ match: SchemaMatch) {
    var after: [String: Member] = [:]
    var before: [String: Member] = [:]
    for entity in match.new.entities {
      guard let old = match.oldEntities[entity.name] else { continue }
      for property in entity.storedProperties {
        guard let was = match.oldProperty(property.name, of: entity.name) else { continue }
        let (source, target) = (Self.place(was, old), Self.place(property, entity))
        let member = Member(entity: entity.name, property: property.name, place: target.name)
        if let other = after[source.key], other.place != target.name {
          splits.append(
            Split(
              entity: entity.name, property: property.name,
              description:
                "\(other.name) and \(member.name) were stored in one place, as \(old.name).\(was.name), and are two "
                + "now. Rename both, or give one of them its values in a custom stage of a migration plan."
            ))
          continue
        }
        after[source.key] = after[source.key] ?? member
        // Tables of pairs are written anew; columns of one name are one.
        guard Self.isColumn(property), Self.isColumn(was) else { continue }
        let origin = Member(entity: entity.name, property: property.name, place: source.name)
        if let other = before[target.key], other.place != source.name {
          splits.append(
            Split(
              entity: entity.name, property: property.name,
              description:
                "\(other.name) and \(member.name) share a column, since they belong to one class hierarchy, and were "
                + "stored in two. Give one of them another name, or its values in a custom stage of a migration plan."
            ))
          continue
        }
        before[target.key] = before[target.key] ?? origin
      }
    }
  }

  private static func isColumn(_ property: any SchemaProperty) -> Bool {
    (property as? Schema.Relationship)?.isToOneRelationship ?? true
  }

  /// Where a property is stored, in its hierarchy and in all.
  private static func place(
    _ property: any SchemaProperty, _ entity: Schema.Entity
  ) -> (name: String, key: String) {
    if isColumn(property) { return (property.name, "\(entity.root.name) \(property.name)") }
    let name = "\(entity.declarer(of: property.name).name).\(property.name)"
    return (name, name)
  }
}
