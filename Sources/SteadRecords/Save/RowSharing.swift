/// New objects that a save would write into one row.
struct RowSharing {
  /// The row's hierarchy.
  let root: Int
  let number: Int64
  /// Whether the row existed before the save.
  let isStored: Bool
  /// The objects, with their places in the order of insertion.
  var objects: [(place: Int, model: any PersistentModel)]
}

extension SaveWriter {
  /// The rows of a store that were assigned to several objects, or to a new one and a changed one.
  ///
  /// - Parameter includingStored: Whether a row that existed counts as shared with a single new object.
  func sharedRows(in store: Int, includingStored: Bool) -> [RowSharing] {
    struct Row: Hashable {
      let root: Int
      let number: Int64

      init(_ state: State, _ layout: Layout) {
        root = layout.traits[Int(state.pointee.entity)].root
        number = state.pointee.rowID
      }
    }
    let changed = Set(plan.states.updated.map { Row($0, layout) })
    var order: [Row] = []
    var rows: [Row: RowSharing] = [:]
    for (place, state) in plan.states.inserted.enumerated() where isIn(store, state) {
      let row = Row(state, layout)
      let model = plan.inserted[place]
      if rows[row] == nil {
        order.append(row)
        rows[row] = RowSharing(
          root: row.root, number: row.number,
          isStored: upserted.contains(ObjectIdentifier(model)), objects: [])
      }
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
