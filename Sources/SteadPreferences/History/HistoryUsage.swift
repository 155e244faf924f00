/// The cost of a history so far, for its advice.
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

  mutating func note(_ field: String, seconds: Double, limit: Double) {
    var known = searches[field] ?? Searches()
    known.count += 1
    if seconds > limit { known.slowCount += 1 }
    known.longest = max(known.longest, seconds)
    searches[field] = known
  }
}
