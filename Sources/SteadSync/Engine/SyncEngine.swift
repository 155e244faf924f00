import Foundation
public import SteadRecords
internal import SteadSyncProtocol

/// Syncs the stores of a container with zones of a server, and so with other devices.
///
/// A store takes part when its configuration names a zone:
///
/// ```swift
/// var configuration = ModelConfiguration("Notes", schema: schema, sync: .zone("0123456789abcdef…"))
/// let container = try ModelContainer(for: schema, configurations: configuration)
/// let engine = try SyncEngine(container, transport: transport)
/// await engine.start()
/// ```
///
/// Everything that any program saves to the store is sent, even if no engine was running then. Remote changes are
/// saved by the author `sync`, in one transaction for the pages that have come since the last one, at most four.
/// Contexts, live results and Observation see them like commits of another process. A context's unsaved edits stay as
/// they are.
///
/// A failed exchange is repeated after ``Options/retryDelay``, and ``status`` says why it failed. A first fetch or
/// upload costs time in proportion to the store; after that, an exchange costs what has changed. The first upload has
/// all objects of the store in memory until the server has taken them.
public actor SyncEngine {
  /// The settings of an engine.
  public struct Options: Sendable {
    /// The maximum number of records that one request asks for. A server sends at most 1,000, and at most 1 MB of
    /// them, so a greater number changes nothing; smaller pages cost more requests.
    public var pageSize = 1000
    /// The wait after a failure in seconds: the first and the longest. It doubles with each failure in a row, and a
    /// random factor from 0.5 to 1 keeps devices from coming back at once. A longer pause that the server asks for
    /// counts, up to an hour.
    public var retryDelay: ClosedRange<Double> = 0.5...60
    /// The device's time in milliseconds since 1970; replace it only in tests. The zone corrects it by the difference
    /// to the server's. Called on any thread.
    public var now: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1000) }

    /// Makes the default settings.
    public init() {}
  }

  /// The engine's state; observable.
  public nonisolated let status = SyncStatus()

  let transport: any SyncTransport
  let options: Options
  /// The zones in the order in which ``syncNow()`` exchanges them.
  let zones: [any SyncedZone]
  /// Signalled when there may be something to exchange.
  let signals: [ZoneID: Signal]
  /// Signalled when an exchange has succeeded.
  private let exchangeEnds: [ZoneID: Signal]
  /// Keep the zones' observers registered while the engine runs.
  private var watches: [any AnyObject & Sendable] = []
  /// The loops of each zone; empty while the engine is paused.
  private var tasks: [Task<Void, Never>] = []
  /// The exchanges in progress, so that a zone has one at a time.
  private var exchanges: [ZoneID: Task<Void, any Error>] = [:]

  /// Makes an engine for the stores of a container that have a zone, and for key-value stores. Call ``start()`` to
  /// begin. Opens no connection.
  ///
  /// - Parameters:
  ///   - container: Stores whose configuration names a zone are synced; others are left alone.
  ///   - keyValueStores: Key-value stores by their zones.
  ///   - transport: The connection to the server. Several engines may share one.
  /// - Throws: ``SyncError``: ``SyncError/nothingToSync`` if there is no zone, ``SyncError/zoneUsedTwice(_:)``,
  ///   ``SyncError/invalidName(_:)`` and ``SyncError/notAServerZone(_:)`` for a zone's name,
  ///   ``SyncError/noHistory(configuration:)`` and ``SyncError/notARecordStore(configuration:)`` for a store that can't
  ///   be synced, and ``SyncError/noSuchAttribute(_:)`` for a merge rule.
  public init(
    _ container: ModelContainer? = nil, keyValueStores: [String: SyncedKeyValueStore] = [:],
    transport: some SyncTransport, options: Options = Options()
  ) throws {
    self.transport = transport
    self.options = options
    var zones: [any SyncedZone] = []
    // Checked here, so that a mistake in a configuration is found when the engine is made, and not at the first
    // exchange.
    func identifier(_ name: String) throws -> ZoneID {
      guard let id = ZoneID(name) else { throw SyncError.invalidName(name) }
      try transport.check(zone: id.text)
      if zones.contains(where: { $0.id == id }) { throw SyncError.zoneUsedTwice(name) }
      return id
    }
    // In the order of names, so that errors and exchanges come in the same order each time.
    for (name, store) in keyValueStores.sorted(by: { $0.key < $1.key }) {
      // A store without a database, which not even memory could hold, has nothing to sync.
      guard let zone = KeyValueSyncedZone(try identifier(name), store) else { continue }
      zones.append(zone)
    }
    for configuration in (container?.configurations ?? []).sorted(by: { $0.name < $1.name }) {
      guard let name = configuration.sync.zoneName else { continue }
      let id = try identifier(name)
      guard configuration.history != .off else {
        throw SyncError.noHistory(configuration: configuration.name)
      }
      guard let container, let rows = StoreRows(container, of: configuration) else {
        throw SyncError.notARecordStore(configuration: configuration.name)
      }
      zones.append(
        try RecordZone(id, rows, merging: configuration.sync.merges, now: options.now))
    }
    if zones.isEmpty { throw SyncError.nothingToSync }
    self.zones = zones
    signals = Dictionary(uniqueKeysWithValues: zones.map { ($0.id, Signal()) })
    exchangeEnds = signals.mapValues { _ in Signal() }
  }

  deinit { for task in tasks { task.cancel() } }

  // MARK: - Running

  /// Syncs until ``pause()`` is called, or until the engine is released. Returns at once; does nothing if the engine
  /// runs already.
  ///
  /// Each zone is exchanged at once, and from then on whenever a program saves or the server has changes. Errors
  /// aren't thrown to anybody: ``status`` has them, and the exchange is repeated. Keep a reference to the engine,
  /// since releasing it stops it.
  public func start() {
    guard tasks.isEmpty else { return }
    for zone in zones {
      guard let signal = signals[zone.id] else { continue }
      // Before the first exchange, which finds what was saved until now: no save falls between the
      // two.
      watches.append(zone.watch { signal.set() })
      let id = zone.id
      // The tasks don't retain the engine while they wait, so releasing it ends them.
      tasks.append(Task { [weak self] in await Self.runExchanges(id, signal) { self } })
      guard let exchanged = exchangeEnds[id] else { continue }
      tasks.append(Task { [weak self] in await Self.runWaits(id, signal, exchanged) { self } })
    }
  }

  /// Stops syncing. Exchanges in progress are cancelled, and nothing is lost: each step is one transaction, and what
  /// was sent and not confirmed is sent again. ``start()`` continues.
  ///
  /// A call of ``syncNow()`` goes on. Saves are kept in the history meanwhile, which grows until the engine runs
  /// again.
  public func pause() {
    for task in tasks { task.cancel() }
    tasks = []
    watches = []
    for zone in zones { status.update(zone.id.text) { $0.activity = .paused } }
  }

  /// Sends everything that is saved, fetches everything that is new, and then returns. Also works while paused.
  ///
  /// It exchanges one zone after another, and each after an exchange that is in progress. A save that comes while it
  /// works is sent, too, if it comes before the zone's last push.
  ///
  /// Pending changes that the server doesn't accept from this version of the app are no error: see
  /// ``SyncStatus/Zone/problem``. Whatever was exchanged before an error stays.
  ///
  /// ```swift
  /// // Before a program ends, or in a background task with a time limit.
  /// try await engine.syncNow()
  /// ```
  ///
  /// - Throws: The first zone's error; later zones aren't exchanged. ``SyncError``, such as
  ///   ``SyncError/unreachable(reason:)`` without a connection and ``SyncError/busy(seconds:reason:)`` when the
  ///   server asks for a pause; `CancellationError`; or what the store throws. It isn't repeated by itself unless the
  ///   engine runs.
  public func syncNow() async throws {
    for zone in zones { try await exchange(zone.id) }
  }

  /// Fetches everything again in the next exchange. Shown records and pending changes stay.
  ///
  /// For a store that seems to differ from the server, after a fault of a program or a disk. Costs as much as the
  /// first fetch. Starts no exchange while the engine is paused; ``status`` shows the progress as for a first fetch.
  ///
  /// - Throws: What the store throws.
  public func resync() throws {
    for zone in zones {
      try zone.write { try $0.refetch() }
      // A refetch is no local change, so without this the loop would see nothing to do.
      stale.insert(zone.id)
      signals[zone.id]?.set()
    }
  }

  // MARK: - Loops

  // Each zone has two tasks. One exchanges whenever its signal is set: by a save, or by the other one, which waits for
  // the server's answer that there are changes. They are apart so that a save is sent while the server is being waited
  // for.

  /// Exchanges whenever something was saved or the server has changes, until it is cancelled.
  private static func runExchanges(
    _ id: ZoneID, _ signal: Signal, _ engine: () -> SyncEngine?
  ) async {
    var failures = 0
    while !Task.isCancelled {
      do {
        guard let engine = engine() else { return }
        try await engine.exchange(id)
        failures = 0
      } catch {
        // A pause is no failure, and has set the status already.
        if Task.isCancelled { return }
        guard let delay = await engine()?.delay(after: failures, error, id) else { return }
        failures += 1
        // The pause before another attempt. A save doesn't shorten it: the server may be overloaded.
        try? await Task.sleep(for: .seconds(delay))
        continue
      }
      // A signal that came during the exchange was kept, and ends this wait at once.
      await signal.wait()
      // Not each signal means something to do: a save by the sync itself sets it, too.
      while !Task.isCancelled {
        guard let engine = engine() else { return }
        if await engine.needsExchange(id) { break }
        await signal.wait()
      }
    }
  }

  /// Waits for changes on the server, and signals them, until it is cancelled.
  ///
  /// It waits with the cursor of the last page. Invariant: after an answer with news it waits for the end of an
  /// exchange before it asks again. Otherwise the server would answer at once, again and again, until the exchange
  /// has moved the cursor.
  private static func runWaits(
    _ id: ZoneID, _ signal: Signal, _ exchanged: Signal, _ engine: () -> SyncEngine?
  ) async {
    while !Task.isCancelled {
      guard let (transport, cursor) = await engine()?.waitArguments(of: id) else { return }
      // The first exchange isn't finished yet.
      guard let cursor else {
        await exchanged.wait()
        continue
      }
      do {
        // Without the zone in the answer, the server's limit for waits has passed without news.
        guard try await transport.wait(for: [id: cursor]).contains(id) else { continue }
        await engine()?.markStale(id)
        signal.set()
        // Until an exchange has moved the cursor, the server would answer at once.
        await exchanged.wait()
      } catch {
        // A wait costs the server little. Exchanges report errors, and wait longer each time. This is the pause
        // before the server is asked again. A save doesn't end it: it wakes the exchanges.
        let delay = max(Double.random(in: waitDelay), requestedPause(error))
        try? await Task.sleep(for: .seconds(delay))
      }
    }
  }

  /// The pause after a failed wait before the server is asked again, in seconds.
  private static let waitDelay = 0.5...2
  /// The longest pause that a server may ask for, in seconds. A greater one may be an error of its clock or a proxy's.
  private static let longestPause = 3600.0

  /// The pause that the server has asked for, in seconds.
  private static func requestedPause(_ error: any Error) -> Double {
    guard case SyncError.busy(let seconds, _) = error else { return 0 }
    return min(max(seconds, 0), longestPause)
  }

  /// The zones that have to fetch, since the server has changes or the last exchange failed.
  private var stale: Set<ZoneID> = []
  /// The zones whose pending changes the server does not accept from this version of the app.
  private var blocked: Set<ZoneID> = []
  /// The zones that exist on the server, and know the server's name for this device.
  private var prepared: Set<ZoneID> = []

  /// Records that the server has changes of a zone.
  private func markStale(_ id: ZoneID) { stale.insert(id) }

  /// What a wait for changes of a zone needs. No cursor: the zone has no first page yet.
  private func waitArguments(of id: ZoneID) -> (any SyncTransport, Cursor?) {
    // An error counts as no cursor: the wait then follows an exchange, which reports it.
    (transport, try? zone(id)?.cursor())
  }

  /// Whether an exchange of a zone would send or fetch anything.
  private func needsExchange(_ id: ZoneID) -> Bool {
    guard let zone = zone(id) else { return false }
    if stale.contains(id) { return true }
    do {
      if try zone.hasLocalChanges() { return true }
      // Every write first moves local saves into the outbox, so they may wait there without being local changes any
      // more.
      return try !blocked.contains(id) && zone.read { $0.nextPush() != nil }
    } catch {
      // If this can't be read now, the exchange reports it.
      return true
    }
  }

  /// The pause before the next attempt, in seconds: exponential backoff with jitter. Also sets the status.
  private func delay(after failures: Int, _ error: any Error, _ id: ZoneID) -> Double {
    let range = options.retryDelay
    // The shift is bounded, since the number of failures isn't.
    let longest = min(range.upperBound, range.lowerBound * Double(1 << min(failures, 20)))
    let delay = max(longest * Double.random(in: 0.5...1), Self.requestedPause(error))
    status.update(id.text) {
      $0.activity = .failed(retryAt: Date(timeIntervalSinceNow: delay))
      $0.problem = "\(error)"
    }
    return delay
  }

  private func zone(_ id: ZoneID) -> (any SyncedZone)? { zones.first { $0.id == id } }

  // MARK: - Exchanging

  /// Exchanges one zone, after the exchange that is in progress.
  ///
  /// Invariant: a zone has one exchange at a time, also while this actor is suspended. The work is a task of its own,
  /// for whose end another caller waits before it begins its own; cancelling the caller cancels the task.
  private func exchange(_ id: ZoneID) async throws {
    // A loop: while this call waited, another one may have begun the next exchange.
    while let running = exchanges[id] { _ = await running.result }
    guard let zone = zone(id) else { return }
    // Before the exchange: what the server announces from now on may be missing in it.
    stale.remove(id)
    let task = Task { try await exchange(zone) }
    exchanges[id] = task
    defer { exchanges[id] = nil }
    do {
      try await withTaskCancellationHandler {
        try await task.value
      } onCancel: {
        task.cancel()
      }
    } catch {
      // The next caller fetches what this one did not.
      stale.insert(id)
      // Wakes the loop, since the caller that failed may have been `syncNow()`.
      signals[id]?.set()
      throw error
    }
    exchangeEnds[id]?.set()
  }

  /// Pushes and fetches until nothing is left to push.
  private func exchange(_ zone: any SyncedZone) async throws {
    status.update(zone.id.text) { $0.activity = .syncing }
    // Before the first push: a server knows no stamps of a device that it hasn't named.
    try await prepare(zone)
    // A push is followed by a fetch, whose pages acknowledge it. Saves during the exchange are pushed in another round.
    var problem: SyncError?
    repeat {
      try Task.checkCancellation()
      problem = try await push(zone)
      try await fetch(zone)
    } while try problem == nil && zone.read({ $0.nextPush() != nil })
    // Otherwise the loop would try again at once, and be refused again, for as long as the app isn't updated.
    if problem == nil { blocked.remove(zone.id) } else { blocked.insert(zone.id) }
    let counts = try zone.counts()
    status.update(zone.id.text) {
      $0.pendingCount = counts.pending
      $0.quarantinedCount = counts.quarantined
      $0.unappliedCount = counts.unshown
      $0.firstFetch = nil
      $0.problem = problem?.description
      if problem == nil { $0.lastSuccess = Date() }
      $0.activity = .upToDate
    }
  }

  /// Makes the zone on the server, and takes over the server's name for this device. Once in a process.
  private func prepare(_ zone: any SyncedZone) async throws {
    guard !prepared.contains(zone.id) else { return }
    let device = try await transport.device.map(Self.deviceID)
    try await transport.prepare(zone: zone.id.text)
    if let device {
      try zone.write { try $0.rename(device: device, as: RandomName.client()) }
    }
    prepared.insert(zone.id)
  }

  /// The server's name for this device. Throws ``SyncError/unreachable(reason:)`` for one that no
  /// stamp can have.
  private static func deviceID(_ name: String) throws -> DeviceID {
    guard let id = DeviceID(name) else {
      throw SyncError.unreachable(reason: "its name for this device isn't one of the protocol")
    }
    return id
  }

  /// How often in a row the server may refuse a push and ask for another. Halving a push of 400 transactions takes
  /// nine.
  private static let attemptLimit = 20

  /// Sends pending changes until none is left; returns why some of them cannot be sent by this version of the app.
  ///
  /// Each round either sends something, uploads a blob that was not uploaded before, finds that this device lacks
  /// one, or counts as one of ``attemptLimit``: so a server that rejects what it has asked for cannot keep it busy
  /// without end. Two answers aren't counted: `taken` up to no new number, and `blobsMissing` without a blob.
  private func push(_ zone: any SyncedZone) async throws -> SyncError? {
    var absent: Set<BlobID> = []
    var sent: Set<BlobID> = []
    var attempts = 0
    while let push = try zone.read({ $0.nextPush(absentBlobs: absent) }) {
      try Task.checkCancellation()
      status.update(zone.id.text) {
        // A push has only a part of what waits, so the count must not go down to it.
        $0.pendingCount = max($0.pendingCount, push.transactions.count)
      }
      let answer = try await transport.push(push, to: zone.id)
      switch answer {
      // Pages are still fetched: an app that is too old can read.
      case .schemaTooOld(let minimum): return .appTooOld(minimum: minimum)
      case .schemaConflict: return .schemaConflict
      case .blobsMissing(let blobs):
        for blob in blobs {
          // It was uploaded a moment ago, and is missing again.
          guard sent.insert(blob).inserted else {
            throw SyncError.unreachable(reason: "it does not keep large values")
          }
          if let bytes = try zone.bytes(of: blob) {
            try await transport.upload(blob, bytes, to: zone.id)
          } else {
            // No row has the bytes any more, since a later edit has replaced them. The server takes the record without.
            absent.insert(blob)
          }
        }
        continue
      case .taken: attempts = 0
      case .expired, .rollback, .gap, .schemaWanted, .tooLarge:
        attempts += 1
        guard attempts <= Self.attemptLimit else {
          throw SyncError.unreachable(reason: "it rejects what it has asked for")
        }
      }
      try zone.write { try $0.receive(answer, to: push, freshClient: RandomName.client()) }
      // The answer to the next fetch decides.
      if answer == .expired || answer == .rollback { return nil }
    }
    return nil
  }

  /// Fetches until the zone equals the server's.
  ///
  /// The inner loop applies all answers that have come in one write. The zone decides after each what it asks for next:
  /// if that isn't what was read ahead, as after an answer that expired the cursor, reading begins again.
  private func fetch(_ zone: any SyncedZone) async throws {
    let limit = options.pageSize
    var isAtHead = false
    while !isAtHead {
      let request = try zone.read { $0.nextRequest(limit: limit) }
      try await PageReader.read(request, of: zone.id, transport, now: options.now) { answers in
        try Task.checkCancellation()
        // Before the write: a row can only be written with all of its values.
        for page in answers.compactMap(\.page) { try await fetchBlobs(of: page, zone) }
        let last = try zone.write { zone in
          var last: PageReader.Answer?
          // After an answer that changes its state, the zone asks for something else, and what was read ahead is
          // dropped.
          for answer in answers where answer.request == zone.nextRequest(limit: limit) {
            try zone.receive(
              answer.answer, to: answer.request, sent: answer.sent, now: answer.received,
              freshClient: RandomName.client())
            last = answer
          }
          return last
        }
        // The zone took none of the answers, or the last one isn't a page. It asks again from its
        // own state.
        guard let page = last?.page else { return false }
        isAtHead = !page.more
        if page.more {
          // An estimate: numbers of changes are not numbers of records, since some are superseded
          // or purged.
          let share = Double(page.cursor.seq) / Double(max(page.cursor.start, page.cursor.seq, 1))
          status.update(zone.id.text) { $0.firstFetch = share }
        }
        return try answers.last?.next == zone.read { $0.nextRequest(limit: limit) }
      }
    }
  }

  /// Fetches the blobs that a page's records name and that this device lacks.
  private func fetchBlobs(of page: Page, _ zone: any SyncedZone) async throws {
    for blob in try zone.missingBlobs(of: page.records) {
      try zone.store(blob, try await transport.download(blob, from: zone.id))
    }
  }
}
