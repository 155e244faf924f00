import Foundation

/// How a history stores its payloads; the defaults suit most apps.
public struct PayloadHistoryOptions<Payload: Codable & Identifiable & Sendable>: Sendable {
  /// How a payload with large JSON is handled.
  public enum LargePayload: Sendable, Hashable {
    /// It is stored in a separate file when its JSON is longer than `over` bytes.
    ///
    /// In memory there are no files, and it stays with the others.
    case external(over: Int = 64 << 10)
    /// It is refused with ``PreferencesError/Code/tooLarge`` when its JSON is longer than `over`
    /// bytes.
    case refused(over: Int = 64 << 10)
  }

  /// How dates are written; both forms can always be read.
  public enum Dates: Sendable, Hashable {
    /// Seconds since 2001-01-01, as `JSONEncoder` writes by default.
    case secondsSince2001
    /// An ISO 8601 string in whole seconds, as `JSONEncoder.DateEncodingStrategy.iso8601` writes.
    case iso8601
  }

  /// The version of the payload's fields: raise it by one when old entries would no longer decode,
  /// and provide an upgrade for it.
  public var version: Int
  /// How entries of earlier versions become payloads. A version without an upgrade is read as the
  /// next.
  public var upgrades: [PayloadUpgrade<Payload>]
  /// The version of entries imported from the app's array.
  public var takenOverVersion: Int
  /// How a payload with large JSON is handled.
  public var largePayload: LargePayload
  /// How dates of new entries are written.
  public var dates: Dates
  /// Configures the decoder, once, before it is first used; for payloads that were encoded
  /// unusually.
  public var configureDecoder: @Sendable (JSONDecoder) -> Void
  /// Configures the encoder, once, before it is first used.
  public var configureEncoder: @Sendable (JSONEncoder) -> Void
  /// The figures above which ``PayloadHistory/advice`` recommends records.
  package var adviceLimits = HistoryAdvice.Limits()

  /// Makes options: by default version 1, large payloads in files, dates as numbers.
  public init(
    version: Int = 1, upgrades: [PayloadUpgrade<Payload>] = [], takenOverVersion: Int = 1,
    largePayload: LargePayload = .external(), dates: Dates = .secondsSince2001,
    configureDecoder: @escaping @Sendable (JSONDecoder) -> Void = { _ in },
    configureEncoder: @escaping @Sendable (JSONEncoder) -> Void = { _ in }
  ) {
    self.version = version
    self.upgrades = upgrades
    self.takenOverVersion = takenOverVersion
    self.largePayload = largePayload
    self.dates = dates
    self.configureDecoder = configureDecoder
    self.configureEncoder = configureEncoder
  }
}

extension PayloadHistoryOptions {
  /// Refuses options that contradict each other.
  func check(key: String, limit: Int) throws {
    guard !key.isEmpty else { throw Self.invalid("The key of a history is empty.") }
    guard limit > 0 else { throw Self.invalid("The limit of a history must be at least 1.") }
    guard version > 0 else { throw Self.invalid("The version of a payload must be at least 1.") }
    guard takenOverVersion > 0, takenOverVersion <= version else {
      throw Self.invalid(
        "Entries cannot be imported with a version above the payload's own. Lower it.")
    }
    let sources = upgrades.map(\.version)
    guard Set(sources).count == sources.count else {
      throw Self.invalid("Two upgrades begin at the same version. Remove one of them.")
    }
    guard sources.allSatisfy({ $0 > 0 && $0 < version }) else {
      throw Self.invalid("An upgrade begins at the payload's version or above. Raise the version.")
    }
  }

  private static func invalid(_ message: String) -> PreferencesError {
    PreferencesError(code: .invalidOptions, message: message)
  }
}

// MARK: - Upgrades

/// How entries of an earlier payload version become payloads.
///
/// ```swift
/// options.version = 2
/// options.upgrades = [PayloadUpgrade(from: 1) { json in json["model"] = "unknown" }]
/// ```
///
/// An upgrade runs each time such an entry is read; the entry itself stays unchanged until it is
/// updated. So an upgrade can be corrected later, and an older program can still read its entries.
public struct PayloadUpgrade<Payload: Sendable>: Sendable {
  enum Step: Sendable {
    case fields(@Sendable (inout JSONObject) throws -> Void)
    case payload(@Sendable (Data, JSONDecoder) throws -> Payload)
  }

  /// The version that it upgrades from.
  public let version: Int
  let step: Step

  /// Changes the fields of an entry into those of the next version.
  ///
  /// - Parameters:
  ///   - version: The version that it upgrades from; the next one is `version + 1`.
  ///   - change: Changes the fields. If it throws, the entry counts as one that does not decode.
  public init(
    from version: Int, _ change: @escaping @Sendable (_ json: inout JSONObject) throws -> Void
  ) {
    self.version = version
    step = .fields(change)
  }

  /// Converts an entry of an earlier version directly to a payload of the newest.
  ///
  /// - Parameters:
  ///   - version: The version that it upgrades from.
  ///   - type: The payload's type in that version.
  ///   - convert: Converts it to the current type. If it throws, the entry counts as one that does
  ///     not decode.
  public init<Old: Decodable & SendableMetatype>(
    from version: Int, _ type: Old.Type,
    _ convert: @escaping @Sendable (Old) throws -> Payload
  ) {
    self.version = version
    step = .payload { json, decoder in
      let old: Old
      do {
        old = try decoder.decode(Old.self, from: json)
      } catch {
        throw UndecodableCause(decoding: error)
      }
      return try convert(old)
    }
  }
}

// MARK: - Advice

/// Why records would serve an app better than its history: the figure furthest above its limit.
///
/// The limits are:
///
/// - 2,000 entries, all of which are in memory;
/// - 0.1 s to open the history;
/// - 4 MiB of JSON, which is rewritten whenever twice as much has been appended;
/// - 10 searches for one field that took longer than 0.005 s, a third of a frame.
///
/// Nothing happens automatically: a transfer moves the entries when the app requests it.
public struct HistoryAdvice: Sendable, Hashable {
  /// The figure and its limit: `The history holds 2400 entries, and the limit is 2000.`
  public let sentence: String
  /// The figure, in the unit that the sentence names.
  public let figure: Double
}

extension HistoryAdvice: CustomStringConvertible {
  /// The sentence.
  public var description: String { sentence }
}

extension HistoryAdvice {
  /// Decides from figures alone; nil when none exceeds its limit.
  init?(count: Int, byteCount: Int, usage: HistoryUsage, limits: HistoryAdvice.Limits) {
    var furthest = 1.0
    var advice: HistoryAdvice?
    func compare(_ figure: Double, with limit: Double, _ sentence: (String) -> String) {
      // Relative to the limit, so that seconds and bytes can be compared.
      let share = figure / limit
      guard share > furthest else { return }
      furthest = share
      advice = HistoryAdvice(
        sentence: sentence(Self.text(figure)) + ", and the limit is \(Self.text(limit)).",
        figure: figure)
    }
    compare(Double(count), with: Double(limits.count)) { "The history holds \($0) entries" }
    compare(usage.loadSeconds, with: limits.loadSeconds) {
      "Opening the history took \($0) seconds"
    }
    compare(Double(byteCount), with: Double(limits.byteCount)) {
      "The history's JSON takes \($0) bytes"
    }
    // Sorted by the fields' names, since a dictionary's order varies.
    for (field, searches) in usage.searches.sorted(by: { $0.key < $1.key }) {
      let what = field.isEmpty ? "of the history" : "for \(field)"
      compare(Double(searches.slowCount), with: Double(limits.slowSearches)) {
        "\($0) searches \(what) took longer than \(Self.text(limits.searchSeconds)) seconds"
      }
    }
    guard let advice else { return nil }
    self = advice
  }

  private static func text(_ number: Double) -> String {
    let rounded = (number * 1_000).rounded() / 1_000
    return rounded == rounded.rounded() && abs(rounded) < 1e15
      ? String(Int(rounded)) : String(rounded)
  }

  /// The figures above which ``PayloadHistory/advice`` recommends records; tests lower them.
  package struct Limits: Sendable {
    package var count = 2_000
    /// Seconds to read and decode all entries when the history is opened.
    package var loadSeconds = 0.1
    /// Bytes of JSON in the history's domain.
    package var byteCount = 4 << 20
    /// Seconds that one search may take.
    package var searchSeconds = 0.005
    /// Searches for one field that took longer than that.
    package var slowSearches = 10
  }
}

// MARK: - Searching

extension PayloadHistory {
  /// The payloads that satisfy a predicate, newest first.
  ///
  /// Checks all of them, each time. The time that it takes is recorded for ``advice``.
  public func filter(_ isIncluded: (Payload) throws -> Bool) rethrows -> [Payload] {
    try search("") { items in try items.filter(isIncluded) }
  }

  /// The payloads whose field has a value, newest first.
  ///
  /// Checks all of them, each time, without an index. The time that it takes is recorded for
  /// ``advice``, under the field's name.
  public func filter<Value: Equatable>(
    _ field: KeyPath<Payload, Value>, equals value: Value
  ) -> [Payload] {
    search("\(field)") { items in items.filter { $0[keyPath: field] == value } }
  }

  /// Runs a search, and records how long it took.
  private func search(
    _ field: String, _ body: ([Payload]) throws -> [Payload]
  ) rethrows -> [Payload] {
    let start = ContinuousClock.now
    let found = try body(items)
    let seconds = start.duration(to: .now) / .seconds(1)
    let limit = options.adviceLimits.searchSeconds
    cores.current.withLock { $0.usage.record(field, seconds: seconds, limit: limit) }
    return found
  }

  /// Why records would serve the app better than this history; nil while they would not.
  ///
  /// Times are those of this object: its opening, and its searches.
  public var advice: HistoryAdvice? {
    read { state in
      HistoryAdvice(
        count: state.table.total, byteCount: state.table.byteCount, usage: state.usage,
        limits: options.adviceLimits)
    }
  }
}

/// What a history has cost so far, for its advice.
struct HistoryUsage: Sendable {
  /// How long reading and decoding all entries took when the history was opened, in seconds.
  var loadSeconds = 0.0
  /// Searches by their subject, such as a field.
  var searches: [String: Searches] = [:]

  struct Searches: Sendable {
    var count = 0
    var slowCount = 0
    var longest = 0.0
  }

  mutating func record(_ field: String, seconds: Double, limit: Double) {
    var known = searches[field] ?? Searches()
    known.count += 1
    if seconds > limit { known.slowCount += 1 }
    known.longest = max(known.longest, seconds)
    searches[field] = known
  }
}
