/// Whether a history has grown so far that records would serve the app better, and why.
///
/// Nothing happens by itself: a transfer moves the entries when the app wants it to.
public struct HistoryAdvice: Sendable, Hashable {
  /// From which figures on records would be better.
  public struct Limits: Sendable, Hashable {
    /// Entries: 2,000. All of them are in memory, and a list of them is made anew after each change.
    public var count: Int
    /// Seconds to read and decode all entries at the opening: 0.1, which users begin to notice.
    public var loadSeconds: Double
    /// Bytes of JSON in the history's domain: 4 MiB. They are written anew whenever as much again has
    /// been added or removed.
    public var byteCount: Int
    /// Seconds that a search for a field may take: 0.005, a third of a frame.
    public var searchSeconds: Double
    /// Searches for one field that took longer than that: 10.
    public var slowSearches: Int

    /// Limits; those not given have the values that their properties name.
    public init(
      count: Int = 2_000, loadSeconds: Double = 0.1, byteCount: Int = 4 << 20,
      searchSeconds: Double = 0.005, slowSearches: Int = 10
    ) {
      self.count = count
      self.loadSeconds = loadSeconds
      self.byteCount = byteCount
      self.searchSeconds = searchSeconds
      self.slowSearches = slowSearches
    }
  }

  /// One figure that is above its limit.
  public struct Reason: Sendable, Hashable {
    /// What the figure is of, to compare with.
    public struct Kind: Hashable, Sendable {
      private enum Name { case count, loadTime, byteCount, searches }
      private let name: Name
      private init(_ name: Name) { self.name = name }

      /// How many entries there are.
      public static let count = Kind(.count)
      /// How long the opening took.
      public static let loadTime = Kind(.loadTime)
      /// How much room the entries take.
      public static let byteCount = Kind(.byteCount)
      /// How often a search for a field was slow.
      public static let searches = Kind(.searches)
    }

    /// What the figure is of.
    public let kind: Kind
    /// The figure.
    public let figure: Double
    /// The limit that it is above.
    public let limit: Double
    /// What both are counted in: `entries`, `seconds`, `bytes` or `searches`.
    public let unit: String
    /// The field that was searched for; nil for other kinds, and where no field was named.
    public let field: String?
  }

  /// The figures above their limits; none when the history serves well.
  public let reasons: [Reason]

  /// Whether it is time to move to records.
  public var isTimeToMove: Bool { !reasons.isEmpty }
}

extension HistoryAdvice: CustomStringConvertible {
  /// The reasons in a sentence each.
  public var description: String {
    guard isTimeToMove else { return "The history serves well as it is." }
    return "It is time to move to records: "
      + reasons.map(\.description).joined(separator: "; ") + "."
  }
}

extension HistoryAdvice.Reason: CustomStringConvertible {
  /// The figure, its limit and what they are of.
  public var description: String {
    let what =
      switch kind {
      case .count: "it holds"
      case .loadTime: "opening took"
      case .byteCount: "its JSON takes"
      default: "a search\(field.map { " for \($0)" } ?? "") was slow in"
      }
    return "\(what) \(Self.text(figure)) \(unit), and the limit is \(Self.text(limit))"
  }

  private static func text(_ number: Double) -> String {
    let rounded = (number * 1_000).rounded() / 1_000
    return rounded == rounded.rounded() && abs(rounded) < 1e15
      ? String(Int(rounded)) : String(rounded)
  }
}

extension HistoryAdvice {
  /// Decides from figures alone.
  init(count: Int, byteCount: Int, usage: HistoryUsage, limits: Limits) {
    var reasons: [Reason] = []
    func add(
      _ kind: Reason.Kind, _ figure: Double, _ limit: Double, _ unit: String, _ field: String? = nil
    ) {
      guard figure > limit else { return }
      reasons.append(
        Reason(kind: kind, figure: figure, limit: limit, unit: unit, field: field))
    }
    add(.count, Double(count), Double(limits.count), "entries")
    add(.loadTime, usage.loadSeconds, limits.loadSeconds, "seconds")
    add(.byteCount, Double(byteCount), Double(limits.byteCount), "bytes")
    for (field, searches) in usage.searches.sorted(by: { $0.key < $1.key }) {
      add(
        .searches, Double(searches.slowCount), Double(limits.slowSearches), "searches",
        field.isEmpty ? nil : field)
    }
    self.reasons = reasons
  }
}
