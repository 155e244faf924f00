/// What a change of one side of a relationship means for the other sides.
///
/// Pure: derives the changes of the other sides, loaded or not, from what a side held and what it gets.
enum Inverses {
  typealias Model = any PersistentModel

  /// A change of one side, which has no further effects.
  enum Change {
    /// A to-one property gets a destination, or none, and the number of the list that it is in there,
    /// which only a property with several lists has.
    case refer(Model, Int, to: Model?, list: Int? = nil)
    /// An object goes to the end of a to-many relationship.
    case add(Model, to: Model, Int)
    /// An object leaves a to-many relationship.
    case remove(Model, from: Model, Int)
  }

  /// The property that leads back.
  struct Inverse {
    let index: Int
    let isToMany: Bool
    /// The number that the relationship has among those that share this inverse.
    let list: Int?
  }

  /// A property of an object that leads, or will lead, to another one.
  struct Side {
    let model: Model
    let inverse: Inverse

    func isProperty(_ index: Int, of model: Model) -> Bool {
      self.model === model && inverse.index == index
    }

    fileprivate func taking(_ object: Model) -> Change {
      inverse.isToMany
        ? .add(object, to: model, inverse.index)
        : .refer(model, inverse.index, to: object, list: inverse.list)
    }

    func losing(_ object: Model) -> Change {
      inverse.isToMany
        ? .remove(object, from: model, inverse.index) : .refer(model, inverse.index, to: nil)
    }
  }

  /// What follows when a to-one property of an owner, with an inverse, gets another destination.
  ///
  /// - Parameters:
  ///   - old: The side that led back; with a to-many inverse nil when no object of it is registered.
  ///   - new: The side that will lead back.
  ///   - partner: The side that led to the new destination, when `new` is a to-one property.
  static func ofReference(
    _ owner: Model, _ index: Int, old: Side?, new: Side?, partner: Side?
  ) -> [Change] {
    var changes: [Change] = []
    // nil also for a list that is not loaded, which is later made of its rows and its members' own references.
    if let old { changes.append(old.losing(owner)) }
    guard let new else { return changes }
    // If the partner's side is the property that was just set, the two belong together already.
    if !new.inverse.isToMany, let partner, !partner.isProperty(index, of: owner) {
      changes.append(partner.losing(new.model))
    }
    changes.append(new.taking(owner))
    return changes
  }

  /// What follows when an object leaves a to-many relationship with an inverse.
  ///
  /// - Parameter refers: Whether the object's to-one side leads to this relationship.
  static func ofRemoval(
    of member: Model, from owner: Model, _ inverse: Inverse, refers: Bool
  ) -> Change? {
    // A to-one side that leads elsewhere by now must not be cleared.
    inverse.isToMany || refers ? Side(model: member, inverse: inverse).losing(owner) : nil
  }

  /// What follows when an object comes into a to-many relationship with an inverse.
  ///
  /// - Parameter old: The side that its to-one side led to, if an object of that side is registered.
  static func ofAddition(
    of member: Model, to owner: Model, _ index: Int, _ inverse: Inverse, old: Side?
  ) -> [Change] {
    var changes: [Change] = []
    if !inverse.isToMany, let old, !old.isProperty(index, of: owner) {
      changes.append(old.losing(member))
    }
    changes.append(Side(model: member, inverse: inverse).taking(owner))
    return changes
  }
}

extension StoreLayout {
  /// The property that leads back.
  ///
  /// - Parameter list: Which one where several share the property as their inverse; nil for the first.
  func inverse(of property: PropertyLayout, list: Int? = nil) -> Inverses.Inverse? {
    guard let relationship = property.relationship, let destination = property.destination else {
      return nil
    }
    let listed = list.flatMap { number in relationship.lists.first { $0.number == number } }
    guard let index = listed?.property ?? relationship.inverse else { return nil }
    return Inverses.Inverse(
      index: index, isToMany: entities[destination].properties[index].isToMany,
      list: relationship.list)
  }
}
