import SteadSQLite

/// The relationships with a limited number of members that a save changes, by their owners' rows.
///
/// Owners and members need not be loaded, and another context may have moved a member since this one read it. So the
/// owners are found in the rows, before and after each is written, and their members are counted in the transaction,
/// when everything is written.
struct CountedLists {
  private let layout: StoreLayout
  private var limits: [MemberLimit] { layout.memberLimits }
  /// The owners, in the order of the limits.
  private var owners: [Set<Int64>]

  init(_ layout: StoreLayout) {
    self.layout = layout
    owners = layout.memberLimits.map { _ in [] }
  }

  var isEmpty: Bool { limits.isEmpty }

  /// Records the owners of an object whose row is about to be written.
  ///
  /// - Parameters:
  ///   - entity: The object's class.
  ///   - changes: The properties that are written; nil for all.
  ///   - connection: Where the row's present owners are; nil for a new row.
  mutating func noteWrite(
    of model: any PersistentModel, _ entity: EntityLayout, _ changes: PropertySet?,
    stored connection: StoreConnection?
  ) throws {
    // Only classes of the members have the reference in the same place.
    for (place, limit) in limits.enumerated() where limit.destination.includes(entity) {
      guard case .inverse(let toOne) = limit.storage, changes?.contains(toOne) ?? true else {
        continue
      }
      // Both owners are counted: the old one may have too few members afterwards, the new one too many.
      if let connection { try noteOwner(of: model._$statePointer.pointee.rowID, place, connection) }
      switch model.content(at: toOne) {
      case .toOne(.model(let owner)): owners[place].insert(owner._$statePointer.pointee.rowID)
      case .toOne(.row(let row)): owners[place].insert(row)
      default: break
      }
    }
  }

  /// Records the owners of a row that is about to be deleted.
  mutating func noteDeletion(of row: Int64, root: Int, _ connection: StoreConnection) throws {
    for (place, limit) in limits.enumerated() where limit.destination.rootIndex == root {
      switch limit.storage {
      case .inverse: try noteOwner(of: row, place, connection)
      case .join(let table, let owner, let target):
        let found = try connection.rows(
          "SELECT \(owner) FROM \(table.sqlName) WHERE \(target) = ?1", [.integer(row)])
        for case .integer(let owner) in found.compactMap(\.first) { owners[place].insert(owner) }
      }
    }
  }

  /// Records the owner that a row has in the store, before the row is written or deleted.
  private mutating func noteOwner(
    of row: Int64, _ place: Int, _ connection: StoreConnection
  ) throws {
    let limit = limits[place]
    guard case .inverse(let toOne) = limit.storage,
      let column = limit.destination.properties[toOne].column,
      let owner = try connection.reference(in: limit.destination.table, column, row: row)
    else { return }
    owners[place].insert(owner)
  }

  /// Records that a row of a join table comes or goes.
  mutating func notePair(of join: JoinTable, _ owner: Int64, _ target: Int64) {
    for (place, limit) in limits.enumerated() {
      guard case .join(join.name, let column, _) = limit.storage else { continue }
      owners[place].insert(column == join.owner ? owner : target)
    }
  }

  /// Throws if the rows, as they are now, have too few or too many members.
  ///
  /// Called when all rows, pairs and deletions of the save are written, since each of them may change a count.
  ///
  /// - Throws: `modelValidationFailure`, with which the whole save is rolled back.
  func check(_ connection: StoreConnection) throws {
    for (limit, owners) in zip(limits, owners) where !owners.isEmpty {
      // Sorted, since the order of a set varies: of several owners, the same one is reported each time.
      for row in owners.sorted() where row > 0 {
        // An owner that is gone, or is of another class, has no such relationship.
        guard let entity = try connection.entity(of: row, in: limit.owner, layout),
          entity.property(named: limit.property.name)?.keyPath == limit.property.keyPath
        else { continue }
        let count = try connection.integer(limit.count, [.integer(row)]) ?? 0
        if let error = limit.property.refusal(of: Int(count), in: entity, row: row) { throw error }
      }
    }
  }
}

// MARK: - Required references

extension SaveResult {
  /// Refuses a save that leaves a row, whose object need not be loaded, without what a required relationship leads to.
  ///
  /// Called when all rows of a store are written, since any of them may have been the last to write the reference.
  ///
  /// - Throws: `modelValidationFailure`, with which the whole save is rolled back.
  func checkReferences(in store: Int, _ connection: StoreConnection) throws {
    for side in otherSides where layout.entities[side.entity].storeIndex == store {
      let declared = layout.store.entities[side.entity]
      let name = declared.properties[side.property].name
      // By name, without a query: few of the changed sides are required references.
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
