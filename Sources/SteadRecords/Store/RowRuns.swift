/// The numbers of rows that a save deletes, as ranges without gaps and single ones.
///
/// One DELETE of a range takes a fraction of the time of a DELETE for each row, and objects that were fetched together often
/// have consecutive numbers.
struct RowRuns {
  /// The fewest rows that are worth a range.
  static let shortest = 16

  private(set) var runs: [ClosedRange<Int64>] = []
  private(set) var singles: [Int64] = []

  init(_ rows: [Int64]) {
    let rows = rows.sorted()
    var start = 0
    for index in rows.indices.dropFirst() where rows[index] > rows[index - 1] + 1 {
      add(rows[start..<index])
      start = index
    }
    add(rows[start...])
  }

  private mutating func add(_ run: ArraySlice<Int64>) {
    guard let first = run.first, let last = run.last else { return }
    if run.count >= Self.shortest { runs.append(first...last) } else { singles += run }
  }
}
