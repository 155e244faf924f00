import Foundation

extension DiskCache {
  /// The part of ``Limits/refreshAfter`` after which a load that has failed is tried again.
  private static let retryShare = 8
  /// The part of ``Limits/timeToIdle`` that has to pass before a use is written down.
  private static let idleShare: Int64 = 8

  // MARK: Time to idle

  /// When an entry that is used now expires; nil if that makes no difference, or too little to be written down.
  func prolonged(_ stored: Stored) -> Int64? {
    guard stored.isIdle, let timeToIdle = limits.timeToIdle, stored.expires != WallClock.never
    else { return nil }
    let now = WallClock.milliseconds(database.now())
    let idle = WallClock.expiry(of: timeToIdle, from: now)
    let expires = min(idle, WallClock.expiry(of: limits.timeToLive, from: stored.stored))
    let step = idle == WallClock.never ? 1 : max(1, (idle - now) / Self.idleShare)
    return expires > stored.expires && expires - stored.expires >= step ? expires : nil
  }

  /// Lets an entry live longer, and returns whether that was written down.
  @discardableResult
  func prolong(_ id: Entry.ID, until expires: Int64, by origin: ChangeOrigin? = nil) -> Bool {
    database.writeWithoutWaiting(by: origin) { transaction, open in
      guard open.generation == id.generation else { return false }
      return try transaction.prolong(id.number, until: expires)
    }
  }

  // MARK: Refreshing

  /// Whether a loaded value was stored on disk, and what is left to do once no lock is held.
  typealias Keeping = (isOnDisk: Bool, afterwards: SingleFlight<String, LoadedValue>.Afterwards?)

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
    keep: @escaping @Sendable (LoadedValue, LoadTicket) -> Keeping
  ) {
    guard let refreshAfter = limits.refreshAfter else { return }
    let now = WallClock.milliseconds(database.now())
    guard WallClock.expiry(of: refreshAfter, from: stored.stored) <= now,
      refreshes.claim(key, at: now, latest: retry(refreshAfter, from: now))
    else { return }
    // Another load may have ended between the caller's look-up and the claim.
    guard isCurrent() else { return refreshes.end(key) }
    let hasBegun = flights.begin(for: key) {
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
    // Another load may only look for the value.
    if !hasBegun { postponeRefresh(key, refreshAfter) }
  }

  private func postponeRefresh(_ key: String, _ refreshAfter: Duration) {
    let now = WallClock.milliseconds(database.now())
    refreshes.postpone(key, until: retry(refreshAfter, from: now))
  }

  /// When a load that fails is tried again.
  private func retry(_ refreshAfter: Duration, from now: Int64) -> Int64 {
    // The greatest number means that a load runs.
    min(WallClock.expiry(of: refreshAfter / Self.retryShare, from: now), WallClock.never - 1)
  }
}
