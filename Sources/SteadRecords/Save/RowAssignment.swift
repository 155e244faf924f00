/// Gives a save's new objects with unique keys their rows in one store: those that have their unique values, stored ones or
/// those of earlier new objects, and new rows where none has.
///
/// A key with a to-one relationship has the number of another object's row, and is complete when that one has a row.
/// So the rows that objects have by complete keys are found first, for all of them. Then objects whose keys are all
/// complete get new rows, one at a time, in the order of insertion or in which their keys were completed. If all that
/// are left wait, since keys refer to each other in a circle, the first of them gets a new row. After each row, those
/// are asked again whose keys refer to its object, and those that have a key which was claimed for it.
///
/// Invariant: afterwards objects with a common key have a common row, and all of them but the one that inserts it are
/// in `upserted`. No object gets a new row while another one's row could still be found by a complete key.
struct RowAssignment {
  typealias Model = any PersistentModel

  /// What the rows' numbers are drawn from.
  private(set) var numbers: RowNumbers
  /// The objects that have got a stored row, or that of an earlier new object.
  private(set) var upserted: Set<ObjectIdentifier> = []
  private let layout: SaveLayout
  private var keys: UniqueKeys
  /// The objects whose keys refer to each new object.
  private let dependents: [ObjectIdentifier: [Model]]
  /// The objects that had no row when the last of their keys was completed.
  private var complete: [Model] = []

  /// - Parameters:
  ///   - new: In the order of their insertion.
  ///   - changed: Stored objects, which claim their values before new ones do.
  private init(
    _ new: [Model], _ changed: [Model], _ layout: SaveLayout, _ numbers: RowNumbers,
    _ connection: StoreConnection
  ) {
    (self.layout, self.numbers) = (layout, numbers)
    keys = UniqueKeys(layout.entities, connection)
    dependents = Self.dependents(new + changed, layout)
  }

  private static func dependents(
    _ models: [Model], _ layout: SaveLayout
  ) -> [ObjectIdentifier: [Model]] {
    var dependents: [ObjectIdentifier: [Model]] = [:]
    // Without a look at the objects where no key of the schema refers to one.
    guard layout.entities.contains(where: { $0.layout.hasReferenceInKey }) else { return [:] }
    for model in models {
      for reference in layout.entity(of: model).newObjects(inKeysOf: model, layout.entities) {
        dependents[ObjectIdentifier(reference), default: []].append(model)
      }
    }
    return dependents
  }

  /// Assigns the rows.
  ///
  /// Changed objects claim their values first, which come before those that are stored.
  ///
  /// - Throws: `modelValidationFailure` if unique keys contradict each other.
  static func run(
    new: [Model], changed: [Model], _ layout: SaveLayout, _ numbers: RowNumbers,
    _ connection: StoreConnection
  ) throws -> Self {
    var assignment = Self(new, changed, layout, numbers, connection)
    try assignment.run(new, changed)
    return assignment
  }

  private mutating func run(_ new: [Model], _ changed: [Model]) throws {
    // The keys that are complete.
    for model in changed { try keys.claim(model, layout.entity(of: model)) }
    if dependents.isEmpty {
      for model in new { _ = try assignRow(to: model, draws: true) }
      return
    }
    for model in new where Self.hasNoRow(model) { try propagate(model, draws: false) }
    try drawCompleted()
    // What is left waits in circles.
    for model in new where Self.hasNoRow(model) {
      try propagate(model, draws: true)
      try drawCompleted()
    }
  }

  /// Gives new rows to the objects whose keys are all complete, and to those that are completed by that.
  private mutating func drawCompleted() throws {
    var next = 0
    while next < complete.count {
      let model = complete[next]
      next += 1
      if Self.hasNoRow(model) { try propagate(model, draws: true) }
    }
    complete = []
  }

  /// Finds or gives an object's row, and propagates that: finds the rows of objects whose keys it completes, and adds
  /// those that have none, though their keys are all complete now, to `complete`.
  ///
  /// - Parameter draws: Whether the object gets a new row if no key gives it one. The others only find theirs.
  private mutating func propagate(_ model: Model, draws: Bool) throws {
    var queue = [model]
    var next = 0
    while next < queue.count {
      let current = queue[next]
      let isDrawn = draws && next == 0
      next += 1
      if try assignRow(to: current, draws: isDrawn) {
        queue += dependents[ObjectIdentifier(current)] ?? []
      } else if Self.hasNoRow(current), !waits(current) {
        complete.append(current)
      }
      // Those that have a row have claimed their complete keys.
      queue += keys.takeNotified().filter(Self.hasNoRow)
    }
  }

  /// Gives an object its row, or claims the keys of one that has it, of which some were not complete before.
  ///
  /// - Returns: Whether the object has got its row by this.
  private mutating func assignRow(to model: Model, draws: Bool) throws -> Bool {
    let entity = layout.entity(of: model)
    guard Self.hasNoRow(model) else {
      try keys.claim(model, entity)
      return false
    }
    if let found = try keys.row(of: model, entity) {
      model._$statePointer.pointee.rowID = found
      upserted.insert(ObjectIdentifier(model))
      return true
    }
    guard draws else {
      keys.addWaiter(model)
      return false
    }
    let number = try numbers.draw(entity.rootIndex)
    keys.claim(number, entity)
    model._$statePointer.pointee.rowID = number
    return true
  }

  /// The numbers of rows are positive, and temporary ones are not.
  private static func hasNoRow(_ model: Model) -> Bool { model._$statePointer.pointee.rowID <= 0 }

  /// Whether an object has a key that refers to an object without a row.
  private func waits(_ model: Model) -> Bool {
    layout.entity(of: model).newObjects(inKeysOf: model, layout.entities).contains(
      where: Self.hasNoRow)
  }
}

// MARK: - Numbers

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
