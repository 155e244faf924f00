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
