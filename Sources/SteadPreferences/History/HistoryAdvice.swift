import Foundation

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
