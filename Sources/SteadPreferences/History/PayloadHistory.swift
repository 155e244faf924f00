import Foundation
import Observation
import SteadFiles

/// The last so many things that an app made or did, the newest first: prompts, searches, scans.
///
/// ```swift
/// let history = try PayloadHistory<Generation>("generation_history", limit: 500)
/// try history.prepend(generation)
/// for generation in history.items { ... }
/// ```
///
/// Each entry is stored by itself, as JSON, in a domain of the history's own beside the app's. So adding
/// or removing one costs the same however many there are, and what the app has under other keys is
/// neither read nor written. All entries are in memory.
///
/// An entry is kept when the call that wrote it returns, whatever ends the process after that;
/// ``flush()`` makes it survive a loss of power. Several processes, and several histories in one, may
/// use the same entries at a time: each change is made to what is there at that moment, as one, and
/// all see it. Safe from any thread, and in the child of a fork.
///
/// An array in JSON that the app has under the key, as `JSONEncoder` writes one into `UserDefaults`, is
/// taken over when the history is opened, with dates as numbers or as text of ISO 8601, and is removed
/// when its entries are safe. An entry that does not decode is kept, reported and listed in
/// ``undecodable``, and the others are there.
///
/// A payload's own coding, upgrades and closures are called without a lock, and may use the history.
public final class PayloadHistory<Payload: Codable & Identifiable & Sendable>: Sendable {
  /// The key that the history was opened with.
  public let key: String
  /// How many payloads are kept: putting one in front drops the oldest beyond these.
  ///
  /// Entries that do not decode are not counted and never dropped. Entries that were taken over are
  /// dropped by the next ``prepend(_:)`` at the earliest. Where processes have different limits, each
  /// keeps to its own when it adds.
  public let limit: Int
  /// How payloads are kept.
  public let options: PayloadHistoryOptions<Payload>

  let preferences: Preferences
  let store: DomainStore
  let coder: PayloadCoder<Payload>
  let cores = HistoryCores()
  let problems: HistoryProblems
  let following = HistoryFollowing<Payload>()

  /// Opens a history, which is made when it is not there, and takes over what the app has under the key.
  ///
  /// Reads and decodes all entries: some 20 microseconds for one of 1 KB. What does not decode, and
  /// damage that was found in files, is told to the preferences' `onError`.
  ///
  /// - Parameters:
  ///   - key: The key under which the app has, or had, its array; part of the names of the history's
  ///     files.
  ///   - limit: How many payloads are kept, 1 at least.
  ///   - preferences: The preferences that the history belongs to.
  ///   - options: How payloads are kept; all programs that use a history must agree on the meaning of
  ///     its versions.
  /// - Throws: ``PreferencesError``: `.invalidOptions`, `.unavailable` when the domain cannot be opened,
  ///   `.newerVersion` when a newer version of this library wrote the history, `.noSpace` when what is
  ///   under the key could not be taken over; it is still there then.
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
    problems.follow(storage.store)
    catchUp()
    let seconds = start.duration(to: .now) / .seconds(1)
    let header = cores.current.withLock { state in
      state.usage.loadSeconds = seconds
      return state.header
    }
    guard header.format == HistoryHeader.format else {
      throw PreferencesError(HistoryHeader.newerVersion, domain: preferences.domain, key: key)
    }
    do {
      try naming { try takeOver() }
    } catch let error as PreferencesError where error.code == .readOnly {
      // What the history has can still be read, and what is under the key stays there.
      problems.add(error)
    }
    sweepBlobs()
    problems.report()
  }

  deinit {
    following.end(store)
    for receiver in cores.current.withLock({ Array($0.receivers.values) }) { receiver.finish() }
  }

  // MARK: Reading

  /// All payloads, the newest first.
  ///
  /// The array is made when it is first asked for after a change, in time proportional to its length;
  /// before the next change it costs about a microsecond. For a few of many payloads use ``page(_:size:)``.
  public var items: [Payload] {
    read { state in
      if let items = state.items { return PayloadBox<[Payload]>.payload(in: items) }
      let items = state.table.payloads(0..<state.table.count).map(PayloadBox<Payload>.payload)
      state.items = PayloadBox(items)
      return items
    }
  }

  /// How many payloads there are; entries that do not decode are not among them.
  public var count: Int { read { $0.table.count } }

  /// Whether there is no payload; there may still be entries that do not decode.
  public var isEmpty: Bool { count == 0 }

  /// The newest payload with an identity, nil when there is none. Costs the same however many there are.
  public subscript(id id: Payload.ID) -> Payload? {
    read { $0.table.newest(id)?.content.payload }.map(PayloadBox<Payload>.payload)
  }

  /// Payloads by their places, the newest first; places where there is none are left out.
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

  /// Payloads page by page, the newest first; empty behind the last page.
  ///
  /// Costs time in proportion to `(index + 1) * size`. An entry that comes while somebody turns pages
  /// moves all others by one place.
  ///
  /// - Parameters:
  ///   - index: The page; the first is 0.
  ///   - size: How many payloads a page has.
  public func page(_ index: Int, size: Int) -> [Payload] {
    guard index >= 0, size > 0 else { return [] }
    let (start, isTooFar) = index.multipliedReportingOverflow(by: size)
    guard !isTooFar, start <= Int.max - size else { return [] }
    return self[start..<start + size]
  }

  /// The entries that this program cannot read, the newest first.
  ///
  /// Reads the files of large ones anew each time.
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

  // MARK: Safety

  /// Returns when everything that was changed will survive a loss of power.
  ///
  /// One wait for the disk, however much was changed: a tenth of a millisecond to some milliseconds.
  ///
  /// - Throws: ``PreferencesError`` when the disk refuses.
  public func flush() throws {
    try naming { try store.flush() }
  }
}

extension PayloadHistory {
  /// Does what may fail; errors name the domain and the key.
  func naming<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch {
      throw PreferencesError(error, domain: preferences.domain, key: key)
    }
  }

  /// Reads what is there now.
  func read<Result>(_ body: (inout HistoryCore.State) -> Result) -> Result {
    track()
    let core = cores.current
    let atOnce = core.withLock { state in state.isCurrent(store) ? body(&state) : nil }
    if let atOnce { return atOnce }
    catchUp(core)
    // What others write from now on would be news again: this read began before that.
    return core.withLock(body)
  }

  func catchUp() { catchUp(cores.current) }

  /// Brings the table up to date with the domain, and tells observers.
  ///
  /// What is new is decoded without the lock; when another thread was faster, once more from where that
  /// has come to.
  func catchUp(_ core: HistoryCore) {
    var hasNews = false
    while let news = core.withLock({ state in state.news(in: store) }) {
      let contents = news.changed.map { coder.content($0.stored) }
      if hasVanished(news.changed, contents) { continue }
      guard core.withLock({ state in state.take(news, contents) }) else { continue }
      report(contents.compactMap(\.cause))
      hasNews = true
      break
    }
    // What another thread has written is that one's to tell, before its call returns.
    if hasNews { deliver(core) }
  }

  /// Whether an entry's file could not be read since somebody has just removed both.
  private func hasVanished(
    _ entries: [HistoryNews.Entry], _ contents: [HistoryContent]
  ) -> Bool {
    zip(entries, contents).contains { entry, content in
      content.cause?.reason == .unreadable && !isThere(entry.sequence, entry.stored)
    }
  }

  /// Whether the domain has an entry as it was. A file goes after its entry: one that is missing while
  /// the entry is there is lost.
  func isThere(_ sequence: UInt64, _ stored: StoredEntry) -> Bool {
    store.value(forKey: EntryKey.text(sequence)) == stored.propertyList
  }

  /// Tells the preferences' handler of entries that were just found not to decode, as one error.
  func report(_ causes: [UndecodableCause]) {
    guard let first = causes.first else { return }
    problems.add(
      PreferencesError(
        code: .doesNotDecode,
        message: "Entries of a history do not decode: \(causes.count). They are kept, and "
          + "`undecodable` lists them. The newest of them: \(first.message)",
        domain: preferences.domain, key: key, cause: first))
  }
}

extension PayloadHistory {
  /// Key and domain, for reports and errors.
  package var label: String { "history \(key) of \(preferences.domain)" }

  /// Whether nothing can be written to the history.
  package var isReadOnly: Bool { preferences.isReadOnly || store.isReadOnly }
}
