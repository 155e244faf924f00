public import Foundation
package import SteadSyncProtocol

/// A server in this process, in memory, for tests of apps and for several containers of one process.
///
/// It applies the same rules as a hosted server, and loses everything when it is released. It accepts any zone and any
/// device.
///
/// ```swift
/// let server = LocalSyncServer()
/// let (laptop, phone) = (try SyncEngine(first, transport: server), try SyncEngine(second, transport: server))
/// try await laptop.syncNow()
/// try await phone.syncNow()
/// ```
///
/// Each call costs time in proportion to its message, on the actor; there is no other latency. It removes no
/// tombstones and no blobs.
public actor LocalSyncServer: SyncTransport {
  /// The zones that a device has pushed to, or sent a blob to.
  private var zones: [ZoneID: Zone<MemoryZone>] = [:]
  /// The bytes of blobs, of all zones together.
  private var blobs: [BlobID: Data] = [:]
  /// The number of downloads, for tests.
  package private(set) var downloadCount = 0

  /// A call of ``wait(for:)`` that is waiting.
  private struct Waiter {
    let cursors: [ZoneID: Cursor]
    let continuation: CheckedContinuation<Set<ZoneID>, Never>
    /// Ends the wait after its limit.
    let timer: Task<Void, Never>
  }

  /// The calls of ``wait(for:)`` that haven't ended, by their numbers.
  private var waiters: [UInt64: Waiter] = [:]
  private var waiterCount: UInt64 = 0
  private let waitLimit: Duration
  private let limits: SyncLimits

  /// - Parameter waitTimeout: The longest time that ``wait(for:)`` waits.
  public init(waitTimeout: Duration = .seconds(55)) {
    self.init(waitTimeout: waitTimeout, limits: SyncLimits())
  }

  /// Makes a server with other limits than those of the protocol, for tests.
  package init(waitTimeout: Duration = .seconds(55), limits: SyncLimits) {
    self.waitLimit = waitTimeout
    self.limits = limits
  }

  private static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1000) }

  /// Applies a push, and wakes the waits for its zone. A zone begins with its first push.
  public func push(_ message: Data, zone: String) throws -> Data {
    let zone = try Self.identifier(zone)
    var found = zones[zone] ?? Zone(MemoryZone(), limits: limits)
    let answer = found.apply(
      try Push(encoded: message), now: Self.now, token: .random(in: 1 ... .max))
    // Also after an answer that isn't `taken`, which has changed nothing.
    zones[zone] = found
    wake()
    return Data(answer.encoded())
  }

  /// Answers a request for changes. An unknown zone is an empty one.
  public func changes(_ query: [String: String], zone: String) throws -> Data {
    let found = try zones[Self.identifier(zone)] ?? Zone(MemoryZone(), limits: limits)
    return Data(found.changes(try ChangesRequest(query: query), now: Self.now).encoded())
  }

  /// Keeps a blob until the server is released. The bytes aren't checked against the name.
  public func upload(_ bytes: Data, blob: String, zone: String) throws {
    let (blob, zone) = (try Self.blob(blob), try Self.identifier(zone))
    blobs[blob] = bytes
    zones[zone, default: Zone(MemoryZone(), limits: limits)].storage.addBlob(blob, at: Self.now)
  }

  /// The bytes of a blob, whichever zone it was sent to. Throws ``SyncError/refused(status:reason:)`` with 404 for an
  /// unknown one.
  public func download(blob: String, zone: String) throws -> Data {
    downloadCount += 1
    guard let bytes = blobs[try Self.blob(blob)] else {
      throw SyncError.refused(status: 404, reason: "the blob is unknown")
    }
    return bytes
  }

  /// A zone by its name. Throws ``SyncError/invalidName(_:)``.
  private static func identifier(_ zone: String) throws -> ZoneID {
    guard let id = ZoneID(zone) else { throw SyncError.invalidName(zone) }
    return id
  }

  /// A blob by its name. Throws ``SyncError/refused(status:reason:)`` with 400.
  private static func blob(_ text: String) throws -> BlobID {
    guard let id = BlobID(text) else {
      throw SyncError.refused(status: 400, reason: "the name of a blob isn't a SHA-256")
    }
    return id
  }

  // MARK: - Waiting

  /// Waits until a zone's last mark isn't that of its cursor, at most for the time-out of the server. A cursor that
  /// isn't one of the protocol is left out. Ends with no zones when the task is cancelled.
  public func wait(for cursors: [String: String]) async throws -> Set<String> {
    let typed = try cursors.map { (try Self.identifier($0.key), Cursor($0.value)) }
    let known = typed.compactMap { zone, cursor in cursor.map { (zone, $0) } }
    return Set(await changedZones(after: Dictionary(uniqueKeysWithValues: known)).map(\.text))
  }

  /// The zones with changes; waits until there is one.
  private func changedZones(after cursors: [ZoneID: Cursor]) async -> Set<ZoneID> {
    let present = changed(after: cursors)
    if !present.isEmpty { return present }
    waiterCount += 1
    let number = waiterCount
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        // The handler below may have run already, and found no waiter to end.
        if Task.isCancelled { return continuation.resume(returning: []) }
        let timer = Task { [waitLimit] in
          // The limit of the wait. A wait that ends earlier cancels it.
          try? await Task.sleep(for: waitLimit)
          if !Task.isCancelled { end(number) }
        }
        waiters[number] = Waiter(cursors: cursors, continuation: continuation, timer: timer)
      }
    } onCancel: {
      Task { await self.end(number) }
    }
  }

  /// Ends a wait, unless it has ended already: by a change, its timer and its task's cancellation.
  private func end(_ number: UInt64, with changed: Set<ZoneID> = []) {
    guard let waiter = waiters.removeValue(forKey: number) else { return }
    waiter.timer.cancel()
    waiter.continuation.resume(returning: changed)
  }

  /// Ends the waits for zones that have changes now.
  private func wake() {
    // The loop has a copy, since ending a wait removes it from the dictionary.
    for (number, waiter) in waiters {
      let found = changed(after: waiter.cursors)
      if !found.isEmpty { end(number, with: found) }
    }
  }

  /// The zones whose last mark isn't the one that a client has.
  private func changed(after cursors: [ZoneID: Cursor]) -> Set<ZoneID> {
    Set(
      cursors.filter { zone, cursor in
        (zones[zone]?.storage.state().mark ?? .start) != cursor.anchor
      }.keys)
  }

  /// The mark of a zone's last change.
  package func head(of zone: ZoneID) -> Mark { zones[zone]?.storage.state().mark ?? .start }

  /// The contents of a zone, for tests: its live records by identity.
  package func records(of zone: ZoneID) -> [Record] {
    (zones[zone]?.storage.records(after: 0, limit: .max) ?? []).filter(\.isLive)
  }
}
