/// Rows by their numbers: the first ones, and the total.
struct FoundRows {
  private(set) var first: [Int64] = []
  private(set) var count = 0

  mutating func add(_ row: Int64) {
    if count < StoreCheck.rowLimit { first.append(row) }
    count += 1
  }

  /// Counts rows without a number.
  mutating func count(_ number: Int) { count += number }
}

extension FoundRows: CustomStringConvertible {
  /// As written in a sentence: `rows 1, 2 and 9`.
  var description: String {
    let numbers = first.map(String.init)
    if count > first.count {
      return "rows \(numbers.joined(separator: ", ")) and \(count - first.count) more"
    }
    guard numbers.count > 1 else { return "row \(numbers.first ?? "?")" }
    return "rows \(numbers.dropLast().joined(separator: ", ")) and \(numbers[numbers.count - 1])"
  }
}
