public import Foundation
import Synchronization

/// Values in memory, over the same values on disk, over a body that loads them.
///
/// ```swift
/// let cache = LayeredCache<Profile>(over: disk)
/// let profile = try await cache.value(for: "me") { try await download("me") }
/// ```
///
/// A value in memory costs a look-up there and a read of a word of shared memory; one on disk what ``DiskCache`` says
/// and its decoding. Whatever is set or removed here is set or removed in both. Other processes' changes are noticed at
/// the next look-up: a word of shared memory shows that something has changed, and then a value in memory is compared
/// with the one on disk, by its number, once. The same is true of changes made directly to `disk`.
///
/// Values that can't be stored on disk stay in memory, as long as the limits of `disk` say and nothing else changes the cache
/// on disk.
public final class LayeredCache<Value: Sendable>: Sendable {
  /// The bytes of values that memory holds by default: 32 MiB.
  public static var defaultMemorySizeLimit: Int { 32 << 20 }

  /// How values become bytes.
  struct Coding: Sendable {
    let encode: @Sendable (Value) -> Data?
    let decode: @Sendable (Data) -> Value?
  }

  private struct Loaded: Sendable {
    let value: Value
    /// The value as the disk has it; nil if it is new.
    var held: Held?
    let cost: Int
    /// The bytes to store on disk; nil if they are already there.
    var bytes: Data?
    /// The number of the entry that was found on disk and could not be used.
    var unusable: Int64?
  }

  /// The cache on disk.
  public let disk: DiskCache
  /// The approximate size of an entry in memory besides its key and the bytes of its value.
  private static var entryCost: Int { 200 }
  /// The assumed share of the memory of a value that can't be encoded, so its size isn't known.
  private static var unknownShare: Int { 64 }

  private let memory: MemoryCache<String, Held>
  private let coding: Coding
  private let origin = ChangeOrigin()
  // The disk's loads, so that a change made directly to it ends the loads of this object, too.
  private var flights: SingleFlight<String, LoadedValue> { disk.flights }
  private let locks = KeyLocks()
  private let unremoved = UnremovedKeys()

  init(over disk: DiskCache, memorySizeLimit: Int, coding: Coding) {
    self.disk = disk
    self.coding = coding
    memory = MemoryCache(totalCostLimit: memorySizeLimit)
  }

  // MARK: - Values

  /// The value for a key, from memory or from disk; nil if none is valid.
  public func value(for key: String) -> Value? {
    defer { disk.database.report() }
    if let held = current(key) { return held.value }
    // Not kept in memory: only loaded values are, since a load knows whether the key was changed meanwhile.
    guard isOnDisk(key) else { return disk.count(nil) }
    return disk.count(disk.find(key, by: origin)?.contents.flatMap(coding.decode))
  }

  /// The value for a key, from memory, from disk, or from a body whose value is then set in both.
  ///
  /// Of all simultaneous requests for a key through this object, one reads and loads. A load must not ask this object
  /// or `disk` for its own key, since it would wait for itself. A loaded value isn't kept if the key was set meanwhile, by
  /// any process, or if this object or `disk` removed it; a removal by another object or process makes no difference.
  ///
  /// - Parameters:
  ///   - timeToLive: How long a loaded value is valid; nil means as long as the limits of `disk` say.
  ///   - tags: Names that many entries may share, to remove them together.
  /// - Throws: What `load` throws, which is not stored, and `CancellationError` if the task is cancelled.
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
    let loaded = try await flights.value(for: key) { [self] in
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
  ) -> DiskCache.Keeping {
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
  /// - Returns: Whether the value is stored on disk. False means that it is only in memory, or nowhere if it is too
  ///   large for that, too, for the reasons of ``DiskCache/setData(_:for:timeToLive:tags:)``. This object no longer
  ///   finds an older value on disk.
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
  /// - Returns: Whether it is removed from the disk. False for the reasons of ``DiskCache/removeValue(for:)``. Then
  ///   this object no longer finds the value, but other processes do.
  @discardableResult
  public func removeValue(for key: String) -> Bool {
    defer { disk.database.report() }
    let (left, isRemoved) = locks.withLock(of: key) {
      let isRemoved = unremoved.remove(key, from: disk, by: origin)
      flights.forget(key)
      return (Left(memory.take(key)), isRemoved)
    }
    finish(left)
    return isRemoved
  }

  /// Removes all values that have a tag, and all values from memory.
  ///
  /// - Returns: Whether all are removed, as of ``DiskCache/removeValues(taggedWith:)``. False makes this object find
  ///   nothing on the disk until it has been emptied, which the next set tries.
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
    disk.database.giveBackRoom()
    return isEmpty
  }

  /// What the memory of this object has done.
  public var memoryStatistics: CacheStatistics { memory.statistics }

  // MARK: - Between memory and disk

  /// What memory holds for a key, if it is still what the disk has.
  private func current(_ key: String) -> Held? {
    guard let held = memory.value(for: key) else { return nil }
    let moment = WallClock.milliseconds(disk.database.now())
    let token = disk.database.token(for: origin)
    if held.isCurrent(at: moment, token) {
      prolong(held)
      return held
    }
    guard held.isValid(at: moment), let token, let id = held.id, disk.identify(key) == id else {
      return nil
    }
    held.confirm(token)
    prolong(held)
    return held
  }

  /// A use in memory lets an entry on disk live longer, too.
  private func prolong(_ held: Held) {
    guard let expires = disk.prolonged(held.stored) else { return }
    if let id = held.id, !disk.prolong(id, until: expires, by: origin) { return }
    held.prolong(until: expires)
  }

  /// What the disk has for a key, or the number of the entry that can't be used.
  private func found(_ key: String) -> (Loaded?, unusable: Int64?) {
    // Before the look-up: a change after the look-up must make the value be compared.
    let token = disk.database.token(for: origin)
    guard isOnDisk(key), let found = disk.find(key, by: origin) else {
      return (disk.count(nil), nil)
    }
    guard let bytes = found.contents, let value = coding.decode(bytes) else {
      return (disk.count(nil), found.entry.id)
    }
    let held = Held(value, found.stored, token)
    let loaded = Loaded(value: value, held: held, cost: cost(of: bytes, key))
    return (disk.count(loaded), nil)
  }

  private func cost(of bytes: Data?, _ key: String) -> Int {
    (bytes?.count ?? memory.totalCostLimit / Self.unknownShare) + key.utf8.count + Self.entryCost
  }

  /// Values that have left memory, and are dropped once no lock is held.
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

  /// Keeps a value in both; returns whether it is on disk.
  ///
  /// - Parameter ticket: The ticket of the load that produced the value, which isn't kept if the key was changed
  ///   meanwhile; nil for a value that is set directly.
  private func keep(
    _ loaded: Loaded, as new: DiskCache.NewEntry, from ticket: LoadTicket? = nil
  ) -> (left: Left, isOnDisk: Bool) {
    locks.withLock(of: new.key) {
      if let ticket, !ticket.isValid { return (Left(), false) }
      defer { if ticket == nil { flights.forget(new.key) } }
      if let held = loaded.held {
        let removed = memory.store(held, new.key, cost: loaded.cost, timeToLive: nil).removed
        return (Left((removed, nil)), true)
      }
      var new = new
      (new.ticket, new.unusable) = (ticket, loaded.unusable)
      return keepNew(loaded, as: new)
    }
  }

  private func keepNew(_ loaded: Loaded, as new: DiskCache.NewEntry) -> (left: Left, isOnDisk: Bool)
  {
    let key = new.key
    let token = disk.database.token(for: origin)
    var stored: DiskCache.Stored?
    if let bytes = loaded.bytes, unremoved.mend(disk) {
      stored = disk.setData(bytes, for: new, by: origin)
    }
    if stored != nil {
      unremoved.remove(key)
    } else if let ticket = new.ticket {
      // The key was changed while its value was loaded, or another process has set it. What should have been removed is
      // nobody's value.
      let found = unremoved.mayHave(key) ? nil : disk.identify(key)
      if !ticket.isValid || found != nil && found?.number != new.unusable { return (Left(), false) }
    } else {
      // The previous value must not come back when memory drops this one.
      _ = unremoved.remove(key, from: disk, by: origin)
    }
    let removed = memory.store(
      Held(loaded.value, stored ?? times(of: new), token, entry: new.unusable), key,
      cost: loaded.cost,
      timeToLive: new.timeToLive ?? disk.limits.timeToLive
    ).removed
    // Another process may have changed the disk after this one did, and memory before.
    guard let stored, disk.identify(key) != stored.id else {
      return (Left((removed, nil)), stored != nil)
    }
    let taken = memory.take(key)
    var left = Left((removed, taken.value))
    left.others = taken.removed
    return (left, true)
  }

  /// How long a value lives that the disk hasn't taken.
  private func times(of new: DiskCache.NewEntry) -> DiskCache.Stored {
    disk.times(of: new, storedAt: WallClock.milliseconds(disk.database.now()))
  }

  /// Whether the disk's value for a key may be found: not one that should have been removed and could not be.
  private func isOnDisk(_ key: String) -> Bool {
    guard unremoved.mayHave(key) else { return true }
    // Values that another process has set meanwhile go, too. Values that this object has set are not among these keys
    // any more.
    return locks.withLock(of: key) {
      !unremoved.mayHave(key)
        || unremoved.isWhole && unremoved.remove(key, from: disk, by: origin)
    }
  }

  private func removeMany(_ remove: (DiskCache) -> Bool) -> Bool {
    defer { disk.database.report() }
    let isRemoved = locks.withAllLocks {
      let isRemoved = remove(disk)
      if !isRemoved { unremoved.addAll() }
      flights.forgetAll()
      return isRemoved
    }
    memory.removeAll()
    return isRemoved
  }

  /// A value in memory, with its identification on disk.
  private final class Held: Sendable {
    let value: Value
    /// The number of the entry on disk that is this value, or an older one that this value has replaced in memory alone.
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

    /// Whether the disk is unchanged by others since the value was compared with it.
    func isCurrent(at moment: Int64, _ now: ChangeToken?) -> Bool {
      guard isValid(at: moment), state.withLock({ $0.token }) == now else { return false }
      // Without a word of shared memory, others' changes are unknown.
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

// MARK: - Locks of keys

/// Locks that each guard the changes of some keys, so that changes of others needn't wait for a disk.
final class KeyLocks: Sendable {
  private final class Lock: Sendable {
    let mutex = Mutex(())
  }

  private static let count = 64
  private let locks = (0..<count).map { _ in Lock() }

  /// Runs a body while nothing else changes the key. The body must not run user code.
  func withLock<Result: Sendable>(of key: String, _ body: () -> Result) -> Result {
    let number = Int(UInt(bitPattern: key.hashValue) % UInt(Self.count))
    return locks[number].mutex.withLock { _ in body() }
  }

  /// Runs a body while nothing else changes any key.
  func withAllLocks<Result: Sendable>(_ body: () -> Result) -> Result {
    withLocks(locks[...], body)
  }

  // In a fixed order, so that two callers don't wait for each other.
  private func withLocks<Result: Sendable>(
    _ rest: ArraySlice<Lock>, _ body: () -> Result
  ) -> Result {
    guard let first = rest.first else { return body() }
    return first.mutex.withLock { _ in withLocks(rest.dropFirst(), body) }
  }
}
