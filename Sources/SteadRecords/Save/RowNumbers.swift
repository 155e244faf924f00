/// The numbers that a save gives to new rows of one store.
///
/// Costs one query for each hierarchy, or none if the connection knows where its last save stopped.
///
/// Invariant: no row has, or has had, a number that is drawn here, and none is drawn twice. An identifier that the
/// program has kept of a deleted object thus never leads to a new one.
struct RowNumbers {
  private let entities: [ContextEntity]
  private let connection: StoreConnection
  /// The next free number of each hierarchy; 0 where the table was not asked yet.
  private var nextRows: [Int64]

  init(_ layout: SaveLayout, _ connection: StoreConnection) {
    entities = layout.entities
    self.connection = connection
    nextRows = Array(repeating: 0, count: entities.count)
  }

  /// A new row number of a hierarchy.
  ///
  /// - Throws: `unreadableStore` if the numbers are used up.
  mutating func draw(_ root: Int) throws -> Int64 {
    // In a mirror each number also stands for a primary key of the custom store, and must not repeat in the process.
    if connection.numbersRowsByKey { return KeyNumber.next() }
    // The connection knows where its last save stopped, unless another program may have written since.
    if nextRows[root] == 0 {
      nextRows[root] =
        try connection.nextRows[root] ?? connection.nextNumber(of: entities[root].lazyPlan.plan)
    }
    // Without a check: `StoreConnection.numberLimit` leaves more numbers than one save can use.
    defer { nextRows[root] += 1 }
    return nextRows[root]
  }

  /// The last number of a hierarchy that was drawn; -1 if none was.
  func last(_ root: Int) -> Int64 { nextRows[root] - 1 }

  /// Records where the save stopped, so that the next one need not ask the tables.
  func remember() {
    for (root, next) in nextRows.enumerated() where next > 0 { connection.nextRows[root] = next }
  }
}
