public import Foundation
public import SteadSyncProtocol

/// A server in this process, in memory, for tests of apps and for several containers of one process.
///
/// It applies the same rules as a hosted server, and loses everything when it is released.
public actor LocalSyncServer: SyncTransport {
  private var zones: [ZoneID: Zone<MemoryZone>] = [:]
  private var blobs: [BlobID: Data] = [:]
  /// How often each blob was requested.
  package private(set) var downloadCount = 0
  private struct Waiter {
    let cursors: [ZoneID: Cursor]
    let continuation: CheckedContinuation<Set<ZoneID>, Never>
    /// Ends the wait after its limit.
    let timer: Task<Void, Never>
  }

  private var waiters: [UInt64: Waiter] = [:]
  private var waiterCount: UInt64 = 0
  private let patience: Duration
  private let limits: SyncLimits

  /// - Parameter patience: The longest time that ``wait(for:)`` waits.
  public init(patience: Duration = .seconds(55), limits: SyncLimits = SyncLimits()) {
    self.patience = patience
    self.limits = limits
  }

  private static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1000) }

  public func push(_ push: Push, to zone: ZoneID) throws -> PushAnswer {
    var found = zones[zone] ?? Zone(MemoryZone(), limits: limits)
    let answer = found.apply(push, now: Self.now, token: .random(in: 1 ... .max))
    zones[zone] = found
    wake()
    return answer
  }

  public func changes(_ request: ChangesRequest, of zone: ZoneID) throws -> ChangesAnswer {
    (zones[zone] ?? Zone(MemoryZone(), limits: limits)).changes(request, now: Self.now)
  }

  public func upload(_ blob: BlobID, _ bytes: Data, to zone: ZoneID) throws {
    blobs[blob] = bytes
    zones[zone, default: Zone(MemoryZone(), limits: limits)].storage.addBlob(blob, at: Self.now)
  }

  public func download(_ blob: BlobID, from zone: ZoneID) throws -> Data {
    downloadCount += 1
    guard let bytes = blobs[blob] else {
      throw SyncError.refused(status: 404, reason: "the blob is unknown")
    }
    return bytes
  }

  // MARK: Waiting

  public func wait(for cursors: [ZoneID: Cursor]) async throws -> Set<ZoneID> {
    let present = news(cursors)
    if !present.isEmpty { return present }
    waiterCount += 1
    let number = waiterCount
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if Task.isCancelled { return continuation.resume(returning: []) }
        let timer = Task { [patience] in
          // The limit of the wait. A wait that ends earlier cancels it.
          try? await Task.sleep(for: patience)
          if !Task.isCancelled { end(number) }
        }
        waiters[number] = Waiter(cursors: cursors, continuation: continuation, timer: timer)
      }
    } onCancel: {
      Task { await self.end(number) }
    }
  }

  private func end(_ number: UInt64, with news: Set<ZoneID> = []) {
    guard let waiter = waiters.removeValue(forKey: number) else { return }
    waiter.timer.cancel()
    waiter.continuation.resume(returning: news)
  }

  private func wake() {
    for (number, waiter) in waiters {
      let found = news(waiter.cursors)
      if !found.isEmpty { end(number, with: found) }
    }
  }

  private func news(_ cursors: [ZoneID: Cursor]) -> Set<ZoneID> {
    Set(
      cursors.filter { zone, cursor in
        (zones[zone]?.storage.state().mark ?? .start) != cursor.anchor
      }.keys)
  }

  /// The mark of a zone's last change.
  public func head(of zone: ZoneID) -> Mark { zones[zone]?.storage.state().mark ?? .start }

  /// The contents of a zone, for tests: its live records by identity.
  public func records(of zone: ZoneID) -> [Record] {
    (zones[zone]?.storage.records(after: 0, limit: .max) ?? []).filter(\.isLive)
  }
}
