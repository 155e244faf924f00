import CSteadRuntime
import Synchronization

/// The objects of one context by row, held weakly: an object leaves when its last reference goes.
///
/// An object costs 16 bytes at most half filled. The lock is what makes that safe: an object's
/// storage is freed only after its state's `deinit` has taken the lock and removed it.
final class ObjectRegistry: @unchecked Sendable {
  // Sendable: `maps` is used under the mutex alone, and pointers in it are valid while it is held.
  private let maps: Mutex<[RowMap]>

  init(entityCount: Int) {
    maps = Mutex(Array(repeating: RowMap(), count: entityCount))
  }

  /// The number of registered objects.
  var count: Int { maps.withLock { $0.reduce(0) { $0 + $1.count } } }

  /// The registered object of a row, retained.
  func object(root: Int, row: Int64) -> AnyObject? {
    let found: UInt = maps.withLock { maps in
      guard let state = maps[root].value(for: row), let object = state.pointee.object,
        let retained = stead_try_retain(object.toOpaque())
      else { return 0 }
      return UInt(bitPattern: retained)
    }
    guard let pointer = UnsafeRawPointer(bitPattern: found) else { return nil }
    return Unmanaged<AnyObject>.fromOpaque(pointer).takeRetainedValue()
  }

  func register(_ state: UnsafeMutablePointer<_ModelState>, root: Int, row: Int64) {
    let address = UInt(bitPattern: state)
    maps.withLock { maps in
      if let state = UnsafeMutablePointer<_ModelState>(bitPattern: address) {
        maps[root].insert(state, for: row)
      }
    }
  }

  /// Removes an object that is going away, unless another has taken its place.
  func forget(_ object: Unmanaged<AnyObject>, root: Int, row: Int64) {
    let address = UInt(bitPattern: object.toOpaque())
    maps.withLock { maps in
      guard let state = maps[root].value(for: row),
        UInt(bitPattern: state.pointee.object?.toOpaque()) == address
      else { return }
      maps[root].remove(row)
    }
  }

  /// Marks the registered objects of some rows as outdated; nil for all rows of the entity.
  /// Returns whether there were any.
  func markStale(root: Int, rows: some Sequence<Int64>) -> [Int64] {
    let rows = Array(rows)
    return maps.withLock { maps in
      rows.filter { row in
        guard let state = maps[root].value(for: row) else { return false }
        state.pointee.set(_ModelFlags.stale)
        return true
      }
    }
  }

  func markAllStale() {
    maps.withLock { maps in
      for map in maps { map.forEach { $0.pointee.set(_ModelFlags.stale) } }
    }
  }

  /// All registered objects, retained.
  func all() -> [AnyObject] {
    let addresses: [UInt] = maps.withLock { maps in
      var result: [UInt] = []
      for map in maps {
        map.forEach { state in
          if let object = state.pointee.object, let kept = stead_try_retain(object.toOpaque()) {
            result.append(UInt(bitPattern: kept))
          }
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
}

/// A hash table from row numbers to objects' states: open addressing, linear probing.
private struct RowMap {
  typealias State = UnsafeMutablePointer<_ModelState>

  private var rows: [Int64] = []
  private var states: [State?] = []
  private(set) var count = 0

  func value(for row: Int64) -> State? {
    guard count > 0 else { return nil }
    let mask = rows.count - 1
    var place = Self.hash(row) & mask
    while let state = states[place] {
      if rows[place] == row { return state }
      place = (place + 1) & mask
    }
    return nil
  }

  mutating func insert(_ state: State, for row: Int64) {
    if (count + 1) * 4 > rows.count * 3 { grow() }
    let mask = rows.count - 1
    var place = Self.hash(row) & mask
    while states[place] != nil {
      if rows[place] == row {
        states[place] = state
        return
      }
      place = (place + 1) & mask
    }
    rows[place] = row
    states[place] = state
    count += 1
  }

  /// Removes a row and moves what follows it back, so that no gap breaks a search.
  mutating func remove(_ row: Int64) {
    guard count > 0 else { return }
    let mask = rows.count - 1
    var gap = Self.hash(row) & mask
    while states[gap] != nil, rows[gap] != row { gap = (gap + 1) & mask }
    guard states[gap] != nil else { return }
    states[gap] = nil
    count -= 1
    var next = (gap + 1) & mask
    while let state = states[next] {
      let home = Self.hash(rows[next]) & mask
      if (next &- home) & mask >= (next &- gap) & mask {
        rows[gap] = rows[next]
        states[gap] = state
        states[next] = nil
        gap = next
      }
      next = (next + 1) & mask
    }
  }

  func forEach(_ body: (State) -> Void) {
    for case let state? in states { body(state) }
  }

  private mutating func grow() {
    let (oldRows, oldStates) = (rows, states)
    let capacity = max(16, rows.count * 2)
    rows = Array(repeating: 0, count: capacity)
    states = Array(repeating: nil, count: capacity)
    count = 0
    for (row, state) in zip(oldRows, oldStates) {
      if let state { insert(state, for: row) }
    }
  }

  /// Row numbers are consecutive, so multiplying by an odd constant is spread enough.
  private static func hash(_ row: Int64) -> Int {
    Int(truncatingIfNeeded: (UInt64(bitPattern: row) &* 0x9E37_79B9_7F4A_7C15) >> 32)
  }
}
