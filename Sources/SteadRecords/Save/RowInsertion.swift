import SteadSQLite

/// The statement that inserts objects of one class.
struct RowInsertion {
  let entity: Int
  let plan: EntityPlan
  let context: RowContext
  let statement: SQLiteStatement

  /// - Parameter others: What columns hold instead of the values of the object's properties.
  func run(_ model: any PersistentModel, _ others: [Int: SQLValue] = [:]) throws {
    let row = model._$statePointer.pointee.rowID
    context.row = row
    statement.reset()
    statement.bind(row, at: 1)
    if let discriminator = plan.entity.discriminator {
      statement.bind(Int64(discriminator), at: 2)
    }
    model._$bind(
      _RowWriter(
        statement: statement.pointer, parameters: plan.insertParameters,
        context: .passUnretained(context)))
    // Values are bound and the statement has not run, so nothing was written of what is refused
    // here.
    if context.error != nil { try context.throwIfRejected() }
    // After the object's own values, which these replace.
    for (index, value) in others { statement.bind(value, at: plan.insertParameters[index]) }
    if !plan.insertLists.isEmpty { plan.insertLists.bind(of: model, to: statement) }
    _ = try statement.step()
  }
}
