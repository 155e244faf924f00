extension SaveWriter {
  /// Refuses what the save has made of the relationships of rows whose objects need not be loaded.
  func checkRelationships(in store: Int, _ connection: StoreConnection) throws {
    try countedLists.check(connection)
    for side in otherSides where layout.storeIndex[side.entity] == store {
      let declared = layout.store.entities[side.entity]
      let name = declared.properties[side.property].name
      guard layout.store.requiredReferences[declared.rootIndex].contains(name) else { continue }
      try checkReference(side, name, declared, connection)
    }
  }

  /// Throws if a row that stays has lost what a required relationship leads to.
  private func checkReference(
    _ side: PendingChanges.OtherSide, _ name: String, _ declared: EntityLayout,
    _ connection: StoreConnection
  ) throws {
    guard let entity = try connection.entity(of: side.row, in: declared, layout.store),
      let property = entity.property(named: name), property.isRequiredReference,
      let column = property.column, let destination = property.destination,
      try connection.reference(in: entity.table, column, row: side.row) == nil
    else { return }
    let target = layout.store.entities[destination].name
    throw SwiftDataError(
      .modelValidationFailure,
      "\(entity.name).\(name) of row \(side.row) is required, and the save would leave it without its \(target). Give "
        + "the \(entity.name) another \(target), delete it, too, or make the property optional.")
  }
}
