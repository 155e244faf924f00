/// How a list of objects became another one: what left, what came, and whether the order changed.
///
/// Costs an address comparison for each element that both lists share at their ends, and a set of those in between.
struct ListChange {
  let result: [AnyObject]
  private(set) var removed: [AnyObject] = []
  private(set) var added: [AnyObject] = []
  /// Whether the result is something else than what stayed, in its order, and what came behind it.
  private(set) var isReordered = false
  /// The elements between the common ends, in the old list and in the result.
  private let gone: Range<Int>
  private let come: Range<Int>
  private let isUnique: Bool

  var isEmpty: Bool { removed.isEmpty && added.isEmpty && !isReordered }

  /// - Parameter isUnique: Whether the result is known to have each object once.
  init(from old: [AnyObject], to new: [AnyObject], isUnique: Bool = false) {
    result = new
    self.isUnique = isUnique
    let ends = CommonEnds(of: old, new)
    gone = ends.prefix..<(old.count - ends.suffix)
    come = ends.prefix..<(new.count - ends.suffix)
    if gone.isEmpty {
      added = Array(new[come])
      isReordered = ends.suffix > 0 && !come.isEmpty
      return
    }
    if come.isEmpty {
      removed = Array(old[gone])
      return
    }
    let goneSet = Set(old[gone].map(ObjectIdentifier.init))
    let comeSet = Set(new[come].map(ObjectIdentifier.init))
    removed = old[gone].filter { !comeSet.contains(ObjectIdentifier($0)) }
    added = new[come].filter { !goneSet.contains(ObjectIdentifier($0)) }
    let stayed = old[gone].filter { comeSet.contains(ObjectIdentifier($0)) }
    let expected = stayed + added
    isReordered =
      expected.count != come.count || !zip(expected, new[come]).allSatisfy { $0 === $1 }
      || (ends.suffix > 0 && !added.isEmpty)
  }

  /// Turns the old list into the result without copying the elements that both share.
  func apply(to list: inout [AnyObject]) {
    list.replaceSubrange(gone, with: result[come])
  }

  /// Whether the result may contain an object twice.
  ///
  /// - Parameter isMember: Whether the old list had an object.
  func mayRepeat(isMember: (AnyObject) -> Bool) -> Bool {
    if isUnique || (added.isEmpty && !isReordered) { return false }
    if added.count == 1, !isReordered || removed.isEmpty { return isMember(added[0]) }
    var seen = Set<ObjectIdentifier>(minimumCapacity: result.count)
    return !result.allSatisfy { seen.insert(ObjectIdentifier($0)).inserted }
  }
}
