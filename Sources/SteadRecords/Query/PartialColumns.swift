/// The columns of a fetch that reads some properties only, see ``FetchDescriptor/propertiesToFetch``.
///
/// A class, since the row reader holds the map's address for as long as rows are read.
final class PartialColumns {
  /// The columns, as written after SELECT.
  let columnList: String
  /// The index of each property's column in the rows; -1 for those that are not read.
  let map: UnsafeMutablePointer<Int32>
  /// The properties that a row sets. To-many relationships count as loaded: they have no column.
  let loaded: PropertySet
  /// The columns that name which of several relationships a row is in.
  let lists: [ListColumn]

  /// Nil if all columns are wanted, or if the rows may be of several classes.
  init?<T: PersistentModel>(_ keyPaths: [PartialKeyPath<T>], _ plan: EntityPlan) {
    // In a hierarchy each row may be of another class, and one map of columns cannot serve them
    // all.
    guard !keyPaths.isEmpty, plan.entity.discriminator == nil else { return nil }
    let wanted = Set(keyPaths.compactMap { plan.entity.propertyIndex(of: $0) })
    var columns: [String] = []
    map = UnsafeMutablePointer<Int32>.allocate(capacity: max(plan.entity.properties.count, 1))
    // -1 is what makes a slot keep its placeholder: every column that the SELECT lacks must have
    // it.
    map.initialize(repeating: -1, count: max(plan.entity.properties.count, 1))
    // A `let` has no accessor that could read it later, so it is always among the columns. It is stored under its
    // name; the macro stores a `var` in a slot of another one.
    let constants = storedPropertyOffsets(in: T.self, plan.entity.properties.map(\.name))
    var loaded = PropertySet()
    var lists: [ListColumn] = []
    for (property, constant) in zip(plan.entity.properties, constants) {
      if let column = property.column {
        guard constant != nil || wanted.contains(property.index) else { continue }
        columns.append(column)
        // Column 0 is the row's number, so the first property has column 1.
        map[property.index] = Int32(columns.count)
        // A reference without its list's number would be in the wrong list.
        if let list = property.listColumn {
          columns.append(list)
          lists.append(ListColumn(property: property, index: Int32(columns.count)))
        }
      }
      loaded.insert(property.index)
    }
    self.loaded = loaded
    self.lists = lists
    columnList = plan.columnList(of: columns)
  }

  deinit { map.deallocate() }
}
