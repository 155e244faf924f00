/// The numbers of rows that a save deletes, as runs without gaps and single ones.
///
/// A statement that deletes a range takes a small part of the time that one statement a row takes, and
/// objects that were fetched together often are neighbours.
struct RowRuns {
  /// The fewest rows that are worth a range.
  static let shortest = 16

  private(set) var runs: [ClosedRange<Int64>] = []
  private(set) var singles: [Int64] = []

  init(_ rows: [Int64]) {
    let rows = rows.sorted()
    var start = 0
    for place in rows.indices.dropFirst() where rows[place] > rows[place - 1] + 1 {
      add(rows[start..<place])
      start = place
    }
    add(rows[start...])
  }

  private mutating func add(_ run: ArraySlice<Int64>) {
    guard let first = run.first, let last = run.last else { return }
    if run.count >= Self.shortest { runs.append(first...last) } else { singles += run }
  }
}
