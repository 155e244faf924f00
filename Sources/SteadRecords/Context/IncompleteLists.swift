/// The lists that were read without a destination that could not be read.
///
/// They show what could be read. A deletion must not take that for all that there is: the save reads such a list again
/// before it applies a rule to it. Kept by rows, since a list may be set, or dropped and read again, in the meantime.
struct IncompleteLists {
  private struct List: Hashable {
    let root: Int
    let row: Int64
    let name: String
  }

  private var lists: Set<List> = []

  private static func list(
    _ owner: any PersistentModel, _ entity: EntityLayout, _ property: PropertyLayout
  ) -> List {
    List(
      root: entity.rootIndex, row: owner._$statePointer.pointee.rowID, name: property.name)
  }

  func contains(
    _ owner: any PersistentModel, _ entity: EntityLayout, _ property: PropertyLayout
  ) -> Bool {
    // Asked for each list that a rule concerns, and mostly empty: then nothing is hashed.
    !lists.isEmpty && lists.contains(Self.list(owner, entity, property))
  }

  /// Records whether a list was read completely.
  mutating func note(
    _ owner: any PersistentModel, _ entity: EntityLayout, _ property: PropertyLayout,
    isIncomplete: Bool
  ) {
    if isIncomplete {
      lists.insert(Self.list(owner, entity, property))
    } else if !lists.isEmpty {
      lists.remove(Self.list(owner, entity, property))
    }
  }
}
