public import Foundation
import Synchronization

extension DiskCache {
  /// Returns the bytes that were set for a key, or those that a closure loads, which are then set.
  ///
  /// ```swift
  /// let image = try await cache.data(for: "cat", orLoad: { try await download("cat") })
  /// ```
  ///
  /// Bytes that are older than ``Limits/refreshAfter`` are returned, and loaded again in the
  /// background.
  ///
  /// Of all simultaneous requests for a key through this object, one loads; other processes may
  /// load, too. A load must not request its own key, since it would wait for itself. Loaded bytes
  /// aren't stored if the key was set meanwhile, by any process, or if this object removed it; a
  /// removal by another object or process makes no difference.
  ///
  /// - Parameters:
  ///   - timeToLive: How long loaded bytes are valid; nil means as long as the cache's limits say.
  ///   - tags: Names that many entries may share, to remove them together.
  /// - Throws: What `load` throws, which is not stored, and `CancellationError` if the task is
  ///   cancelled.
  public func data(
    for key: String, timeToLive: Duration? = nil, tags: Set<String> = [],
    orLoad load: @escaping @Sendable () async throws -> Data
  ) async throws -> Data {
    let new = NewEntry(key, timeToLive: timeToLive, tags: tags)
    if let (data, stored) = current(key, { $0 }) {
      refresh(key, stored, isCurrent: { identify(key) == stored.id }) {
        let data = try await load()
        return LoadedValue(value: data, bytes: data, unusable: stored.id?.number)
      } keep: { [self] in
        keep($0, as: new, $1)
      }
      return data
    }
    let loaded = try await loads.value(for: key) { [self] in
      // Again: another load may have stored the value since `current`, and have left the table.
      let found = find(key)
      if let contents = found?.contents { return LoadedValue(value: contents, bytes: nil) }
      let data = try await load()
      return LoadedValue(value: data, bytes: data, unusable: found?.entry.id)
    } keep: { [self] in
      keep($0, as: new, $1).afterwards
    }
    // Another call may load a value of another type for the key.
    if let data = loaded.value as? Data { return data }
    return try await load()
  }

  /// The value that was set for a key, or the one that a body loads, which is then set.
  ///
  /// Like ``data(for:timeToLive:tags:orLoad:)`` for values in the coding of
  /// ``setValue(_:for:timeToLive:tags:)``. A value that can't be encoded is returned and not
  /// stored.
  public func value<Value: Codable & Sendable>(
    _ type: Value.Type = Value.self, for key: String, timeToLive: Duration? = nil,
    tags: Set<String> = [], orLoad load: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    let new = NewEntry(key, timeToLive: timeToLive, tags: tags)
    if let (value, stored) = current(key, { ValueCoding.decode($0) as Value? }) {
      refresh(key, stored, isCurrent: { identify(key) == stored.id }) {
        let value = try await load()
        return LoadedValue(
          value: value, bytes: ValueCoding.encode(value), unusable: stored.id?.number)
      } keep: { [self] in
        keep($0, as: new, $1)
      }
      return value
    }
    let loaded = try await loads.value(for: key) { [self] in
      // Again: another load may have stored the value since `current`, and have left the table.
      let found = find(key)
      if let value: Value = found?.contents.flatMap(ValueCoding.decode) {
        return LoadedValue(value: value, bytes: nil)
      }
      let value = try await load()
      return LoadedValue(
        value: value, bytes: ValueCoding.encode(value), unusable: found?.entry.id)
    } keep: { [self] in
      keep($0, as: new, $1).afterwards
    }
    if let value = loaded.value as? Value { return value }
    // The call that was joined loads a value of another type for the key.
    return try await load()
  }

  /// The value of a key, and what identifies it.
  private func current<Value>(_ key: String, _ decode: (Data) -> Value?) -> (Value, Stored)? {
    defer { database.report() }
    return count(
      find(key).flatMap { found in
        found.contents.flatMap(decode).map { ($0, found.stored) }
      })
  }

  /// Stores a loaded value, and leaves problems to be reported when no lock is held.
  private func keep(
    _ loaded: LoadedValue, as new: NewEntry, _ ticket: LoadTicket
  ) -> StoreResult {
    guard let bytes = loaded.bytes else { return (false, nil) }
    var new = new
    (new.ticket, new.unusable) = (ticket, loaded.unusable)
    let stored = setData(bytes, for: new)
    return (stored != nil, { [self] in database.report() })
  }
}

/// A loaded value, and the bytes that are stored of it. Untyped, since one table of loads serves
/// values of all types.
struct LoadedValue: Sendable {
  let value: any Sendable
  /// Nil when the value was in the cache already, or can't be encoded.
  let bytes: Data?
  /// The id of the entry that was found and could not be decoded.
  var unusable: Int64?
}

// MARK: - Refreshing

extension DiskCache {
  /// A load that has failed is tried again after an eighth of ``Limits/refreshAfter``.
  private static let retryShare = 8
  /// A use is written down if the last one that was is an eighth of ``Limits/timeToIdle`` ago: a
  /// get would cost a transaction otherwise.
  private static let idleShare: Int64 = 8

  // MARK: - Time to idle

  /// The new expiry of an entry that is used now; nil if the use makes no difference, or too little
  /// to be written down.
  func prolonged(_ stored: Stored) -> Int64? {
    guard stored.isIdle, let timeToIdle = limits.timeToIdle, stored.expires != WallClock.never
    else { return nil }
    let now = WallClock.milliseconds(database.now())
    let idle = WallClock.expiry(of: timeToIdle, from: now)
    let expires = min(idle, WallClock.expiry(of: limits.timeToLive, from: stored.stored))
    // At least a millisecond, the unit of the file: a step of 0 would write with each get.
    let step = idle == WallClock.never ? 1 : max(1, (idle - now) / Self.idleShare)
    return expires > stored.expires && expires - stored.expires >= step ? expires : nil
  }

  /// Extends an entry's life, and returns whether that was written down.
  @discardableResult
  func prolong(_ id: Entry.ID, until expires: Int64, by origin: ChangeOrigin? = nil) -> Bool {
    database.writeWithoutWaiting(by: origin) { transaction, open in
      // The file may have been replaced since the entry was found, and the number be another
      // entry's.
      guard open.generation == id.generation else { return false }
      return try transaction.prolong(id.number, until: expires)
    }
  }

  // MARK: - Refreshing

  /// Whether a loaded value was stored on disk, and what is left to do once no lock is held.
  typealias StoreResult = (
    isOnDisk: Bool, afterwards: SingleFlight<String, LoadedValue>.Afterwards?
  )

  /// Loads a value again in the background if it is old, and nothing else does.
  ///
  /// - Parameters:
  ///   - stored: The value that is returned meanwhile.
  ///   - isCurrent: Whether it is still the key's value.
  ///   - load: Loads the value.
  ///   - keep: Stores it.
  func refresh(
    _ key: String, _ stored: Stored, isCurrent: () -> Bool,
    load: @escaping @Sendable () async throws -> LoadedValue,
    keep: @escaping @Sendable (LoadedValue, LoadTicket) -> StoreResult
  ) {
    guard let refreshAfter = limits.refreshAfter else { return }
    let now = WallClock.milliseconds(database.now())
    guard WallClock.expiry(of: refreshAfter, from: stored.stored) <= now,
      refreshes.claim(key, at: now, latest: retry(refreshAfter, from: now))
    else { return }
    // Another load may have ended between the caller's look-up and the claim.
    guard isCurrent() else { return refreshes.end(key) }
    let hasBegun = loads.begin(for: key) {
      do {
        return try await load()
      } catch {
        self.postponeRefresh(key, refreshAfter)
        throw error
      }
    } keep: { loaded, ticket in
      let (isOnDisk, afterwards) = keep(loaded, ticket)
      // A value that the disk doesn't take, for whatever reason, is not loaded by each request.
      if isOnDisk {
        self.refreshes.end(key)
      } else {
        self.postponeRefresh(key, refreshAfter)
      }
      return afterwards
    }
    // The load that is running may be one that finds the value, and refreshes nothing.
    if !hasBegun { postponeRefresh(key, refreshAfter) }
  }

  private func postponeRefresh(_ key: String, _ refreshAfter: Duration) {
    let now = WallClock.milliseconds(database.now())
    refreshes.postpone(key, until: retry(refreshAfter, from: now))
  }

  /// When a load that fails is tried again.
  private func retry(_ refreshAfter: Duration, from now: Int64) -> Int64 {
    // `Int64.max` means that a load is running.
    min(WallClock.expiry(of: refreshAfter / Self.retryShare, from: now), WallClock.never - 1)
  }
}

/// The keys whose values are being refreshed, and the times of the next attempts for those that
/// could not be.
final class RefreshLog: Sendable {
  /// The maximum number of keys; beyond it failures are forgotten, and tried again sooner.
  private static let limit = 10_000

  /// The earliest time of the next refresh of a key; `Int64.max` while one is running.
  private let times = Mutex<[String: Int64]>([:])

  /// Whether the caller has to refresh a key's value, and then calls ``end(_:)`` or
  /// ``postpone(_:until:)``.
  ///
  /// - Parameter latest: The time to which a refresh would be postponed now. A later time in the
  ///   table is from before the clock was set back, and doesn't count.
  func claim(_ key: String, at now: Int64, latest: Int64) -> Bool {
    times.withLock { times in
      if let time = times[key], time > now, time <= latest || time == .max { return false }
      // Running refreshes stay, or a second load of such a key would begin.
      if times.count >= Self.limit { times = times.filter { $0.value == .max } }
      times[key] = .max
      return true
    }
  }

  /// Records that a refresh has ended, so that the key may be refreshed again once its value is
  /// old.
  func end(_ key: String) { times.withLock { $0[key] = nil } }

  /// Records that a refresh has failed, and when the next one may begin.
  func postpone(_ key: String, until time: Int64) { times.withLock { $0[key] = time } }
}
