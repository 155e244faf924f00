/// The positions of members in the ordered lists that a save writes to one store.
///
/// A member's position is its row's number, or in a join table its pair's, unless the order column has another. So new
/// members need no write, and the numbers of new pairs are given out here, too.
///
/// Invariant: a position that is drawn here comes after all that exist, before all that are drawn later, and is not
/// given out again, not even after its pair was deleted.
struct ListPlaces {
  private let entities: [ContextEntity]
  private let connection: StoreConnection
  /// For each join table that this save writes, the first number of its own pairs and the next free one.
  private var pairNumbers: [String: (first: Int64, next: Int64)] = [:]
  /// The hierarchies with row numbers that were drawn as positions.
  private var drawnRoots: Set<Int> = []

  init(_ layout: SaveLayout, _ connection: StoreConnection) {
    entities = layout.entities
    self.connection = connection
  }

  // MARK: Pairs

  /// Reads the next number of a join table, before this save deletes pairs of it: a number is a member's position,
  /// and is never given out twice, not even that of a deleted pair.
  ///
  /// Does nothing if the save has asked for this table before.
  mutating func openPairs(_ table: String) throws {
    guard pairNumbers[table] == nil else { return }
    let next =
      try connection.numbersRowsByKey ? KeyNumber.next() : connection.nextNumber(in: table)
    pairNumbers[table] = (first: next, next: next)
  }

  /// The number of a new pair of an opened join table.
  mutating func drawPair(of table: String) -> Int64 {
    if connection.numbersRowsByKey { return KeyNumber.next() }
    let number = pairNumbers[table]?.next ?? 1
    pairNumbers[table]?.next = number + 1
    return number
  }

  // MARK: Lists

  /// Gives new members of a relationship positions after the existing ones, and gives all members new positions if
  /// the order changed.
  ///
  /// Called when the rows and pairs of the save are written, from which the positions are read.
  ///
  /// Invariant: afterwards the positions of the members rise in the order of the list. A new row's position is its own
  /// number, which needs no write. Members are in the order in which they were added as long as these numbers rise;
  /// where one falls, all positions are assigned again.
  ///
  /// - Parameter upserted: The new objects whose row another object has, too.
  mutating func write(
    _ side: SavePlan.Side, upserted: Set<ObjectIdentifier>, _ rows: inout RowNumbers
  ) throws {
    guard case .toMany(let storage, let destination) = side.property.kind else { return }
    let owner = side.owner._$statePointer.pointee.rowID
    let entityPlan = entities[destination].lazyPlan.plan
    var isOrdered = side.isOrdered
    // Pairs need no such comparison: they are numbered as they are inserted, in the order of the additions. Where the
    // list's order is another one, its delta has an ordering.
    if case .inverse = storage {
      var last: Int64 = 0
      for member in Self.onePerRow(side.additions, upserted) where SavePlan.isAlive(member) {
        let place = try self.place(of: member, storage, owner, upserted: upserted, &rows)
        if place < last { isOrdered = true }
        last = place
      }
    }
    if isOrdered {
      try reorder(
        Self.onePerRow(side.members, upserted), storage, entityPlan, owner,
        from: firstPlace(in: storage, of: side.owner, upserted: upserted), &rows)
    }
  }

  /// The members without those that share a row with an earlier one, which are objects of one unique key: a row has
  /// one position.
  private static func onePerRow(
    _ members: [any PersistentModel], _ upserted: Set<ObjectIdentifier>
  ) -> [any PersistentModel] {
    if upserted.isEmpty { return members }
    var rows: Set<Int64> = []
    return members.filter { rows.insert($0._$statePointer.pointee.rowID).inserted }
  }

  /// The position of an object that was added to a relationship: its own number if it is new, else one that no row has
  /// or will have.
  private mutating func place(
    of member: any PersistentModel, _ storage: ToManyStorage, _ owner: Int64,
    upserted: Set<ObjectIdentifier>, _ rows: inout RowNumbers
  ) throws -> Int64 {
    let row = member._$statePointer.pointee.rowID
    if member.has(_ModelFlags.inserted), !upserted.contains(ObjectIdentifier(member)) {
      return row
    }
    let entityPlan = entities[Int(member._$statePointer.pointee.entity)].lazyPlan.plan
    let place = try draw(storage, entityPlan, &rows)
    try connection.setPlace(place, storage, entityPlan, owner: owner, member: row)
    return place
  }

  /// A position that no member has: the next number of the members' table, or of the pairs', which no row gets.
  ///
  /// From the numbers of rows and pairs, since a new one's number is its position: what is added later then comes after
  /// this.
  private mutating func draw(
    _ storage: ToManyStorage, _ plan: EntityPlan, _ rows: inout RowNumbers
  ) throws -> Int64 {
    switch storage {
    case .inverse:
      let root = plan.entity.rootIndex
      let place = try rows.draw(root)
      drawnRoots.insert(root)
      return place
    case .join(let table, _, _):
      try openPairs(table)
      return drawPair(of: table)
    }
  }

  // MARK: Another order

  /// The first position that this save may assign in a relationship: any, unless a new object has the row of another one,
  /// where existing members keep their positions.
  private func firstPlace(
    in storage: ToManyStorage, of owner: any PersistentModel, upserted: Set<ObjectIdentifier>
  ) -> Int64 {
    guard upserted.contains(ObjectIdentifier(owner)), case .join(let table, _, _) = storage else {
      // Another program may have written positions below 0.
      return .min
    }
    return pairNumbers[table]?.first ?? 0
  }

  /// Assigns the positions that the members have to them in another order, so that no new numbers are needed, and
  /// rows that keep their position are not written.
  ///
  /// Invariant: afterwards the positions rise from each member to the next one, and to what is added later. Equal ones
  /// cannot, nor those beyond the numbers that are given out. Only another program writes such positions: then all
  /// members get new numbers.
  ///
  /// - Parameter first: Members with a place before this one keep it.
  private mutating func reorder(
    _ members: [any PersistentModel], _ storage: ToManyStorage, _ plan: EntityPlan, _ owner: Int64,
    from first: Int64, _ rows: inout RowNumbers
  ) throws {
    let places = try connection.places(storage, plan, owner: owner).filter { $0.value >= first }
    let ordered = members.map { $0._$statePointer.pointee.rowID }.filter { places[$0] != nil }
    var free = ordered.compactMap { places[$0] }.sorted()
    let isUsable =
      try Set(free).count == free.count
      && free.last ?? 0 <= greatestPlace(storage, plan, rows)
    if !isUsable {
      for index in free.indices { free[index] = try draw(storage, plan, &rows) }
    }
    for (row, place) in zip(ordered, free) where places[row] != place {
      try connection.setPlace(place, storage, plan, owner: owner, member: row)
    }
  }

  /// The greatest position that comes before all rows or pairs that are added later.
  private func greatestPlace(
    _ storage: ToManyStorage, _ plan: EntityPlan, _ rows: RowNumbers
  ) throws -> Int64 {
    // The numbers of a mirror are the process's, and no other program writes it.
    if connection.numbersRowsByKey { return .max }
    // What this save has drawn is in stead_sequence only at its end.
    switch storage {
    case .inverse:
      let drawn = rows.last(plan.entity.rootIndex)
      return try max(connection.lastNumber(in: plan.tableLayout.name), drawn)
    case .join(let table, _, _):
      let drawn = (pairNumbers[table]?.next ?? 0) - 1
      return try max(connection.lastNumber(in: table), drawn)
    }
  }

  // MARK: The end

  /// Keeps the positions that were drawn from being given to new rows and pairs.
  ///
  /// A position was drawn from a table's numbers and is in no `_id` there, so only stead_sequence has it.
  func retire(_ rows: RowNumbers) throws {
    // The numbers of a mirror are the process's, and never repeat.
    if connection.numbersRowsByKey { return }
    for root in drawnRoots {
      try connection.retire(rows.last(root), table: entities[root].lazyPlan.plan.tableLayout.name)
    }
    for (table, pairs) in pairNumbers { try connection.retire(pairs.next - 1, table: table) }
  }
}
