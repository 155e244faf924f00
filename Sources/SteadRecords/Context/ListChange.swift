import Foundation

/// How a list of objects became another one: what left, what came, and whether the order changed.
///
/// Costs an address comparison for each element that both lists share at their ends, and a set of those in between.
struct ListChange {
  let result: [AnyObject]
  private(set) var removed: [AnyObject] = []
  private(set) var added: [AnyObject] = []
  /// Whether the result is something else than what stayed, in its order, with what came behind it. Only then must
  /// the positions of all members be written.
  private(set) var isReordered = false
  /// The elements between the common ends, in the old list and in the result.
  private let gone: Range<Int>
  private let come: Range<Int>
  private let isUnique: Bool

  var isEmpty: Bool { removed.isEmpty && added.isEmpty && !isReordered }

  /// Compares the elements between the common ends alone, since most changes add or remove a few objects in one
  /// place.
  ///
  /// - Parameter isUnique: Whether the result is known to have each object once.
  init(from old: [AnyObject], to new: [AnyObject], isUnique: Bool = false) {
    result = new
    self.isUnique = isUnique
    let ends = CommonEnds(of: old, new)
    gone = ends.prefix..<(old.count - ends.suffix)
    come = ends.prefix..<(new.count - ends.suffix)
    if gone.isEmpty {
      added = Array(new[come])
      // New members get positions at the end. If some stand before others that stay, all positions are written.
      isReordered = ends.suffix > 0 && !come.isEmpty
      return
    }
    if come.isEmpty {
      // The rest keeps its order, and its positions.
      removed = Array(old[gone])
      return
    }
    let goneSet = Set(old[gone].map(ObjectIdentifier.init))
    let comeSet = Set(new[come].map(ObjectIdentifier.init))
    removed = old[gone].filter { !comeSet.contains(ObjectIdentifier($0)) }
    added = new[come].filter { !goneSet.contains(ObjectIdentifier($0)) }
    let stayed = old[gone].filter { comeSet.contains(ObjectIdentifier($0)) }
    // The order that the store has without new positions: what stayed, then what came.
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
    // The old list has each object once, and so has what is left of it.
    if isUnique || (added.isEmpty && !isReordered) { return false }
    // A single addition, as of `append`, needs no set of all members.
    if added.count == 1, !isReordered || removed.isEmpty { return isMember(added[0]) }
    var seen = Set<ObjectIdentifier>(minimumCapacity: result.count)
    return !result.allSatisfy { seen.insert(ObjectIdentifier($0)).inserted }
  }
}

// MARK: - Undoing

extension ListChange {
  /// A list, after a change of it was taken back that others' changes may have followed.
  ///
  /// Invariant: what the change added is not in the result, what it removed is, and everything else is as it is now.
  /// What returns follows what it followed before the change. With a change of the order, all that was there before has
  /// its order from then, and what others have added follows. If nothing has changed since, the result is the list
  /// from before the change.
  static func undone(
    from before: [AnyObject], to after: [AnyObject], in current: [AnyObject]
  ) -> [AnyObject] {
    if current.elementsEqual(after, by: ===) { return before }
    let (old, new) = (identifiers(before), identifiers(after))
    let returning = old.subtracting(new)
    let members = identifiers(current).subtracting(new.subtracting(old)).union(returning)
    let earlier = before.filter { members.contains(ObjectIdentifier($0)) }
    let keepsOrder = before.filter { new.contains(ObjectIdentifier($0)) }
      .elementsEqual(after.filter { old.contains(ObjectIdentifier($0)) }, by: ===)
    // In the order from before the change, or, where it changed none, in today's.
    let decided = keepsOrder ? returning : old
    let others = current.filter {
      members.contains(ObjectIdentifier($0)) && !decided.contains(ObjectIdentifier($0))
    }
    return keepsOrder ? weave(earlier, into: others) : earlier + others
  }

  /// The objects of a list in the order that another one has, with what that lacks at the end.
  static func arranged(_ list: [AnyObject], as other: [AnyObject]) -> [AnyObject] {
    let (members, known) = (identifiers(list), identifiers(other))
    return other.filter { members.contains(ObjectIdentifier($0)) }
      + list.filter { !known.contains(ObjectIdentifier($0)) }
  }

  /// A list with the objects of another one that it lacks, each behind what it follows there.
  private static func weave(_ other: [AnyObject], into list: [AnyObject]) -> [AnyObject] {
    let known = identifiers(list)
    var followers: [ObjectIdentifier?: [AnyObject]] = [:]
    var last: ObjectIdentifier?
    for object in other {
      let id = ObjectIdentifier(object)
      if known.contains(id) { last = id } else { followers[last, default: []].append(object) }
    }
    var result = followers[nil] ?? []
    for object in list {
      result.append(object)
      result += followers[ObjectIdentifier(object)] ?? []
    }
    return result
  }

  private static func identifiers(_ objects: [AnyObject]) -> Set<ObjectIdentifier> {
    Set(objects.map(ObjectIdentifier.init))
  }
}

// MARK: - Common ends

/// How many objects two lists have in common at their beginnings and at their ends.
///
/// A list that is changed object by object is compared each time, so this compares addresses in memory,
/// without a reference to any of the objects.
struct CommonEnds {
  let prefix: Int
  /// How many are equal at the ends, without those that the prefix has.
  let suffix: Int

  /// How many bytes are compared at once until a difference is found.
  private static let blockSize = 512

  init(of first: [AnyObject], _ second: [AnyObject]) {
    (prefix, suffix) = first.withUnsafeBytes { first in
      second.withUnsafeBytes { second in
        let size = min(first.count, second.count)
        let prefix = Self.prefix(first, second, size)
        return (
          prefix / MemoryLayout<AnyObject>.size,
          Self.suffix(first, second, size - prefix) / MemoryLayout<AnyObject>.size
        )
      }
    }
  }

  /// How many bytes are equal at the beginnings: all at once if the lists are equal so far, then by blocks, then by
  /// words.
  private static func prefix(
    _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer, _ size: Int
  ) -> Int {
    guard size > 0, let first = first.baseAddress, let second = second.baseAddress else {
      return 0
    }
    // One call for the usual case: the shorter list is the beginning of the other one.
    var equal = memcmp(first, second, size) == 0 ? size : 0
    while equal + blockSize < size, memcmp(first + equal, second + equal, blockSize) == 0 {
      equal += blockSize
    }
    while equal < size, word(first + equal) == word(second + equal) {
      equal += MemoryLayout<AnyObject>.size
    }
    return equal
  }

  /// How many bytes are equal at the ends.
  private static func suffix(
    _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer, _ size: Int
  ) -> Int {
    guard size > 0, let firstStart = first.baseAddress, let secondStart = second.baseAddress
    else { return 0 }
    let (firstEnd, secondEnd) = (firstStart + first.count, secondStart + second.count)
    // Elements were removed or added at the beginning alone.
    var equal = memcmp(firstEnd - size, secondEnd - size, size) == 0 ? size : 0
    while equal + blockSize < size {
      let next = equal + blockSize
      guard memcmp(firstEnd - next, secondEnd - next, blockSize) == 0 else { break }
      equal = next
    }
    while equal < size {
      let next = equal + MemoryLayout<AnyObject>.size
      guard word(firstEnd - next) == word(secondEnd - next) else { break }
      equal = next
    }
    return equal
  }

  private static func word(_ address: UnsafeRawPointer) -> UInt { address.load(as: UInt.self) }
}

// MARK: - Members for quick repeats

/// The members of the to-many relationship that was last added to, for quick repeats.
struct Membership {
  /// Held, since the address of a deallocated object may be reused by another.
  let owner: AnyObject
  let index: Int
  var members: Set<ObjectIdentifier>
}

extension Membership {
  mutating func insert(
    _ new: [AnyObject], into owner: any PersistentModel, _ index: Int
  ) {
    guard self.owner === owner, self.index == index else { return }
    for object in new { members.insert(ObjectIdentifier(object)) }
  }
}
