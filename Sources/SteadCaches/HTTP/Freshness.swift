import Foundation

/// How long a response may be used without revalidation (RFC 9111, 4.2), computed once from its
/// fields.
///
/// Times are of this computer's clock, except the server's `Date`. A clock that was set back makes
/// responses stale, never fresh.
struct Freshness: Sendable, Hashable {
  /// Heuristic freshness: a tenth of the time since `Last-Modified`, as RFC 9111, 4.2.2 suggests.
  static let heuristicShare = 0.1

  /// In seconds; negative for a response that was received expired.
  let lifetime: TimeInterval
  /// Whether the server gave the lifetime.
  let isExplicit: Bool
  /// How old the response was when it came, in seconds.
  let initialAge: TimeInterval
  let receivedAt: Date
  let control: CacheControl
  /// Whether ``HTTPCache/defaultLifetime`` may apply, if the server gave no lifetime.
  let mayBeAssumed: Bool

  /// Works out the freshness of a response.
  ///
  /// - Parameters:
  ///   - requestedAt: When the request was sent.
  ///   - receivedAt: When the response's head came.
  ///   - isShared: Whether it is the response of a shared cache.
  init(
    of response: HTTPCache.Response, requestedAt: Date, receivedAt: Date, isShared: Bool = false
  ) {
    control = CacheControl(of: response.fields, isShared: isShared)
    mayBeAssumed = HTTPStatus.isHeuristicallyCacheable(response.status) || control.isPublic
    self.receivedAt = receivedAt
    let fields = response.fields
    let date = fields.date("Date", now: receivedAt) ?? receivedAt
    // The corrected initial age (RFC 9111, 4.2.3): the larger one of what the two clocks and what
    // `Age` say.
    let delay = max(0, receivedAt.timeIntervalSince(requestedAt))
    initialAge = max(0, receivedAt.timeIntervalSince(date), Self.age(in: fields) + delay)
    // The order of RFC 9111, 4.2.1: `s-maxage` (in `maxAge` of a shared cache), `max-age`,
    // `Expires`.
    if let maxAge = control.maxAge {
      (lifetime, isExplicit) = (TimeInterval(maxAge), true)
    } else if fields.contains("Expires") {
      // One that isn't a date means that it is over already (RFC 9111, 5.3).
      let expires = fields.date("Expires", now: receivedAt)
      (lifetime, isExplicit) = (expires.map { $0.timeIntervalSince(date) } ?? 0, true)
    } else {
      // Heuristic freshness (RFC 9111, 4.2.2).
      let modified = mayBeAssumed ? fields.date("Last-Modified", now: receivedAt) : nil
      let idle = modified.map { max(0, date.timeIntervalSince($0)) } ?? 0
      (lifetime, isExplicit) = (
        min(idle * Self.heuristicShare, HTTPCache.Limits.heuristicLifetimeLimit / .seconds(1)),
        false
      )
    }
  }

  /// How old the response is.
  func age(at now: Date) -> TimeInterval {
    initialAge + max(0, now.timeIntervalSince(receivedAt))
  }

  /// The remaining freshness lifetime in seconds; zero or less if the response is stale.
  ///
  /// It is stale, too, if the clock was set back to before the response was received: its age isn't
  /// known then.
  ///
  /// - Parameter assumed: The lifetime of a response whose server gave none; nil for the estimate.
  func remaining(at now: Date, assuming assumed: Duration? = nil) -> TimeInterval {
    var lifetime = self.lifetime
    if let assumed, mayBeAssumed, !isExplicit { lifetime = assumed / .seconds(1) }
    return remaining(lifetime, at: now)
  }

  private func remaining(_ lifetime: TimeInterval, at now: Date) -> TimeInterval {
    now < receivedAt ? min(0, lifetime - initialAge) : lifetime - age(at: now)
  }

  /// Whether a response states how long it is fresh.
  static func isExplicit(_ fields: HTTPCache.Fields, isShared: Bool) -> Bool {
    CacheControl(of: fields, isShared: isShared).maxAge != nil || fields.contains("Expires")
  }

  /// The value of `Age`; the first of several, as RFC 9111, 5.1 says.
  private static func age(in fields: HTTPCache.Fields) -> TimeInterval {
    let first = fields.values(named: "Age").first.map { FieldScanner.members(of: $0).first ?? "" }
    return TimeInterval(min(first?.decimalDigits ?? 0, CacheControl.longest))
  }
}

extension HTTPCache.Fields {
  /// The date that a field has; nil if it has none, or several.
  func date(_ name: String, now: Date) -> Date? {
    let values = self.values(named: name)
    return values.count == 1 ? HTTPDate.date(values[0], now: now) : nil
  }
}
