import SteadSQLite

/// The objects of a fetch, in the rows' order.
struct FetchedObjects: ObjectCollector {
  // Arrays of class references have one layout; the compiler knows that of `AnyObject` here.
  private(set) var objects: [AnyObject] = []

  @inline(__always)
  mutating func beginRow(_ statement: SQLiteStatement) {}

  @inline(__always)
  mutating func append(_ object: AnyObject) { objects.append(object) }

  mutating func replace(_ object: AnyObject, with other: AnyObject) {
    // From the end: the object was made for one of the last rows, which were registered together.
    if let place = objects.lastIndex(where: { $0 === object }) { objects[place] = other }
  }

  /// A fetch returns all that matches or throws.
  mutating func skipRow(_ error: any Error) throws { throw error }
}

/// Collects the objects of a result's rows. A protocol, so that the loop over the rows is compiled for each
/// collector.
protocol ObjectCollector {
  /// Called for each row before its object exists.
  mutating func beginRow(_ statement: SQLiteStatement)
  /// Adds the object of the row that `beginRow(_:)` announced.
  mutating func append(_ object: AnyObject)
  /// Replaces an object by another one of the same row.
  mutating func replace(_ object: AnyObject, with other: AnyObject)
  /// Called instead of `append(_:)` for a row that cannot be read; throws to end the fetch.
  mutating func skipRow(_ error: any Error) throws
}

// MARK: - Batches of owners

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
    // All of them, so that reading the objects backwards costs one query, too.
    if rows.count <= Self.size { return rows[...] }
    return rows[place..<min(rows.count, place + Self.size)]
  }
}

// MARK: - Owned objects

/// The destinations of a to-many relationship by their owners' rows.
///
/// The rows come one owner after the other. Each owner's objects are collected in the array that the
/// relationship gets, since to copy them into it would count two references for each.
struct OwnedObjects: ObjectCollector {
  /// The objects by their owners' rows, and why a destination of an owner could not be read.
  struct Groups {
    var objects: [Int64: [AnyObject]] = [:]
    var failures: [Int64: any Error] = [:]
  }

  private let query: ToManyQuery
  /// The owner whose rows are coming, nil before the first.
  private var owner: Int64?
  /// The owner's objects in the rows' order, and the place of each.
  private var objects: [AnyObject] = []
  private var places: [Int64] = []
  private var isSorted = true
  /// The objects of the owners before, in the relationships' order.
  private var groups: [Int64: [AnyObject]] = [:]
  /// Why a destination of an owner could not be read.
  private var failures: [Int64: any Error] = [:]

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

  /// Leaves a destination out that cannot be read, and records that for its owner. Lists of other owners are
  /// complete.
  mutating func skipRow(_ error: any Error) {
    // `beginRow` has recorded the place of an object that does not come.
    places.removeLast()
    if let owner, failures[owner] == nil { failures[owner] = error }
  }

  mutating func replace(_ object: AnyObject, with other: AnyObject) {
    if let place = objects.lastIndex(where: { $0 === object }) {
      objects[place] = other
      return
    }
    // The row was one of an owner before: lists of several owners are registered together.
    for owner in groups.keys {
      guard let place = groups[owner]?.lastIndex(where: { $0 === object }) else { continue }
      groups[owner]?[place] = other
      return
    }
  }

  /// The objects of all owners, in the relationships' order.
  mutating func finish() -> Groups {
    close()
    return Groups(objects: groups, failures: failures)
  }

  /// Ends the list of the current owner. Sorts it by the members' positions, unless the rows came in that order, as
  /// they do until a member is moved.
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
