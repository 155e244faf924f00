/// The rows of one fetch.
final class OwnerBatch {
  /// How many owners' relationships are loaded at once.
  static let size = 1_000

  let root: Int
  private let rows: [Int64]
  private lazy var places: [Int64: Int] = Dictionary(
    zip(rows, rows.indices)
  ) { first, _ in first }

  init(root: Int, rows: [Int64]) {
    self.root = root
    self.rows = rows
  }

  /// The rows to load together with this one: those that follow it.
  func companions(of row: Int64) -> ArraySlice<Int64>? {
    guard let place = places[row] else { return nil }
    if rows.count <= Self.size { return rows[...] }
    return rows[place..<min(rows.count, place + Self.size)]
  }
}
