import SteadSQLite

/// Fetches registered objects again: reads the rows' numbers first, and then only the missing rows. Reading a number
/// takes a small part of the time of reading ten columns.
extension ObjectLoader {
  /// With fewer registered objects than this, a fetch reads rows immediately.
  private static let worthwhileCount = 128
  /// How many rows are looked for under one lock.
  private static let batchSize = 256
  /// A fetch stops reading numbers, and reads rows, once one of this many is missing.
  private static let missingShare = 5

  func mayCollectRegistered(_ plan: EntityPlan) -> Bool {
    plan.entity.discriminator == nil
      && registry.count(root: plan.entity.rootIndex) >= Self.worthwhileCount
  }

  /// The objects of the rows whose numbers a statement returns; nil if too many are not registered.
  ///
  /// - Parameter connection: Where the missing rows are read, in the statement's snapshot.
  func collectRegistered<T: PersistentModel>(
    _ numbers: SQLiteStatement, _ plan: EntityPlan, _ connection: StoreConnection
  ) throws -> [T]? {
    let root = plan.entity.rootIndex
    var result: [AnyObject] = []
    var missing: [(place: Int, row: Int64)] = []
    var rows: [Int64] = []
    rows.reserveCapacity(Self.batchSize)
    var isDone = false
    while !isDone {
      rows.removeAll(keepingCapacity: true)
      while rows.count < Self.batchSize {
        guard try numbers.step() else {
          isDone = true
          break
        }
        rows.append(numbers.integer(0))
      }
      let start = result.count
      for place in registry.append(rows, root: root, to: &result, orElse: self) {
        missing.append((start + place, rows[place]))
      }
      if missing.count * Self.missingShare > max(result.count, Self.worthwhileCount) { return nil }
    }
    if !missing.isEmpty, try !fill(missing, in: &result, plan, connection) { return nil }
    return unsafeBitCast(result, to: [T].self)
  }

  /// Puts the objects of missing rows in their places; returns whether all of them exist.
  private func fill(
    _ missing: [(place: Int, row: Int64)], in result: inout [AnyObject], _ plan: EntityPlan,
    _ connection: StoreConnection
  ) throws -> Bool {
    let statement = try connection.statement(plan.selectionOfRows)
    statement.reset()
    defer { statement.reset() }
    statement.bind(.text(missing.map { Int($0.row) }.jsonText), at: 1)
    var found: [Int64: AnyObject] = [:]
    while try statement.step() {
      guard let model = try makeObject(plan, statement) else { continue }
      found[statement.integer(0)] = model
    }
    for (place, row) in missing {
      guard let model = found[row] else { return false }
      result[place] = model
    }
    return true
  }
}
