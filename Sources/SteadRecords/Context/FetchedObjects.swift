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
    if let place = objects.lastIndex(where: { $0 === object }) { objects[place] = other }
  }

  /// A fetch returns all that matches or throws.
  mutating func skipRow(_ error: any Error) throws { throw error }
}
