import SteadSQLite

/// Finds the row, stored or about to be, that has the unique values of an object.
///
/// Claims of this save come before what is stored, because a row's values may be about to change. Values are compared
/// as their columns hold them, so that the result is that of the unique index.
struct UniqueKeys {
  typealias Model = any PersistentModel

  private let entities: [ContextEntity]
  private let connection: StoreConnection
  /// Values claimed by objects of this save.
  private var claimed: [Key: Holder] = [:]
  /// The keys of the object that was asked for last, until it is claimed a row for them.
  private var open: [Key] = []
  /// The objects without a row that wait for a claim of each key.
  private var waiters: [Key: [Model]] = [:]
  /// Those of them whose key was claimed since they were last taken.
  private var notified: [Model] = []

  /// A constraint with the values of an object.
  struct Key: Hashable {
    let root: Int
    /// The places of the properties in the object's class. Two subclasses may have different ones at the same places,
    /// and the same ones at different places, so their names tell keys apart.
    let constraint: [Int]
    let names: [String]
    let values: [SQLValue]

    static func == (one: Key, other: Key) -> Bool {
      one.root == other.root && one.names == other.names && one.values == other.values
    }

    func hash(into hasher: inout Hasher) {
      hasher.combine(root)
      hasher.combine(names)
      hasher.combine(values)
    }
  }

  /// The row that has the values of a key.
  private struct Holder {
    let row: Int64
    /// The index of its class.
    let entity: Int
  }

  init(_ entities: [ContextEntity], _ connection: StoreConnection) {
    self.entities = entities
    self.connection = connection
  }

  /// The row to update instead of inserting; nil when the values are new, which `claim` then notes.
  ///
  /// Throws if two constraints lead to two rows, since one object cannot be both, and if the row is of another class, in
  /// which the object would be lost.
  ///
  /// Costs one look-up in the unique index for each constraint whose values no object of this save has claimed.
  mutating func row(of model: any PersistentModel, _ entity: EntityLayout) throws -> Int64? {
    var found: (row: Int64, constraint: [Int])?
    open = []
    for key in try keys(of: model, entity) {
      // Also a key that nobody holds yet: `claim` then takes all keys of the object for its row.
      open.append(key)
      guard let holder = try claimed[key] ?? stored(key, entity) else { continue }
      let row = holder.row
      if holder.entity != entity.index {
        throw Self.otherClass(
          entity, key, holds: "\(entities[holder.entity].layout.name) of row \(row)")
      }
      if let first = found, first.row != row {
        throw SwiftDataError(
          .modelValidationFailure,
          "A new \(entity.name) has \(names(first.constraint, entity)) of row \(first.row) and "
            + "\(names(key.constraint, entity)) of row \(row); it cannot be both rows. Change "
            + "one of the values, or delete one of the objects.")
      }
      found = found ?? (row, key.constraint)
    }
    if let found { claim(found.row, entity) }
    return found?.row
  }

  /// Claims the keys of the object that `row(of:_:)` was asked for last.
  mutating func claim(_ row: Int64, _ entity: EntityLayout) {
    for key in open {
      claimed[key] = Holder(row: row, entity: entity.index)
      if !waiters.isEmpty, let models = waiters.removeValue(forKey: key) { notified += models }
    }
    open = []
  }

  /// Has the object that `row(of:_:)` was asked for last, and that has no row, wait for claims of its keys.
  mutating func addWaiter(_ model: Model) {
    for key in open { waiters[key, default: []].append(model) }
  }

  /// Takes the objects whose keys were claimed while they waited.
  mutating func takeNotified() -> [Model] {
    defer { notified = [] }
    return notified
  }

  /// The error for a new object that has a key of an object of another class.
  ///
  /// - Parameter holder: Describes the other object.
  static func otherClass(
    _ entity: EntityLayout, _ key: Key, holds holder: String
  ) -> SwiftDataError {
    SwiftDataError(
      .modelValidationFailure,
      "A new \(entity.name) has \(names(key.constraint, entity)) of the \(holder). Classes of one hierarchy share their unique "
        + "keys, and an object does not change its class. Change the value of one of the two, or delete the other object."
    )
  }

  /// Claims a changed object's values, or those of a new one that has its row.
  ///
  /// Throws when they belong to another row.
  mutating func claim(_ model: Model, _ entity: EntityLayout) throws {
    let state = model._$statePointer
    let row = state.pointee.rowID
    let isNew = model.has(_ModelFlags.inserted)
    open = []
    // Of a changed object only changed keys: the others are still in the row, where `stored` finds them.
    for key in try keys(of: model, entity, changed: isNew ? nil : state.pointee.changes) {
      if let other = try (claimed[key] ?? stored(key, entity))?.row, other != row {
        let subject = isNew ? "A new \(entity.name)" : "The \(entity.name) of row \(row)"
        throw SwiftDataError(
          .modelValidationFailure,
          "\(subject) has \(names(key.constraint, entity)) of row \(other), and \(entity.name) allows each value once. Change "
            + "one of the two, or delete one.")
      }
      open.append(key)
    }
    claim(row, entity)
  }

  private func names(_ constraint: [Int], _ entity: EntityLayout) -> String {
    Self.names(constraint, entity)
  }

  private static func names(_ constraint: [Int], _ entity: EntityLayout) -> String {
    "the " + constraint.map { entity.properties[$0].name }.joined(separator: " and ")
  }

  /// The constraints with an object's values; those with nil are left out, since nil is not equal to nil, as in SQL.
  ///
  /// - Parameters:
  ///   - changes: The properties of which a constraint has to have one; nil for all constraints.
  ///   - isPlanned: Whether new objects have no rows yet, so that their temporary numbers stand for them.
  func keys(
    of model: Model, _ entity: EntityLayout, changed changes: PropertySet? = nil,
    isPlanned: Bool = false
  ) throws -> [Key] {
    try entity.uniqueConstraints.compactMap { constraint in
      if let changes, !constraint.contains(where: { changes.contains($0) }) { return nil }
      var values = try self.values(of: model, entity, constraint)
      if isPlanned { replaceReferences(&values, of: model, constraint) }
      if values.contains(.null) { return nil }
      return Key(
        root: entity.rootIndex, constraint: constraint,
        names: constraint.map { entity.properties[$0].name }, values: values)
    }
  }

  /// Replaces the values of to-one relationships by the numbers that their objects have now. Bound as for a column, a
  /// new object's number would be NULL, and two keys with different new objects would be equal.
  private func replaceReferences(
    _ values: inout [SQLValue], of model: any PersistentModel, _ constraint: [Int]
  ) {
    for (place, index) in constraint.enumerated() where values.indices.contains(place) {
      guard case .toOne(let target) = model.content(at: index) else { continue }
      switch target {
      case .none: values[place] = .null
      case .row(let row): values[place] = .integer(row)
      case .model(let target):
        let row = target._$statePointer.pointee.rowID
        let isNew = target.has(_ModelFlags.inserted) && !target.has(_ModelFlags.deleted)
        // What gets no row is NULL in the column, too.
        values[place] = row > 0 || isNew ? .integer(row) : .null
      }
    }
  }

  /// The stored row that has the values of a key, found by the key's index.
  private func stored(_ key: Key, _ entity: EntityLayout) throws -> Holder? {
    let columns = key.constraint.map { entity.properties[$0].column ?? "" }
    guard
      let found = try connection.row(
        in: entity.table, columns, key.values, readsClass: entity.discriminator != nil)
    else { return nil }
    // A discriminator is an entity's index plus 1. A number that no class has, which another program must have written,
    // is taken for the object's own class here; `ModelContainer.check(_:)` reports such rows.
    let index = found.discriminator.map { $0 - 1 }.flatMap {
      entities.indices.contains($0) ? $0 : nil
    }
    return Holder(row: found.row, entity: index ?? entity.index)
  }

  /// The values as the columns would hold them: bound to a statement that returns them, so that there is one
  /// conversion of a property's value to a column's.
  private func values(
    of model: any PersistentModel, _ entity: EntityLayout, _ constraint: [Int]
  ) throws -> [SQLValue] {
    let statement = try connection.echo(count: constraint.count)
    statement.reset()
    defer { statement.reset() }
    let context = entities[entity.index].rowContext
    // Parameter 0 means none: the object binds only the properties of the constraint.
    let map = PropertyMap(count: entity.properties.count, empty: 0)
    for (place, index) in constraint.enumerated() { map.places[index] = Int32(place + 1) }
    model._$bind(
      _RowWriter(
        statement: statement.pointer, parameters: UnsafePointer(map.places),
        context: .passUnretained(context)))
    try context.throwIfRejected()
    guard try statement.step() else { return [] }
    return constraint.indices.map { statement.value(Int32($0)) }
  }
}

// MARK: - Rows

extension UniqueKeys {
  /// Takes the unique values of a save's changed objects out of their rows, so that they can trade places and new
  /// objects can have what old ones gave up.
  ///
  /// Called before rows are looked for by unique values, and before any is written. The update of the row writes the
  /// new values.
  ///
  /// Invariant: afterwards no row has a unique value that its object has changed, unless no other object of the save
  /// has unique keys. Each such value is still in the row when `note` is called for it.
  ///
  /// - Parameter note: Records what is read from a row before it is overwritten; called with the properties whose
  ///   values are about to be taken out.
  static func release(
    by save: SaveResult, in store: Int, _ connection: StoreConnection,
    noting note: (any PersistentModel, PropertySet) throws -> Void
  ) throws {
    let (plan, layout) = (save.plan, save.layout)
    func isConstrained(_ state: SavePlan.State) -> Bool {
      save.isIn(store, state) && layout.entities[Int(state.pointee.entity)].layout.isConstrained
    }
    guard plan.states.updated.contains(where: isConstrained) else { return }
    // One object alone cannot be in the way of another.
    let count = (plan.states.updated + plan.states.inserted).lazy.filter(isConstrained).prefix(2)
    guard count.count > 1 else { return }
    for model in plan.updated where isConstrained(model._$statePointer) {
      let entity = layout.entity(of: model)
      let changes = model._$statePointer.pointee.changes
      let released = Set(entity.uniqueConstraints.joined()).sorted().filter(changes.contains)
      let columns = released.compactMap { entity.properties[$0].column }
      guard !columns.isEmpty else { continue }
      try note(model, PropertySet(released))
      // NULL is where a value can wait. SQLite checks a unique index with each row and not at the commit, and takes
      // NULLs as different from each other (https://sqlite.org/lang_createindex.html, Unique Indexes).
      try connection.clear(
        columns, in: entity.table, row: model._$statePointer.pointee.rowID)
    }
  }
}

extension EntityLayout {
  /// The new objects with unique keys to which an object's own keys refer. Such an object may have a stored row.
  func newObjects(
    inKeysOf model: any PersistentModel, _ entities: [ContextEntity]
  ) -> [any PersistentModel] {
    guard hasReferenceInKey else { return [] }
    return uniqueConstraints.joined().compactMap { property in
      guard case .toOne(.model(let target)) = model.content(at: property),
        target.has(_ModelFlags.inserted), !target.has(_ModelFlags.deleted),
        entities[Int(target._$statePointer.pointee.entity)].layout.isConstrained
      else { return nil }
      return target
    }
  }
}

// MARK: - Duplicates

/// Finds the new objects of a save that have a unique key of an earlier new object, or of a changed one.
struct DuplicateFinder {
  typealias Model = any PersistentModel
  /// A new object, and the one that stands for it.
  typealias Pair = (duplicate: Model, original: Model)

  private let keys: UniqueKeys
  /// The object that has each key.
  private var holders: [UniqueKeys.Key: Model] = [:]
  private var held: [ObjectIdentifier: [UniqueKeys.Key]] = [:]

  init(_ keys: UniqueKeys) { self.keys = keys }

  /// The new objects that are merged into others, each with the object that stands for it, in the order of insertion.
  ///
  /// Invariant: each key is held by one object, with the values that it has after the merges so far: an object that
  /// gets the values of a later one gives up its keys for that one's.
  ///
  /// - Parameter new: In the order of their insertion.
  /// - Throws: `modelValidationFailure` for two objects of different classes of a hierarchy, neither of which can
  ///   stand for the other.
  mutating func pairs(
    new: [Model], changed: [Model], _ entity: (Model) -> EntityLayout
  ) throws -> [Pair] {
    var pairs: [Pair] = []
    // Changed objects first: a new object is merged into one of them, never the other way round.
    for model in changed {
      hold(try keys.keys(of: model, entity(model), isPlanned: true), by: model)
    }
    for model in new {
      let keys = try keys.keys(of: model, entity(model), isPlanned: true)
      let originals = keys.compactMap { holders[$0] }
      // One object cannot be two rows; the save names both.
      guard let original = originals.first, originals.allSatisfy({ $0 === original }) else {
        if originals.isEmpty { hold(keys, by: model) }
        continue
      }
      if entity(original) !== entity(model), let key = keys.first(where: { holders[$0] != nil }) {
        throw UniqueKeys.otherClass(
          entity(model), key, holds: "\(entity(original).name) of this save")
      }
      pairs.append((model, original))
      // It gets the values of the later object.
      for key in held[ObjectIdentifier(original)] ?? [] { holders[key] = nil }
      held[ObjectIdentifier(original)] = nil
      hold(keys, by: original)
    }
    return pairs
  }

  private mutating func hold(_ keys: [UniqueKeys.Key], by model: Model) {
    for key in keys { holders[key] = model }
    held[ObjectIdentifier(model)] = keys
  }
}

// MARK: - Shared rows

/// New objects that a save would write into one row.
struct RowSharing {
  /// The row's hierarchy.
  let root: Int
  let number: Int64
  /// Whether the row existed before the save.
  var isStored: Bool
  /// The objects, with their places in the order of insertion.
  var objects: [(place: Int, model: any PersistentModel)]
}

extension SaveResult {
  /// The rows of a store that were assigned to several objects, or to a new one and a changed one.
  ///
  /// Rows are in the order of the first object that was assigned each, so that merging does not depend on hash
  /// values.
  ///
  /// Invariant: an object is in one result at most, since it was assigned one row. Nothing is changed here.
  ///
  /// - Parameter includingStored: Whether a row that existed counts as shared with a single new object.
  func sharedRows(in store: Int, includingStored: Bool) -> [RowSharing] {
    struct Row: Hashable {
      let root: Int
      let number: Int64

      init(_ state: State, _ layout: SaveLayout) {
        root = layout.entities[Int(state.pointee.entity)].layout.rootIndex
        number = state.pointee.rowID
      }
    }
    // Rows of changed objects, which a new object with their unique values would overwrite.
    let changed = Set(plan.states.updated.map { Row($0, layout) })
    var order: [Row] = []
    var rows: [Row: RowSharing] = [:]
    for (place, state) in plan.states.inserted.enumerated() where isIn(store, state) {
      let row = Row(state, layout)
      let model = plan.inserted[place]
      if rows[row] == nil {
        order.append(row)
        rows[row] = RowSharing(
          root: row.root, number: row.number, isStored: true, objects: [])
      }
      // The object that would insert the row is no upsert. It need not be the first.
      if !upserted.contains(ObjectIdentifier(model)) { rows[row]?.isStored = false }
      rows[row]?.objects.append((place, model))
    }
    return order.compactMap { rows[$0] }.filter { row in
      row.objects.count > 1
        || (row.isStored
          && (includingStored
            || row.objects.first.map { changed.contains(Row($0.model._$statePointer, layout)) }
              == true))
    }
  }
}
