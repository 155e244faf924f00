public import Foundation
import Synchronization

/// Values in memory, over the same values on disk, over a body that loads them.
///
/// ```swift
/// let cache = LayeredCache<Profile>(over: disk)
/// let profile = try await cache.value(for: "me") { try await download("me") }
/// ```
///
/// A value in memory costs a look-up there and a read of a word of shared memory; one on disk what
/// ``DiskCache`` says and its decoding. Whatever is set or removed here is set or removed in both.
/// Other processes' changes are noticed at the next look-up: a word of shared memory shows that
/// something has changed, and then a value in memory is compared with the one on disk, by its
/// number, once. The same is true of changes made directly to `disk`.
///
/// Values that can't be stored on disk stay in memory, as long as the limits of `disk` say and
/// nothing else changes the cache on disk.
///
/// How memory and disk are kept equal:
/// - A value in memory (`Held`) has the id of its entry on disk and the ``ChangeToken`` with which
///   it was last compared. Equal tokens mean that nobody else has changed the disk, and cost a read
///   of shared memory. With another token the entry's id is compared once, by a look-up in SQLite.
/// - All changes of a key through this object are under its lock in ``KeyLocks``, disk first, then
///   memory. So no other call sees one without the other.
/// - A loaded value is kept only if its ticket is valid under that lock (``SingleFlight``).
/// - What could not be removed from the disk is in ``PendingRemovals``, and no longer found by this
///   object.
public final class LayeredCache<Value: Sendable>: Sendable {
  /// The bytes of values that memory holds by default: 32 MiB.
  public static var defaultMemorySizeLimit: Int { 32 << 20 }

  /// The coding between values and bytes.
  struct Coding: Sendable {
    let encode: @Sendable (Value) -> Data?
    let decode: @Sendable (Data) -> Value?
  }

  private struct Loaded: Sendable {
    let value: Value
    /// The value as it was found on disk; nil if it is new.
    var held: Held?
    let cost: Int
    /// The bytes to store on disk; nil if they are already there.
    var bytes: Data?
    /// The id of the entry that was found on disk and could not be decoded.
    var unusable: Int64?
  }

  /// The cache on disk.
  public let disk: DiskCache
  /// The approximate size of an entry in memory besides its key and the bytes of its value.
  private static var entryCost: Int { 200 }
  /// A value that can't be encoded, so that its size isn't known, is assumed to take a 64th of the
  /// memory.
  private static var unknownShare: Int { 64 }

  private let memory: MemoryCache<String, Held>
  private let coding: Coding
  private let origin = ChangeOrigin()
  // The disk's loads, so that a change made directly to it ends the loads of this object, too.
  private var loads: SingleFlight<String, LoadedValue> { disk.loads }
  private let locks = KeyLocks()
  private let pendingRemovals = PendingRemovals()

  init(over disk: DiskCache, memorySizeLimit: Int, coding: Coding) {
    self.disk = disk
    self.coding = coding
    memory = MemoryCache(totalCostLimit: memorySizeLimit)
  }

  // MARK: - Values

  /// Returns the value for a key, from memory or from disk; nil if none is valid.
  ///
  /// A value that is only on disk is decoded each time: ``value(for:timeToLive:tags:orLoad:)``
  /// keeps it in memory.
  public func value(for key: String) -> Value? {
    defer { disk.database.report() }
    if let held = current(key) { return held.value }
    // Not kept in memory: without a ticket it could replace a value that was set since the look-up.
    guard isOnDisk(key) else { return disk.count(nil) }
    return disk.count(disk.find(key, by: origin)?.contents.flatMap(coding.decode))
  }

  /// Returns the value for a key: from memory, from disk, or from a closure, whose value is then
  /// set in both.
  ///
  /// ```swift
  /// let profile = try await cache.value(for: "me", timeToLive: .seconds(300)) { try await download("me") }
  /// ```
  ///
  /// Of all simultaneous requests for a key through this object, one reads and loads. A load must
  /// not ask this object or `disk` for its own key, since it would wait for itself. A loaded value
  /// isn't kept if the key was set meanwhile, by any process, or if this object or `disk` removed
  /// it; a removal by another object or process makes no difference.
  ///
  /// - Parameters:
  ///   - timeToLive: How long a loaded value is valid; nil means as long as the limits of `disk`
  ///     say.
  ///   - tags: Names that many entries may share, to remove them together.
  /// - Throws: What `load` throws, which is not stored, and `CancellationError` if the task is
  ///   cancelled.
  public func value(
    for key: String, timeToLive: Duration? = nil, tags: Set<String> = [],
    orLoad load: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    defer { disk.database.report() }
    let new = DiskCache.NewEntry(key, timeToLive: timeToLive, tags: tags)
    if let held = current(key) {
      refresh(held, new, load)
      return held.value
    }
    let loaded = try await loads.value(for: key) { [self] in
      // On disk first, within the load: of all requests that wait, one reads and decodes.
      let (found, unusable) = found(key)
      if let found { return LoadedValue(value: found, bytes: nil) }
      let value = try await load()
      let bytes = coding.encode(value)
      let loaded = Loaded(
        value: value, cost: cost(of: bytes, key), bytes: bytes, unusable: unusable)
      return LoadedValue(value: loaded, bytes: nil)
    } keep: { [self] in
      keep($0, as: new, $1).afterwards
    }
    // Another cache over the same disk may load a value of another type for the key.
    guard let loaded = loaded.value as? Loaded else { return try await load() }
    return loaded.value
  }

  /// Loads a value again in the background if it is old.
  private func refresh(
    _ held: Held, _ new: DiskCache.NewEntry,
    _ load: @escaping @Sendable () async throws -> Value
  ) {
    disk.refresh(new.key, held.stored, isCurrent: { memory.peek(new.key) === held }) { [self] in
      let value = try await load()
      let bytes = coding.encode(value)
      let loaded = Loaded(
        value: value, cost: cost(of: bytes, new.key), bytes: bytes, unusable: held.entry)
      return LoadedValue(value: loaded, bytes: nil)
    } keep: { [self] in
      keep($0, as: new, $1)
    }
  }

  private func keep(
    _ loaded: LoadedValue, as new: DiskCache.NewEntry, _ ticket: LoadTicket
  ) -> DiskCache.StoreResult {
    guard let loaded = loaded.value as? Loaded else { return (false, nil) }
    let (left, isOnDisk) = keep(loaded, as: new, from: ticket)
    return (
      isOnDisk,
      { [self] in
        finish(left)
        disk.database.report()
      }
    )
  }

  /// Sets the value for a key, in memory and on disk.
  ///
  /// - Returns: Whether the value is stored on disk. False means that it is only in memory, or
  ///   nowhere if it is too large for that, too, for the reasons of
  ///   ``DiskCache/setData(_:for:timeToLive:tags:)``. This object no longer finds an older value on
  ///   disk.
  @discardableResult
  public func setValue(
    _ value: Value, for key: String, timeToLive: Duration? = nil, tags: Set<String> = []
  ) -> Bool {
    defer { disk.database.report() }
    let bytes = coding.encode(value)
    let new = DiskCache.NewEntry(key, timeToLive: timeToLive, tags: tags)
    let loaded = Loaded(value: value, cost: cost(of: bytes, key), bytes: bytes)
    let (left, isOnDisk) = keep(loaded, as: new)
    finish(left)
    return isOnDisk
  }

  /// Removes the value for a key, and makes a running load for it have no effect.
  ///
  /// - Returns: Whether it is removed from the disk. False for the reasons of
  ///   ``DiskCache/removeValue(for:)``. Then this object no longer finds the value, but other
  ///   processes do.
  @discardableResult
  public func removeValue(for key: String) -> Bool {
    defer { disk.database.report() }
    let (left, isRemoved) = locks.withLock(of: key) {
      let isRemoved = pendingRemovals.remove(key, from: disk, by: origin)
      loads.forget(key)
      // The disk first, then the loads, then memory: a load that began before finds its ticket
      // cancelled and stores nothing.
      return (Left(memory.take(key)), isRemoved)
    }
    finish(left)
    return isRemoved
  }

  /// Removes all values that have a tag, and all values from memory.
  ///
  /// - Returns: Whether all are removed, as of ``DiskCache/removeValues(taggedWith:)``. False makes
  ///   this object find nothing on the disk until it has been emptied, which the next set tries.
  @discardableResult
  public func removeValues(taggedWith tag: String) -> Bool {
    removeMany { $0.removeEntries(taggedWith: tag) }
  }

  /// Removes all values that were stored at a moment or later, and all values from memory.
  ///
  /// - Returns: Whether all are removed, as of ``removeValues(taggedWith:)``.
  @discardableResult
  public func removeValues(storedSince moment: Date) -> Bool {
    removeMany { $0.removeEntries(storedSince: moment) }
  }

  /// Removes all values.
  ///
  /// - Returns: Whether all are removed, as of ``removeValues(taggedWith:)``.
  @discardableResult
  public func removeAll() -> Bool {
    let isEmpty = removeMany { $0.removeEntries() }
    disk.database.reclaimSpace()
    return isEmpty
  }

  /// What the memory of this object has done.
  public var memoryStatistics: CacheStatistics { memory.statistics }

  // MARK: - Coherence of memory and disk

  /// The value in memory, if it is still the one on disk.
  private func current(_ key: String) -> Held? {
    guard let held = memory.value(for: key) else { return nil }
    let moment = WallClock.milliseconds(disk.database.now())
    // Before the comparison below: a change in between must make the value be compared again.
    let token = disk.database.token(for: origin)
    if held.isCurrent(at: moment, token) {
      prolong(held)
      return held
    }
    guard held.isValid(at: moment), let token, let id = held.id, disk.identify(key) == id else {
      // Left in memory: a value that is set later replaces it, and the policy evicts it otherwise.
      return nil
    }
    held.confirm(token)
    prolong(held)
    return held
  }

  /// Lets a use in memory extend the entry's life on disk, too (``DiskCache/Limits/timeToIdle``).
  private func prolong(_ held: Held) {
    guard let expires = disk.prolonged(held.stored) else { return }
    if let id = held.id, !disk.prolong(id, until: expires, by: origin) { return }
    // Not in memory alone: the entry would expire on disk, and be found here for longer than by
    // others.
    held.prolong(until: expires)
  }

  /// Looks a key up on disk; returns its value, or the id of an entry that can't be decoded.
  private func found(_ key: String) -> (Loaded?, unusable: Int64?) {
    // Before the look-up: a change after it must make the value be compared again.
    let token = disk.database.token(for: origin)
    guard isOnDisk(key), let found = disk.find(key, by: origin) else {
      return (disk.count(nil), nil)
    }
    guard let bytes = found.contents, let value = coding.decode(bytes) else {
      return (disk.count(nil), found.entry.id)
    }
    let held = Held(value, found.stored, token)
    // With the token from before the look-up: at worst the value is compared once more than
    // necessary.
    let loaded = Loaded(value: value, held: held, cost: cost(of: bytes, key))
    return (disk.count(loaded), nil)
  }

  /// What a value costs in memory: its bytes as on disk, its key and the entry.
  private func cost(of bytes: Data?, _ key: String) -> Int {
    (bytes?.count ?? memory.totalCostLimit / Self.unknownShare) + key.utf8.count + Self.entryCost
  }

  /// Values that have left memory, and are released once no lock is held.
  private struct Left: Sendable {
    var removed = RemovedEntries<String, Held>()
    var others = RemovedEntries<String, Held>()
    var value: Held?

    init() {}

    init(_ taken: (removed: RemovedEntries<String, Held>, value: Held?)) {
      (removed, value) = taken
    }
  }

  private func finish(_ left: Left) {
    memory.finish(left.removed)
    memory.finish(left.others)
  }

  /// Stores a value in both, under the key's lock; returns whether it is on disk.
  ///
  /// - Parameter ticket: The ticket of the load that produced the value, which isn't kept if the
  ///   key was changed meanwhile; nil for a value that is set directly.
  private func keep(
    _ loaded: Loaded, as new: DiskCache.NewEntry, from ticket: LoadTicket? = nil
  ) -> (left: Left, isOnDisk: Bool) {
    locks.withLock(of: new.key) {
      if let ticket, !ticket.isValid { return (Left(), false) }
      defer { if ticket == nil { loads.forget(new.key) } }
      if let held = loaded.held {
        // It is on disk already. Its time to live is that of the disk's entry, which `Held`
        // compares itself.
        let removed = memory.store(held, new.key, cost: loaded.cost, timeToLive: nil).removed
        return (Left((removed, nil)), true)
      }
      var new = new
      (new.ticket, new.unusable) = (ticket, loaded.unusable)
      return keepNew(loaded, as: new)
    }
  }

  /// Stores a value that isn't on disk yet. Requires the key's lock.
  ///
  /// Invariant: afterwards this object finds either the new value, or nothing of an older one: an
  /// older entry on disk that the new value could not replace is removed, or pending removal.
  /// Memory gets the token from before the write, so that a change by others since then makes the
  /// value be compared.
  private func keepNew(_ loaded: Loaded, as new: DiskCache.NewEntry) -> (left: Left, isOnDisk: Bool)
  {
    let key = new.key
    let token = disk.database.token(for: origin)
    var stored: DiskCache.Stored?
    // Not onto a disk that still has to be cleared: the clearing would remove the new value, too.
    if let bytes = loaded.bytes, pendingRemovals.clearIfNeeded({ disk.removeEntries() }) {
      stored = disk.setData(bytes, for: new, by: origin)
    }
    if stored != nil {
      pendingRemovals.remove(key)
    } else if let ticket = new.ticket {
      // Not stored since the key was changed during the load, by this object (ticket) or another
      // process (entry)? Then the loaded value isn't kept in memory either. An entry that is
      // pending removal doesn't count.
      let found = pendingRemovals.mayContain(key) ? nil : disk.identify(key)
      if !ticket.isValid || found != nil && found?.number != new.unusable { return (Left(), false) }
    } else {
      // The previous value must not be found on disk once memory has evicted this one.
      _ = pendingRemovals.remove(key, from: disk, by: origin)
    }
    let removed = memory.store(
      Held(loaded.value, stored ?? times(of: new), token, entry: new.unusable), key,
      cost: loaded.cost,
      timeToLive: new.timeToLive ?? disk.limits.timeToLive
    ).removed
    // Another process may have replaced the entry between the write and `memory.store`. Then memory
    // must not have this value.
    guard let stored, disk.identify(key) != stored.id else {
      return (Left((removed, nil)), stored != nil)
    }
    let taken = memory.take(key)
    var left = Left((removed, taken.value))
    left.others = taken.removed
    return (left, true)
  }

  /// The times of a value that isn't stored on disk.
  private func times(of new: DiskCache.NewEntry) -> DiskCache.Stored {
    disk.times(of: new, storedAt: WallClock.milliseconds(disk.database.now()))
  }

  /// Whether the key's value on disk may be used: not one that is pending removal, which is tried
  /// again here.
  private func isOnDisk(_ key: String) -> Bool {
    guard pendingRemovals.mayContain(key) else { return true }
    // This may remove a value that another process has set since, which can't be told from the old
    // one. Keys that this object has set since are not pending any more.
    return locks.withLock(of: key) {
      !pendingRemovals.mayContain(key)
        || pendingRemovals.isClear && pendingRemovals.remove(key, from: disk, by: origin)
    }
  }

  private func removeMany(_ remove: (DiskCache) -> Bool) -> Bool {
    defer { disk.database.report() }
    let isRemoved = locks.withAllLocks {
      let isRemoved = remove(disk)
      // Which of them are left isn't known, so this object finds nothing until the disk is empty.
      if !isRemoved { pendingRemovals.addAll() }
      loads.forgetAll()
      return isRemoved
    }
    // After the locks, since values' `deinit` is the program's code. A get in between may still find
    // a value, as one before this call does.
    memory.removeAll()
    return isRemoved
  }

  /// A value in memory, with the identity of its entry on disk.
  private final class Held: Sendable {
    let value: Value
    /// The id of the entry on disk that is this value, or of an older one that this value has
    /// replaced in memory alone.
    let entry: Int64?
    private let state: Mutex<(stored: DiskCache.Stored, token: ChangeToken?)>

    init(
      _ value: Value, _ stored: DiskCache.Stored, _ token: ChangeToken?, entry: Int64? = nil
    ) {
      self.value = value
      self.entry = stored.id?.number ?? entry
      state = Mutex((stored, token))
    }

    var stored: DiskCache.Stored { state.withLock { $0.stored } }

    func prolong(until expires: Int64) {
      state.withLock { state in
        let old = state.stored
        state.stored = DiskCache.Stored(
          id: old.id, stored: old.stored, expires: expires, isIdle: old.isIdle)
      }
    }

    /// Nil if the disk doesn't have the value.
    var id: DiskCache.Entry.ID? { stored.id }

    func isValid(at moment: Int64) -> Bool { stored.isValid(at: moment) }

    /// Whether nobody else has changed the disk since the value was compared with it.
    func isCurrent(at moment: Int64, _ now: ChangeToken?) -> Bool {
      guard isValid(at: moment), state.withLock({ $0.token }) == now else { return false }
      // Without a token others' changes are unknown, which only matters to a value that is on disk.
      return now != nil || id == nil
    }

    func confirm(_ now: ChangeToken) { state.withLock { $0.token = now } }
  }
}

extension LayeredCache where Value == Data {
  /// A cache of bytes on top of one on disk.
  ///
  /// - Parameter memorySizeLimit: The bytes of values that memory holds.
  public convenience init(over disk: DiskCache, memorySizeLimit: Int = defaultMemorySizeLimit) {
    self.init(
      over: disk, memorySizeLimit: memorySizeLimit, coding: Coding(encode: { $0 }, decode: { $0 }))
  }
}

extension LayeredCache where Value: Codable {
  /// A cache of values on top of one on disk, which stores them as JSON.
  ///
  /// - Parameter memorySizeLimit: The bytes of values that memory holds, counted as JSON.
  public convenience init(over disk: DiskCache, memorySizeLimit: Int = defaultMemorySizeLimit) {
    self.init(
      over: disk, memorySizeLimit: memorySizeLimit,
      coding: Coding(encode: { ValueCoding.encode($0) }, decode: { ValueCoding.decode($0) }))
  }
}
