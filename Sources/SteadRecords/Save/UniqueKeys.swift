import SteadSQLite

/// Finds the row, stored or about to be, that has the unique values of an object.
struct UniqueKeys {
  private let contexts: [RowContext]
  private let connection: StoreConnection
  /// Values claimed by objects of this save.
  private var claimed: [Key: Holder] = [:]
  private var open: [Key] = []

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

  init(_ contexts: [RowContext], _ connection: StoreConnection) {
    self.contexts = contexts
    self.connection = connection
  }

  /// The row to update instead of inserting; nil when the values are new, which `claim` then notes.
  ///
  /// Throws if two constraints lead to two rows, since one object cannot be both, and if the row is of another class, in
  /// which the object would be lost.
  mutating func row(of model: any PersistentModel, _ entity: EntityLayout) throws -> Int64? {
    var found: (row: Int64, constraint: [Int])?
    open = []
    for key in try keys(of: model, entity) {
      open.append(key)
      guard let holder = try claimed[key] ?? stored(key, entity) else { continue }
      let row = holder.row
      if holder.entity != entity.index {
        throw Self.otherClass(
          entity, key, holds: "\(contexts[holder.entity].labels?.entity ?? "object") of row \(row)")
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

  mutating func claim(_ row: Int64, _ entity: EntityLayout) {
    for key in open { claimed[key] = Holder(row: row, entity: entity.index) }
    open = []
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

  /// Claims a changed object's values.
  ///
  /// Throws when they belong to another row.
  mutating func claim(_ model: any PersistentModel, _ entity: EntityLayout) throws {
    let state = model._$statePointer
    let row = state.pointee.rowID
    open = []
    for key in try keys(of: model, entity)
    where key.constraint.contains(where: { state.pointee.changes.contains($0) }) {
      if let other = try (claimed[key] ?? stored(key, entity))?.row, other != row {
        throw SwiftDataError(
          .modelValidationFailure,
          "The \(entity.name) of row \(row) has \(names(key.constraint, entity)) of row \(other), "
            + "and \(entity.name) allows each value once. Change one of the two, or delete one.")
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
  /// - Parameter isPlanned: Whether new objects have no rows yet, so that their temporary numbers stand for them.
  func keys(
    of model: any PersistentModel, _ entity: EntityLayout, isPlanned: Bool = false
  ) throws -> [Key] {
    try entity.uniqueConstraints.compactMap { constraint in
      var values = try self.values(of: model, entity, constraint)
      if isPlanned { replaceReferences(&values, of: model, constraint) }
      if values.contains(.null) { return nil }
      return Key(
        root: entity.rootIndex, constraint: constraint,
        names: constraint.map { entity.properties[$0].name }, values: values)
    }
  }

  private func replaceReferences(
    _ values: inout [SQLValue], of model: any PersistentModel, _ constraint: [Int]
  ) {
    for (place, index) in constraint.enumerated() where values.indices.contains(place) {
      guard case .toOne(let target) = model.content(at: index) else { continue }
      switch target {
      case .none: values[place] = .null
      case .row(let row): values[place] = .integer(row)
      case .model(let target): values[place] = .integer(target._$statePointer.pointee.rowID)
      }
    }
  }

  private func stored(_ key: Key, _ entity: EntityLayout) throws -> Holder? {
    let columns = key.constraint.map { entity.properties[$0].column ?? "" }
    guard
      let found = try connection.row(
        in: entity.table, columns, key.values, readsClass: entity.discriminator != nil)
    else { return nil }
    // A number that no class has stays the object's own: the check of a store names such rows.
    let index = found.discriminator.map { $0 - 1 }.flatMap {
      contexts.indices.contains($0) ? $0 : nil
    }
    return Holder(row: found.row, entity: index ?? entity.index)
  }

  /// The values as the columns would hold them: bound to a statement that returns them.
  private func values(
    of model: any PersistentModel, _ entity: EntityLayout, _ constraint: [Int]
  ) throws -> [SQLValue] {
    let statement = try connection.echo(count: constraint.count)
    statement.reset()
    defer { statement.reset() }
    let context = contexts[entity.index]
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
