import Foundation

/// How a request is answered, decided only from what is stored and the time (RFC 9111, 4).
enum CacheDecision: Sendable, Hashable {
  /// The request goes to the server, and its response isn't stored.
  case bypass
  /// A stored response is the answer.
  case use(StoredResponse, isStale: Bool)
  /// A stale response is the answer, while the server is asked about it in the background (RFC 5861, 3).
  case useAndRevalidate(StoredResponse, by: HTTPCache.Request)
  /// The server is asked, with the validators of a stored response if it has any.
  case ask(HTTPCache.Request, about: StoredResponse?)
  /// The answer is a 504: the request demands a stored response, and none can be used.
  case unavailable
  /// An error is thrown.
  case fail(HTTPCacheError.Code)

  /// Decides how to answer a request.
  ///
  /// - Parameters:
  ///   - stored: All that is stored of the request's URL.
  ///   - settings: What the program has said, for example that the server can't be asked.
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
    if isOffline || mode == .onlyStored || mode == .preferStored {
      if let best { return .use(best, isStale: rest(of: best, settings, now) <= 0) }
      if let code = refusal(mode, isOffline: isOffline) { return .fail(code) }
    }
    guard mode != .reload, let best else {
      return control.onlyIfCached ? .unavailable : .ask(request, about: nil)
    }
    switch permission(to: best, control, mode, settings, now) {
    case .fresh: return .use(best, isStale: false)
    case .stale: return .use(best, isStale: true)
    case .whileRevalidating where !control.onlyIfCached:
      return .useAndRevalidate(best, by: question(about: best, for: request, mode))
    case .whileRevalidating: return .use(best, isStale: true)
    case .none where control.onlyIfCached: return .unavailable
    case .none: return .ask(question(about: best, for: request, mode), about: best)
    }
  }

  /// Whether a response that has just come may answer requests like its own once it is stored, without the server being
  /// asked again.
  ///
  /// - Parameter length: The body's; nil if it isn't known.
  static func mayAnswerEqualRequests(
    _ new: StoredResponse, length: Int?, _ request: HTTPCache.Request, mode: HTTPCache.Mode,
    _ settings: HTTPCache.Settings, now: Date
  ) -> Bool {
    var new = new
    // One that isn't known may be any.
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

  private static func rest(
    of stored: StoredResponse, _ settings: HTTPCache.Settings, _ now: Date
  ) -> TimeInterval {
    stored.freshness.rest(at: now, assuming: settings.defaultLifetime)
  }

  private enum Permission { case fresh, stale, whileRevalidating }

  /// Whether a stored response may be used without asking the server first.
  private static func permission(
    to stored: StoredResponse, _ control: CacheControl, _ mode: HTTPCache.Mode,
    _ settings: HTTPCache.Settings, _ now: Date
  ) -> Permission? {
    let (freshness, storedControl) = (stored.freshness, stored.freshness.control)
    let (age, rest) = (freshness.age(at: now), rest(of: stored, settings, now))
    if storedControl.hasNoCache || control.hasNoCache { return nil }
    if mode == .revalidate { return storedControl.isImmutable && rest > 0 ? .fresh : nil }
    if let maxAge = control.maxAge {
      let limit = TimeInterval(maxAge) + TimeInterval(control.maxStale ?? 0)
      guard age <= limit, limit > 0 else { return nil }
    }
    if let minFresh = control.minFresh, rest < TimeInterval(minFresh) { return nil }
    if rest > 0 { return .fresh }
    // The age isn't known when the clock was set back.
    if storedControl.mustRevalidate || now < freshness.receivedAt { return nil }
    if let maxStale = control.maxStale, -rest <= TimeInterval(maxStale) { return .stale }
    if let limit = storedControl.staleWhileRevalidate, -rest < TimeInterval(limit) {
      return .whileRevalidating
    }
    return nil
  }

  /// The request that asks the server whether a stored response is still right (RFC 9111, 4.3.1).
  private static func question(
    about stored: StoredResponse, for request: HTTPCache.Request, _ mode: HTTPCache.Mode
  ) -> HTTPCache.Request {
    var question = request
    if mode == .revalidate, !request.fields.contains("Cache-Control") {
      question.fields["Cache-Control"] = "max-age=0"
    }
    guard request.method == "GET", stored.isValidatable else { return question }
    question.fields["If-None-Match"] = stored.entityTag?.value
    question.fields["If-Modified-Since"] = stored.lastModified
    return question
  }

  /// Whether a stored response could answer a request, or its response be stored.
  private static func canUseCache(_ request: HTTPCache.Request) -> Bool {
    ["GET", "HEAD"].contains(request.method) && !request.hasBody
      && !request.fields.contains("If-Match") && !request.fields.contains("If-Unmodified-Since")
  }
}
