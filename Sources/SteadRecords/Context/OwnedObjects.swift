import SteadSQLite

/// The destinations of a to-many relationship by their owners' rows.
///
/// The rows come one owner after the other. Each owner's objects are collected in the array that the
/// relationship gets, since to copy them into it would count two references for each.
struct OwnedObjects: ObjectCollector {
  private let query: ToManyQuery
  /// The owner whose rows are coming, nil before the first.
  private var owner: Int64?
  /// The owner's objects in the rows' order, and the place of each.
  private var objects: [AnyObject] = []
  private var places: [Int64] = []
  private var isSorted = true
  /// The objects of the owners before, in the relationships' order.
  private var groups: [Int64: [AnyObject]] = [:]

  init(_ query: ToManyQuery) { self.query = query }

  @inline(__always)
  mutating func beginRow(_ statement: SQLiteStatement) {
    let (owner, place) = query.ownership(in: statement)
    if owner != self.owner {
      close()
      self.owner = owner
    } else if let last = places.last, last > place {
      isSorted = false
    }
    places.append(place)
  }

  @inline(__always)
  mutating func append(_ object: AnyObject) { objects.append(object) }

  mutating func replace(_ object: AnyObject, with other: AnyObject) {
    if let place = objects.lastIndex(where: { $0 === object }) {
      objects[place] = other
      return
    }
    for owner in groups.keys {
      guard let place = groups[owner]?.lastIndex(where: { $0 === object }) else { continue }
      groups[owner]?[place] = other
      return
    }
  }

  /// The objects of all owners, in the relationships' order.
  mutating func finish() -> [Int64: [AnyObject]] {
    close()
    return groups
  }

  private mutating func close() {
    guard let owner else { return }
    var group: [AnyObject] = []
    // Owners that follow each other tend to have as many.
    group.reserveCapacity(objects.count)
    swap(&group, &objects)
    if !isSorted {
      group = group.indices.sorted { (places[$0], $0) < (places[$1], $1) }.map { group[$0] }
    }
    groups[owner] = group
    places.removeAll(keepingCapacity: true)
    isSorted = true
  }
}
