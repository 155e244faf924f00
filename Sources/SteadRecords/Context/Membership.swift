/// The members of the to-many relationship that was last added to, for quick repeats.
struct Membership {
  /// Held, since the address of a deallocated object may be reused by another.
  let owner: AnyObject
  let index: Int
  var members: Set<ObjectIdentifier>
}

extension Membership {
  mutating func insert(
    _ new: [AnyObject], into owner: any PersistentModel, _ index: Int
  ) {
    guard self.owner === owner, self.index == index else { return }
    for object in new { members.insert(ObjectIdentifier(object)) }
  }
}
