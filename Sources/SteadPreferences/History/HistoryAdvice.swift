/// Why records would serve an app better than its history: the figure furthest above its limit.
///
/// The limits are 2,000 entries, all of which are in memory; 0.1 s to open the history; 4 MiB of JSON, which
/// is rewritten whenever twice as much has been appended; and 10 searches for one field that took longer
/// than 0.005 s, a third of a frame.
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
}

extension HistoryAdvice {
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
