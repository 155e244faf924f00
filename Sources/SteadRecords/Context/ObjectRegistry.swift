import CSteadRuntime
import Synchronization

/// The objects of one context by row, held weakly: an object leaves when its last reference goes.
///
/// An object costs about 15 bytes, and at most 92 where no two rows are close to each other.
///
/// Invariants:
///
/// - A row has at most one entry. The entry is the address of a state, which lies in its object, and which points to
///   the object from before it is registered until after it is forgotten.
/// - An entry's memory is valid while the lock is held: an object's storage is freed only after its state's `deinit`
///   has taken the lock and removed the entry.
/// - Under the lock no object is released, and no code of an app runs, since the `deinit` of an object takes the lock.
final class ObjectRegistry: @unchecked Sendable {
  // Sendable: `maps` is only used under the lock, and pointers in the maps are valid while it is held.
  typealias State = UnsafeMutablePointer<_ModelState>

  private let lock = Mutex(())
  /// One map for each entity; those of hierarchies' roots are used. Not an array, since each change would check its
  /// uniqueness.
  private let maps: UnsafeMutablePointer<RowMap>
  private let entityCount: Int
  init(entityCount: Int) {
    self.entityCount = entityCount
    maps = .allocate(capacity: entityCount)
    maps.initialize(repeating: RowMap(), count: entityCount)
  }

  deinit {
    // No lock: whoever had a reference to the registry is gone, and with it all that could use a map.
    for root in 0..<entityCount { maps[root].deallocate() }
    maps.deallocate()
  }

  /// The number of registered objects.
  var count: Int { lock.withLock { _ in (0..<entityCount).reduce(0) { $0 + maps[$1].count } } }

  /// The registered object of a row, retained.
  func object(root: Int, row: Int64) -> AnyObject? {
    let found: UInt = lock.withLock { _ in
      guard let state = maps[root].value(for: row), let object = state.pointee.object else {
        return 0
      }
      // Another thread may have begun to deinitialize the object, and wait for the lock to remove it. Such an object
      // must not be retained again.
      return UInt(bitPattern: stead_try_retain(object.toOpaque()))
    }
    guard let pointer = UnsafeRawPointer(bitPattern: found) else { return nil }
    return Unmanaged<AnyObject>.fromOpaque(pointer).takeRetainedValue()
  }

  /// Registers an object in place of any that its row has.
  func register(_ state: State, root: Int, row: Int64) {
    lock.withLock { _ in maps[root].insert(state, for: row) }
  }

  /// Removes an object that is being deinitialized, unless the row has another object by now: one that was loaded
  /// after the last reference to this one had gone.
  func forget(_ object: Unmanaged<AnyObject>, root: Int, row: Int64) {
    lock.withLock { _ in
      // By identity, not by row: the row may have an object that was loaded after this one began to go.
      guard let state = maps[root].value(for: row),
        state.pointee.object?.toOpaque() == object.toOpaque()
      else { return }
      maps[root].remove(row)
    }
  }

  /// Removes objects that leave the context.
  func forget(_ states: [State], root: (State) -> Int) {
    lock.withLock { _ in
      for state in states {
        let (root, row) = (root(state), state.pointee.rowID)
        guard let object = state.pointee.object,
          maps[root].value(for: row)?.pointee.object?.toOpaque() == object.toOpaque()
        else { continue }
        maps[root].remove(row)
      }
    }
  }

  // MARK: Fetches

  /// Whether no object of a hierarchy is registered.
  func isEmpty(root: Int) -> Bool { count(root: root) == 0 }

  /// The number of registered objects of a hierarchy.
  func count(root: Int) -> Int { lock.withLock { _ in maps[root].count } }

  /// Appends the registered objects of some rows, or a stand-in for each row without a usable one.
  ///
  /// - Returns: The places of the stand-ins among the rows.
  func append(
    _ rows: [Int64], root: Int, to objects: inout [AnyObject], orElse standIn: AnyObject
  ) -> [Int] {
    // Nothing may be released while the lock is held, since an object's deinit acquires it.
    var missing: [Int] = []
    lock.withLock { _ in
      for (place, row) in rows.enumerated() {
        // An object that has to be read before its use counts as missing: the caller then reads its row.
        if let state = maps[root].value(for: row), !state.pointee.has(_ModelFlags.unready),
          let object = state.pointee.object, let kept = stead_try_retain(object.toOpaque())
        {
          objects.append(Unmanaged<AnyObject>.fromOpaque(kept).takeRetainedValue())
        } else {
          missing.append(place)
          objects.append(standIn)
        }
      }
    }
    return missing
  }

  /// Registers an object that was just made, unless its row is registered already. Returns whether it was registered.
  func registerNew(_ state: State, root: Int) -> Bool {
    lock.withLock { _ in maps[root].insertNew(state, for: state.pointee.rowID) }
  }

  /// Registers objects that were just made or saved; returns the places of those whose row is already registered, which
  /// are left alone.
  func registerNew(_ states: [State], root: (State) -> Int) -> [Int] {
    lock.withLock { _ in
      var conflicts: [Int] = []
      for (place, state) in states.enumerated()
      where !maps[root(state)].insertNew(state, for: state.pointee.rowID) {
        conflicts.append(place)
      }
      return conflicts
    }
  }

  // MARK: Commits of others

  /// Marks the registered objects of some rows as outdated, and returns which rows those are.
  func markStale(root: Int, rows: some Sequence<Int64>) -> [Int64] {
    let rows = Array(rows)
    return lock.withLock { _ in
      return rows.filter { row in
        guard let state = maps[root].value(for: row) else { return false }
        state.pointee.set(_ModelFlags.stale)
        return true
      }
    }
  }

  /// Marks all registered objects of some hierarchies as outdated.
  func markAllStale(where isConcerned: (_ root: Int) -> Bool) {
    lock.withLock { _ in
      for root in 0..<entityCount where isConcerned(root) {
        maps[root].forEach { $0.pointee.set(_ModelFlags.stale) }
      }
    }
  }

  /// All registered objects of a hierarchy, retained.
  func all(root: Int) -> [AnyObject] {
    // Nothing may be released while the lock is held, since an object's deinit acquires it.
    let addresses: [UInt] = lock.withLock { _ in
      var result: [UInt] = []
      result.reserveCapacity(maps[root].count)
      maps[root].forEach { state in
        if let object = state.pointee.object, let kept = stead_try_retain(object.toOpaque()) {
          result.append(UInt(bitPattern: kept))
        }
      }
      return result
    }
    return addresses.compactMap { address in
      UnsafeRawPointer(bitPattern: address).map {
        Unmanaged<AnyObject>.fromOpaque($0).takeRetainedValue()
      }
    }
  }

  /// All registered objects, retained.
  func all() -> [AnyObject] { (0..<entityCount).flatMap { all(root: $0) } }
}

// MARK: - Rows

/// A hash table from row numbers to objects' states: open addressing, linear probing, four consecutive rows to a
/// place.
///
/// Rows are mostly looked up in order, and then three of four are found in the previous one's cache line. A place is
/// 40 bytes; the owner frees its memory.
///
/// Invariant: no free place is between a group's home, which its hash gives, and its place. A place is used as long
/// as one of its four rows has a state. At least one place is free, at which every search ends.
struct RowMap {
  typealias State = UnsafeMutablePointer<_ModelState>

  private struct Group {
    /// The rows' number divided by four, or `free`.
    var number: Int64
    var states: (State?, State?, State?, State?) = (nil, nil, nil, nil)

    /// Marks a free place. No row number divided by four is this.
    static let free = Int64.min

    subscript(row: Int64) -> State? {
      get {
        switch row & 3 {
        case 0: states.0
        case 1: states.1
        case 2: states.2
        default: states.3
        }
      }
      set {
        switch row & 3 {
        case 0: states.0 = newValue
        case 1: states.1 = newValue
        case 2: states.2 = newValue
        default: states.3 = newValue
        }
      }
    }

    var isEmpty: Bool {
      states.0 == nil && states.1 == nil && states.2 == nil && states.3 == nil
    }
  }

  private var places: UnsafeMutablePointer<Group>?
  private var mask = -1
  private var usedPlaces = 0
  /// The number of rows.
  private(set) var count = 0

  /// Consecutive rows spread evenly, so the table may be this full, in eighths, before it grows.
  private static let fullness = 7

  /// Frees the memory; the table must not be used afterwards.
  func deallocate() { places?.deallocate() }

  /// Where a group of rows is, or the free place where it belongs.
  private func index(of group: Int64, in places: UnsafeMutablePointer<Group>) -> Int {
    var index = Self.hash(group) & mask
    // Ends at a free place, of which there is always one.
    while places[index].number != group, places[index].number != Group.free {
      index = (index + 1) & mask
    }
    return index
  }

  /// The state of a row, or nil.
  func value(for row: Int64) -> State? {
    guard let places else { return nil }
    return places[index(of: row >> 2, in: places)][row]
  }

  /// Adds a row or replaces its state.
  mutating func insert(_ state: State, for row: Int64) {
    if !insertNew(state, for: row), let places {
      places[index(of: row >> 2, in: places)][row] = state
    }
  }

  /// Adds a row unless it exists.
  mutating func insertNew(_ state: State, for row: Int64) -> Bool {
    // Before the search: growing moves all groups.
    let places = withRoom()
    let index = index(of: row >> 2, in: places)
    if places[index].number == Group.free {
      places[index].number = row >> 2
      usedPlaces += 1
    } else if places[index][row] != nil {
      return false
    }
    places[index][row] = state
    count += 1
    return true
  }

  /// Removes a row if it exists. The table never shrinks.
  mutating func remove(_ row: Int64) {
    guard let places else { return }
    let index = index(of: row >> 2, in: places)
    guard places[index][row] != nil else { return }
    places[index][row] = nil
    count -= 1
    if places[index].isEmpty { free(index, in: places) }
  }

  /// Frees a place, and moves back what follows it, so that no gap breaks a search (Knuth, The Art of Computer
  /// Programming 6.4, Algorithm R). Without tombstones, which would fill up a table that objects enter and leave all
  /// the time.
  private mutating func free(_ index: Int, in places: UnsafeMutablePointer<Group>) {
    usedPlaces -= 1
    var gap = index
    var next = (gap + 1) & mask
    while places[next].number != Group.free {
      let home = Self.hash(places[next].number) & mask
      // Distances modulo the capacity, since the table is a ring: a group whose home is at or before the gap is found
      // at the gap, too.
      if (next &- home) & mask >= (next &- gap) & mask {
        places[gap] = places[next]
        gap = next
      }
      next = (next + 1) & mask
    }
    places[gap] = Group(number: Group.free)
  }

  /// Calls a body for each row, in no order; the body must not change the table.
  func forEach(_ body: (State) -> Void) {
    guard let places else { return }
    for index in 0...mask where places[index].number != Group.free {
      for row in 0..<Int64(4) {
        if let state = places[index][row] { body(state) }
      }
    }
  }

  /// The places, with a free one besides the one that is about to be used; doubles them if they are too full.
  private mutating func withRoom() -> UnsafeMutablePointer<Group> {
    if let places, (usedPlaces + 1) * 8 <= (mask + 1) * Self.fullness { return places }
    let (old, oldCapacity) = (places, mask + 1)
    let capacity = max(4, oldCapacity * 2)
    let new = UnsafeMutablePointer<Group>.allocate(capacity: capacity)
    new.initialize(repeating: Group(number: Group.free), count: capacity)
    mask = capacity - 1
    places = new
    if let old {
      for index in 0..<oldCapacity where old[index].number != Group.free {
        // `mask` is the new one already, which the search uses.
        new[self.index(of: old[index].number, in: new)] = old[index]
      }
      old.deallocate()
    }
    return new
  }

  /// How many consecutive groups stay neighbours, as a power of two: rows that are looked up in order are then found in
  /// memory that the processor has prefetched.
  private static let neighbourBits = 3

  /// Multiplying by 2⁶⁴ divided by the golden ratio spreads the rest of the number evenly (Fibonacci hashing, Knuth
  /// 6.4). Of a product the high bits are mixed best.
  private static func hash(_ group: Int64) -> Int {
    let group = UInt64(bitPattern: group)
    let block = ((group >> neighbourBits) &* 0x9E37_79B9_7F4A_7C15) >> 32
    return Int(truncatingIfNeeded: block << neighbourBits | group & (1 << neighbourBits - 1))
  }
}
