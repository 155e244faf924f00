/// Rows that new objects share: rows that existed before, or rows of several objects with the same unique values.
package struct SharedRows {
  /// A row by the hierarchy that numbers it.
  package struct Row: Hashable, Sendable {
    package let root: String
    package let number: Int64

    package init(root: String, number: Int64) {
      self.root = root
      self.number = number
    }

    init?(_ model: any PersistentModel, _ rows: StoreRows) {
      guard let place = rows.place(of: model), let shape = rows.shapes[place.entity] else {
        return nil
      }
      self.init(root: shape.root, number: place.number)
    }
  }

  package private(set) var all: Set<Row> = []
  /// How many objects stand for such a row, without those that came along.
  package private(set) var objectCount = 0

  mutating func insert(_ model: any PersistentModel, cameAlong: Bool, _ rows: StoreRows) {
    guard let row = Row(model, rows) else { return }
    all.insert(row)
    if !cameAlong { objectCount += 1 }
  }

  /// Whether an object stands for such a row.
  package func contains(_ model: any PersistentModel, in rows: StoreRows) -> Bool {
    Row(model, rows).map(all.contains) ?? false
  }
}
