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
    var (after, before): ([String: Member], [String: Member]) = ([:], [:])
    for entity in match.new.entities {
      guard let old = match.oldEntities[entity.name] else { continue }
      for property in entity.storedProperties {
        guard let was = match.oldProperty(property.name, of: entity.name) else { continue }
        let (source, target) = (Self.place(was, old), Self.place(property, entity))
        func member(_ place: String) -> Member {
          Member(entity: entity.name, property: property.name, place: place)
        }
        let goesOn = takes(&after, source.key, member(target.name)) { one, other in
          "\(one) and \(other) were stored in one place, as \(old.name).\(was.name), and are two now. Rename both, or give "
            + "one of them its values in a custom stage of a migration plan."
        }
        // Tables of pairs are written anew; columns of one name are one.
        guard goesOn, TableNames.isColumn(property), TableNames.isColumn(was) else { continue }
        _ = takes(&before, target.key, member(source.name)) { one, other in
          "\(one) and \(other) share a column, since they belong to one class hierarchy, and were stored in two. Give one of "
            + "them another name, or its values in a custom stage of a migration plan."
        }
      }
    }
  }

  /// Notes that a place has a member, and the member's other place; false for one that another member has elsewhere.
  private mutating func takes(
    _ members: inout [String: Member], _ key: String, _ member: Member,
    _ description: (_ one: String, _ other: String) -> String
  ) -> Bool {
    guard let other = members[key] else {
      members[key] = member
      return true
    }
    if other.place == member.place { return true }
    splits.append(
      Split(
        entity: member.entity, property: member.property,
        description: description(other.name, member.name)))
    return false
  }

  /// Where a property is stored, in its hierarchy and in all.
  private static func place(
    _ property: any SchemaProperty, _ entity: Schema.Entity
  ) -> (name: String, key: String) {
    if TableNames.isColumn(property) {
      return (property.name, "\(entity.root.name) \(property.name)")
    }
    let name = "\(entity.declarer(of: property.name).name).\(property.name)"
    return (name, name)
  }
}
