import Foundation
import Observation
import SteadFiles

/// A capped list of the most recent items an app produced, newest first: prompts, searches, scans.
///
/// ```swift
/// let history = try PayloadHistory<Generation>("generation_history", limit: 500)
/// try history.prepend(generation)
/// for generation in history.items { ... }
/// ```
///
/// Each entry is stored separately, as JSON, in the history's own domain next to the app's. So
/// adding or removing one takes the same time however many exist, and the app's other keys are
/// neither read nor written. All entries are in memory.
///
/// An entry is durable against process death when the call that wrote it returns; ``flush()`` makes
/// it survive a power loss. Several processes, and several histories in one, may use the same
/// entries at the same time: each change is applied to the current state, as one, and all see it.
/// Safe on any thread, and in the child of a fork.
///
/// A JSON array that the app has under the key, as `JSONEncoder` writes one into `UserDefaults`, is
/// imported when the history is opened, with dates as numbers or as ISO 8601 strings, and is
/// removed once its entries are safe. An entry that does not decode is kept, reported and listed in
/// ``undecodable``; the others are unaffected.
///
/// A payload's own coding, upgrades and closures are called without a lock, and may use the
/// history. Only coding and upgrades must not change payloads that have files of their own: these
/// may be called while the files are locked.
public final class PayloadHistory<Payload: Codable & Identifiable & Sendable>: Sendable {
  /// The key that the history was opened with.
  public let key: String
  /// The maximum number of payloads: inserting one drops the oldest beyond it.
  ///
  /// Entries that do not decode are not counted and never dropped. Imported entries are dropped by
  /// the next ``prepend(_:)`` at the earliest. If processes have different limits, each applies its
  /// own when it adds.
  public let limit: Int
  /// How payloads are stored.
  public let options: PayloadHistoryOptions<Payload>

  let preferences: Preferences
  let store: DomainStore
  let coder: PayloadCoder<Payload>
  let cores = HistoryCores()
  let problems: HistoryProblems
  let observation = HistoryObservation<Payload>()

  /// Opens or creates a history, and imports the app's array under the key.
  ///
  /// Reads and decodes all entries: some 20 microseconds for one of 1 KB. The preferences'
  /// `onError` is called with entries that do not decode, and with damage found in files.
  ///
  /// - Parameters:
  ///   - key: The key under which the app has, or had, its array; part of the names of the
  ///     history's files.
  ///   - limit: The maximum number of payloads, at least 1.
  ///   - preferences: The preferences that the history belongs to.
  ///   - options: How payloads are stored; all programs that use a history must agree on the
  ///     meaning of its versions.
  /// - Throws: ``PreferencesError``: `.invalidOptions`, `.unavailable` when the domain cannot be
  ///   opened, `.newerVersion` when a newer version of this library wrote the history, `.noSpace`
  ///   when the key's array could not be imported; the array is unchanged then.
  public init(
    _ key: String, limit: Int = 500, in preferences: Preferences = .standard,
    options: PayloadHistoryOptions<Payload> = .init()
  ) throws {
    try options.check(key: key, limit: limit)
    if let problem = preferences.search.list.problem { throw problem }
    let start = ContinuousClock.now
    let storage: HistoryStorage
    do {
      storage = try preferences.plan.openHistory(key)
    } catch {
      throw PreferencesError(error, domain: preferences.domain, key: key)
    }
    (self.key, self.limit, self.options) = (key, limit, options)
    self.preferences = preferences
    store = storage.store
    coder = PayloadCoder(key: key, options: options, blobs: storage.blobs)
    problems = HistoryProblems(preferences.errors)
    // Before the first reading, which may find damage. It is reported at the end.
    problems.subscribe(to: storage.store)
    catchUp()
    let seconds = start.duration(to: .now) / .seconds(1)
    let header = cores.current.withLock { state in
      state.usage.loadSeconds = seconds
      return state.header
    }
    // A newer format may mean anything, so the history is not opened.
    guard header.format == HistoryHeader.format else {
      throw PreferencesError(HistoryHeader.newerVersion, domain: preferences.domain, key: key)
    }
    do {
      try addingErrorContext { try importArray() }
    } catch let error as PreferencesError where error.code == .readOnly {
      // The history's entries can still be read, and the key's array stays in place.
      problems.add(error)
    }
    // After the import, whose entries may refer to blobs that exist already.
    sweepBlobs()
    problems.report()
  }

  deinit {
    observation.end(store)
    for receiver in cores.current.withLock({ Array($0.receivers.values) }) { receiver.finish() }
  }

  // MARK: - Reading

  /// All payloads, newest first.
  ///
  /// The array is built when it is first requested after a change, in time proportional to its
  /// length; until the next change it costs about a microsecond. For a few of many payloads use
  /// ``page(_:size:)``.
  public var items: [Payload] {
    read { state in
      if let items = state.items { return PayloadBox<[Payload]>.payload(in: items) }
      // Kept until the next change: a list view asks for it at each of its updates.
      let items = state.table.payloads(0..<state.table.count).map(PayloadBox<Payload>.payload)
      state.items = PayloadBox(items)
      return items
    }
  }

  /// The number of payloads, not counting entries that do not decode.
  public var count: Int { read { $0.table.count } }

  /// Whether the history has no payload; it may still have entries that do not decode.
  public var isEmpty: Bool { count == 0 }

  /// The newest payload with an identity; nil if none. Takes the same time however many exist.
  public subscript(id id: Payload.ID) -> Payload? {
    read { $0.table.newest(id)?.content.payload }.map(PayloadBox<Payload>.payload)
  }

  /// Payloads by their positions, newest first; positions beyond the end are omitted.
  ///
  /// Costs time in proportion to the end of the range, not to the number of payloads.
  public subscript(range: Range<Int>) -> [Payload] {
    guard range.lowerBound >= 0 else { return self[0..<max(0, range.upperBound)] }
    return read { state in
      if let items = state.items {
        let items = PayloadBox<[Payload]>.payload(in: items)
        return Array(items.dropFirst(range.lowerBound).prefix(range.count))
      }
      return state.table.payloads(range).map(PayloadBox<Payload>.payload)
    }
  }

  /// Payloads page by page, newest first; empty after the last page.
  ///
  /// Costs time in proportion to `(index + 1) * size`. An entry that is inserted between two page
  /// requests moves all others by one position.
  ///
  /// - Parameters:
  ///   - index: The page, counted from 0.
  ///   - size: The number of payloads in a page.
  public func page(_ index: Int, size: Int) -> [Payload] {
    // Out of range is an empty page: a view may compute any index.
    guard index >= 0, size > 0 else { return [] }
    let (start, isTooFar) = index.multipliedReportingOverflow(by: size)
    guard !isTooFar, start <= Int.max - size else { return [] }
    return self[start..<start + size]
  }

  /// The entries that this program cannot read, newest first.
  ///
  /// Reads the files of large ones again each time.
  public var undecodable: [UndecodablePayload] {
    let found = read { state in
      state.table.newestFirst.enumerated().compactMap { index, entry in
        entry.content.cause.map { (index, entry.sequence, entry.stored, $0) }
      }
    }
    return found.map { index, sequence, stored, cause in
      UndecodablePayload(
        index: index, version: stored.version, bytes: coder.allBytes(of: stored),
        reason: cause.reason, message: cause.message, cause: cause.cause, sequence: sequence,
        stored: stored)
    }
  }

  // MARK: - Safety

  /// Returns once every change survives a power loss.
  ///
  /// One wait for the disk, however much was changed: a tenth of a millisecond to some
  /// milliseconds.
  ///
  /// - Throws: ``PreferencesError`` when the disk fails.
  public func flush() throws {
    try addingErrorContext { try store.flush() }
  }
}

extension PayloadHistory {
  /// Runs a body, and adds the domain and the key to its errors.
  func addingErrorContext<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch {
      throw PreferencesError(error, domain: preferences.domain, key: key)
    }
  }

  /// Reads the current state, with other processes' changes so far.
  ///
  /// `body` runs under the core's lock, and must not call the payload's code.
  func read<Result>(_ body: (inout HistoryCore.State) -> Result) -> Result {
    track()
    let core = cores.current
    // The usual case: nothing has changed, and one lock suffices.
    let atOnce = core.withLock { state in state.isCurrent(store) ? body(&state) : nil }
    if let atOnce { return atOnce }
    catchUp(core)
    // Other processes' later changes would otherwise be news again: this read began before them.
    return core.withLock(body)
  }

  func catchUp() { catchUp(cores.current) }

  /// Updates the table from the domain, and notifies observers. Never called with a lock held.
  func catchUp(_ core: HistoryCore) {
    // Changes written by another thread are delivered by that thread, before its call returns.
    if pullUpdates(core) { deliver(core) }
  }

  /// Updates the table from the domain; returns true if observers have to be notified.
  ///
  /// Decoding calls the program's code, so it happens without the lock (optimistic concurrency):
  /// the update is computed for one epoch of the table, and computed again if another thread has
  /// changed the table meanwhile.
  func pullUpdates(_ core: HistoryCore) -> Bool {
    while let update = core.withLock({ state in state.update(in: store) }) {
      let contents = update.changed.map { coder.content($0.stored) }
      // The table of the domain has changed since, so the update is computed once more.
      if hasVanished(update.changed, contents) { continue }
      guard core.withLock({ state in state.apply(update, contents) }) else { continue }
      report(contents.reversed().compactMap(\.cause))
      return true
    }
    return false
  }

  /// Whether a file could not be read because another process has just removed it with its entry.
  ///
  /// The table is then older than the domain, and the entry is not lost but removed.
  private func hasVanished(
    _ entries: [HistoryUpdate.Entry], _ contents: [HistoryContent]
  ) -> Bool {
    zip(entries, contents).contains { entry, content in
      content.cause?.reason == .unreadable && !isStillStored(entry.sequence, entry.stored)
    }
  }

  /// Whether the domain has an unchanged entry. A blob is removed after its entry, so a missing
  /// blob of a stored entry is lost.
  func isStillStored(_ sequence: UInt64, _ stored: StoredEntry) -> Bool {
    store.value(forKey: EntryKey.text(sequence)) == stored.propertyList
  }

  /// Reports entries that were found not to decode to the preferences' handler, as one error.
  ///
  /// - Parameter causes: Newest first.
  func report(_ causes: [UndecodableCause]) {
    guard let first = causes.first else { return }
    problems.add(
      PreferencesError(
        code: .doesNotDecode,
        message: "Entries of a history do not decode: \(causes.count). They are kept, and "
          + "`undecodable` lists them. The newest of them: \(first.message)",
        domain: preferences.domain, key: key, cause: first))
  }

  /// Names the history in reports and errors.
  package var label: String { "history \(key) of \(preferences.domain)" }

  /// Whether the history cannot be written.
  package var isReadOnly: Bool { preferences.isReadOnly || store.isReadOnly }
}

// MARK: - Problems

/// Problems of a history that no call could throw, on their way to the preferences' handler.
///
/// The domain reports while the history's lock is held, and a handler may use the history. So they
/// wait until it is free.
final class HistoryProblems: Sendable {
  private static let calls = SerialCalls()

  private let waiting: ForkSafeLock<[PreferencesError]>
  private let reports: ErrorReports
  private let subscription: ProblemSubscription

  init(_ reports: ErrorReports) {
    let waiting = ForkSafeLock<[PreferencesError]>([])
    (self.waiting, self.reports) = (waiting, reports)
    subscription = ProblemSubscription { problem in
      waiting.withLock { $0.append(problem) }
      // For problems that occur in the background, while no call of the history is running.
      Self.calls.call { Self.report(waiting, to: reports) }
    }
  }

  func subscribe(to store: DomainStore) { subscription.subscribe(to: store) }

  func add(_ problem: PreferencesError) { waiting.withLock { $0.append(problem) } }

  /// Calls the handler with waiting problems. Never called with a lock held.
  func report() { Self.report(waiting, to: reports) }

  private static func report(
    _ waiting: ForkSafeLock<[PreferencesError]>, to reports: ErrorReports
  ) {
    var problems: [PreferencesError] = []
    waiting.withLock { swap(&$0, &problems) }
    for problem in problems { reports.report(problem) }
  }
}
