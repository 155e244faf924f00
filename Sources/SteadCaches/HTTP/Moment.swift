import Foundation

/// When a response was made: the times of this computer's clock between which the server made it, and that of the server's
/// clock.
struct Moment: Sendable, Hashable {
  let requestedAt: Date
  let receivedAt: Date
  /// The response's `Date`, or when it came if it has none.
  let date: Date

  init(of response: HTTPCache.Response, requestedAt: Date, receivedAt: Date) {
    self.requestedAt = requestedAt
    self.receivedAt = receivedAt
    date = response.fields.date("Date", now: receivedAt) ?? receivedAt
  }

  init(of stored: StoredResponse) {
    (requestedAt, receivedAt, date) = (stored.requestedAt, stored.receivedAt, stored.date)
  }

  /// Whether a stored response, or its last confirmation, is more recent (RFC 9111, 4).
  ///
  /// It is if it was asked for after this one's head had come. If the two were on their way at the same time, the server's
  /// clock decides; otherwise it doesn't count, since several servers have several clocks.
  ///
  /// - Parameter now: A stored response that was asked for later than that tells nothing: the clock was set back.
  func isBefore(_ stored: StoredResponse, now: Date) -> Bool {
    guard stored.requestedAt <= now else { return false }
    if stored.requestedAt > receivedAt { return true }
    let isSimultaneous = stored.requestedAt < receivedAt && stored.receivedAt > requestedAt
    return isSimultaneous && stored.date > date
  }
}
