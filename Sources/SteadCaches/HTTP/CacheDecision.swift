import Foundation

/// How a request is answered (RFC 9111, 4): a pure function of the request, what is stored of its
/// URL, and the time.
///
/// It does no I/O and has no clock, so tests are tables of messages and outcomes;
/// ``HTTPCache/response(to:mode:fetch:)`` acts on it. What becomes of the server's response is
/// ``StoreDecision``.
enum CacheDecision: Sendable, Hashable {
  /// Send the request as it is, and store nothing.
  case bypass
  /// Answer with a stored response.
  case use(StoredResponse, isStale: Bool)
  /// Answer with a stale response, and revalidate it in the background with a request (RFC 5861,
  /// 3).
  case useAndRevalidate(StoredResponse, by: HTTPCache.Request)
  /// Send a request, which is conditional if the stored response has validators.
  case fetch(HTTPCache.Request, validating: StoredResponse?)
  /// Answer with a 504: the request has `only-if-cached`, and no stored response can be used (RFC
  /// 9111, 5.2.1.7).
  case unavailable
  /// Throw an error.
  case fail(HTTPCacheError.Code)

  /// Decides how to answer a request.
  ///
  /// - Parameters:
  ///   - stored: All variants that are stored of the request's URL.
  ///   - settings: What the program has set, for example that the server must not be asked.
  static func make(
    for request: HTTPCache.Request, mode: HTTPCache.Mode, _ settings: HTTPCache.Settings = .init(),
    stored: [StoredResponse], now: Date
  ) -> CacheDecision {
    let isOffline = settings.isOffline
    let control = CacheControl(of: request.fields, isRequest: true)
    guard canUseCache(request), mode != .bypass, !control.hasNoStore else {
      if let code = refusal(mode, isOffline: isOffline) { return .fail(code) }
      return control.onlyIfCached ? .unavailable : .bypass
    }
    let best = StoredAnswer.best(of: stored, for: request)
    // These three never ask for freshness: any age is right.
    if isOffline || mode == .onlyStored || mode == .preferStored {
      if let best { return .use(best, isStale: remaining(of: best, settings, now) <= 0) }
      if let code = refusal(mode, isOffline: isOffline) { return .fail(code) }
    }
    guard mode != .reload, let best else {
      return control.onlyIfCached ? .unavailable : .fetch(request, validating: nil)
    }
    switch permission(to: best, control, mode, settings, now) {
    case .fresh: return .use(best, isStale: false)
    case .stale: return .use(best, isStale: true)
    case .whileRevalidating where !control.onlyIfCached:
      return .useAndRevalidate(best, by: validationRequest(about: best, for: request, mode))
    case .whileRevalidating: return .use(best, isStale: true)
    case .none where control.onlyIfCached: return .unavailable
    case .none: return .fetch(validationRequest(about: best, for: request, mode), validating: best)
    }
  }

  /// Whether a response that was just received will answer requests equal to its own once it is
  /// stored, without revalidation. If not, collapsing requests into its fetch would only delay
  /// them.
  ///
  /// - Parameter length: The body's; nil if it isn't known.
  static func mayAnswerEqualRequests(
    _ new: StoredResponse, length: Int?, _ request: HTTPCache.Request, mode: HTTPCache.Mode,
    _ settings: HTTPCache.Settings, now: Date
  ) -> Bool {
    var new = new
    // With an unknown length any range may be in it.
    new.bodySize = length ?? .max
    guard StoredAnswer.best(of: [new], for: request) != nil else { return false }
    let control = CacheControl(of: request.fields, isRequest: true)
    return mode == .preferStored || permission(to: new, control, mode, settings, now) != nil
  }

  /// Why the server can't be asked; nil if it can.
  static func refusal(_ mode: HTTPCache.Mode, isOffline: Bool) -> HTTPCacheError.Code? {
    if isOffline { return .offline }
    return mode == .onlyStored ? .notStored : nil
  }

  private static func remaining(
    of stored: StoredResponse, _ settings: HTTPCache.Settings, _ now: Date
  ) -> TimeInterval {
    stored.freshness.remaining(at: now, assuming: settings.defaultLifetime)
  }

  private enum Permission { case fresh, stale, whileRevalidating }

  /// Whether a stored response may be used without asking the server first.
  private static func permission(
    to stored: StoredResponse, _ control: CacheControl, _ mode: HTTPCache.Mode,
    _ settings: HTTPCache.Settings, _ now: Date
  ) -> Permission? {
    let (freshness, storedControl) = (stored.freshness, stored.freshness.control)
    let (age, remaining) = (freshness.age(at: now), remaining(of: stored, settings, now))
    // No directive below makes up for `no-cache` (RFC 9111, 5.2.1.4 and 5.2.2.4).
    if storedControl.hasNoCache || control.hasNoCache { return nil }
    // An immutable response is not revalidated by a reload while it is fresh (RFC 8246, 2).
    if mode == .revalidate { return storedControl.isImmutable && remaining > 0 ? .fresh : nil }
    if let maxAge = control.maxAge {
      // `max-stale` extends a request's `max-age`: both say what the client accepts.
      let limit = TimeInterval(maxAge) + TimeInterval(control.maxStale ?? 0)
      guard age <= limit, limit > 0 else { return nil }
    }
    if let minFresh = control.minFresh, remaining < TimeInterval(minFresh) { return nil }
    if remaining > 0 { return .fresh }
    // After the clock was set back the age is unknown, so no limit of staleness can be checked.
    if storedControl.mustRevalidate || now < freshness.receivedAt { return nil }
    if let maxStale = control.maxStale, -remaining <= TimeInterval(maxStale) { return .stale }
    if let limit = storedControl.staleWhileRevalidate, -remaining < TimeInterval(limit) {
      return .whileRevalidating
    }
    return nil
  }

  /// The request that validates a stored response (RFC 9111, 4.3.1).
  private static func validationRequest(
    about stored: StoredResponse, for request: HTTPCache.Request, _ mode: HTTPCache.Mode
  ) -> HTTPCache.Request {
    var validation = request
    if mode == .revalidate, !request.fields.contains("Cache-Control") {
      // So that caches between this one and the server revalidate, too (RFC 9111, 5.2.1.1).
      validation.fields["Cache-Control"] = "max-age=0"
    }
    // A HEAD is sent as it is: the fields of its 200 update what is stored, and a 304 has fewer of
    // them.
    guard request.method == "GET", stored.isValidatable else { return validation }
    // Replaces the client's own conditions: the 304 to these would not be about the stored
    // response. `StoredAnswer` applies the client's to the result.
    validation.fields["If-None-Match"] = stored.entityTag?.value
    validation.fields["If-Modified-Since"] = stored.lastModified
    return validation
  }

  /// Whether a stored response could answer a request, or its response be stored.
  private static func canUseCache(_ request: HTTPCache.Request) -> Bool {
    // `If-Match` and `If-Unmodified-Since` are for the server's state, which a cache doesn't know.
    ["GET", "HEAD"].contains(request.method) && !request.hasBody
      && !request.fields.contains("If-Match") && !request.fields.contains("If-Unmodified-Since")
  }
}
