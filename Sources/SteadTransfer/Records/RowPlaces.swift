import SteadRecords
import SteadSQLite

/// Finds which rows have the unique values of rows that are to be written.
struct RowPlaces {
  private struct Key: Hashable {
    let root: String
    let columns: [String]
    let values: [SQLValue]
  }

  private let rows: RowTransaction
  private let rule: TransferOptions.ConflictRule
  /// The elements that have claimed values.
  private var claimed: [Key: Int] = [:]
  private var holders: [Int: PlaceHolder?] = [:]

  init(_ rows: RowTransaction, _ rule: TransferOptions.ConflictRule) {
    self.rows = rows
    self.rule = rule
  }

  /// The elements that are not to be written, in their order, and what has their places.
  var conflicts: [(element: Int, holder: PlaceHolder?)] {
    holders.sorted { $0.key < $1.key }.map { ($0.key, last($0.value)) }
  }

  /// What an element's place has in the end: of several elements that replace each other, the last.
  private func last(_ holder: PlaceHolder?) -> PlaceHolder? {
    guard case .element(let element)? = holder, let next = holders[element] else { return holder }
    return last(next)
  }

  /// The row that an element is to be written over; nil where its values are new.
  mutating func row(of element: Int, _ cells: [SQLValue], _ shape: RowShape) throws -> Int64? {
    var stored: Set<Int64> = []
    var earlier: Set<Int> = []
    var keys: [Key] = []
    for places in shape.uniqueness {
      let key = Key(
        root: shape.root, columns: places.map { shape.columns[$0] },
        values: places.map { cells[$0] })
      // As in SQL, nothing is equal to nil.
      if key.values.contains(.null) { continue }
      keys.append(key)
      if let other = claimed[key] { earlier.insert(other) }
      if let row = try rows.row(with: key.values, in: key.columns, of: shape) { stored.insert(row) }
    }
    if stored.isEmpty, earlier.isEmpty {
      for key in keys { claimed[key] = element }
      return nil
    }
    // One element cannot stand for two rows, nor for a row of another class.
    let isOne = stored.count + (stored.isEmpty ? earlier.count : 0) == 1
    guard isOne, try stored.allSatisfy({ try rows.contains($0, in: shape) }) else {
      holders[element] = .some(nil)
      return nil
    }
    guard rule == .replace else {
      holders[element] =
        earlier.first.map { .element($0) }
        ?? stored.first.map { .stored(RowReferences([(shape.name, $0)]).text) }
      return nil
    }
    for other in earlier { holders[other] = .element(element) }
    for key in keys { claimed[key] = element }
    return stored.first
  }
}
