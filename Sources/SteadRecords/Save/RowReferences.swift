/// References that a save clears in rows directly, since the objects of these rows need not be loaded.
///
/// Costs one statement for each relationship that may hold such a reference.
///
/// Invariant: each row that is changed here is recorded in the result, so that other contexts, the history and objects
/// that are loaded follow.
struct RowReferences {
  let layout: SaveLayout
  let store: Int
  let connection: StoreConnection

  /// Clears what refers to a row by relationships without an inverse, which no rule of the deleted object clears.
  func clearOneWay(
    to model: any PersistentModel, _ entity: EntityLayout, _ places: inout ListPlaces,
    _ result: SaveResult
  ) throws {
    let row = model._$statePointer.pointee.rowID
    for relationship in layout.store.oneWay[entity.rootIndex]
    where layout.entities[relationship.entity].storeIndex == store {
      let owner = layout.store.entities[relationship.entity]
      let property = owner.properties[relationship.property]
      if let join = property.joinTable {
        try places.openPairs(join.name)
        result.noteRows(
          try connection.deletePairs(join, target: row), of: owner, property.index)
      } else if let column = property.column {
        result.noteRows(
          try connection.clearReferences(in: owner.table, column, to: row, of: owner.ownClass),
          of: owner, property.index)
      }
    }
  }

  /// Clears the references that contradict a one-to-one reference of an object: those of other rows to its
  /// destination, and those of its old partners to it.
  ///
  /// Invariant: afterwards at most one row of each side refers to the other. The rows are asked, because objects here
  /// only know the pair that this one has left: another context's commit, or the row of an upsert, may refer to one
  /// of the two as well.
  func clearPartners(
    of model: any PersistentModel, _ entity: EntityLayout, _ property: PropertyLayout,
    _ result: SaveResult
  ) throws {
    guard let destination = property.destination, let column = property.column else { return }
    let target = layout.store.entities[destination]
    let inverses = property.inverses(in: layout.store.entities)
    let list = model.list(at: property.index) ?? property.firstList
    // One of several lists may be a to-many relationship, which is stored in the other side's column.
    let held = inverses.first { $0.relationship?.list ?? list == list }
    let row = model._$statePointer.pointee.rowID
    var targetRow: Int64 = 0
    switch model.content(at: property.index) {
    case .toOne(.model(let other)): targetRow = other._$statePointer.pointee.rowID
    case .toOne(.row(let other)): targetRow = other
    default: break
    }
    // The former partners: rows that lead to this object by any inverse, except the new destination's own reference.
    for inverse in inverses {
      guard let inverseColumn = inverse.column else { continue }
      let number = property.relationship?.list
      let others = try connection.clearReferences(
        in: target.table, inverseColumn, to: row, of: target.ownRows(),
        except: inverse.index == held?.index ? max(targetRow, 0) : 0,
        list: inverse.listColumn.flatMap { column in number.map { (column, $0) } })
      result.noteRows(others, of: target, inverse.index)
    }
    // A to-many inverse allows any number of rows that lead to the destination.
    guard targetRow > 0, let held, !held.isToMany else { return }
    // Of the classes that the other side leads to.
    let owners = held.destination.map { layout.store.entities[$0] } ?? entity
    let others = try connection.clearReferences(
      in: entity.table, column, to: targetRow, of: owners.ownRows(), except: row,
      list: property.listColumn.map { ($0, list) })
    result.noteRows(others, of: entity, property.index)
  }
}
