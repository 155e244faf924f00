import SteadSQLite

/// Where a statement has the number of the list that a to-one property's object is in.
///
/// No property of the class has that column, so it's read and written separately.
struct ListColumn {
  let property: PropertyLayout
  /// The result column or the parameter.
  let place: Int32
}

extension [ListColumn] {
  /// Gives an object the list numbers of the current row.
  ///
  /// - Parameter changes: The properties that keep what the object has.
  func read(
    into model: any PersistentModel, from statement: SQLiteStatement,
    excluding changes: PropertySet = PropertySet()
  ) {
    for list in self where !changes.contains(list.property.index) {
      let number = Int(statement.integer(list.place))
      model.setList(
        number == list.property.firstList ? nil : number, at: list.property.index)
    }
  }

  func bind(of model: any PersistentModel, to statement: SQLiteStatement) {
    for list in self { statement.bind(value(of: model, list.property), at: list.place) }
  }

  private func value(of model: any PersistentModel, _ property: PropertyLayout) -> SQLValue {
    if case .toOne(.none) = model.content(at: property.index) { return .null }
    let number = model.list(at: property.index) ?? property.firstList
    return number == 0 ? .null : .integer(Int64(number))
  }
}
