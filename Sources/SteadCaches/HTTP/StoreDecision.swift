import Foundation

/// What to do with a server's response (RFC 9111, 3 and 4.3): a pure function of the two messages,
/// the response that was validated, and the times.
enum StoreDecision: Sendable, Hashable {
  /// A 304: the stored response is still valid.
  ///
  /// Two versions, since a 304 may have fields for one user only: the request gets the stored
  /// response with all fields of the 304. `kept` has the fields that are for others, too, and is nil
  /// if the response must not be used again.
  case confirmed(StoredResponse, kept: StoredResponse?)
  /// Store the response once its body is complete.
  case store(StoredResponse)
  /// The server failed, and the stored response may be used instead (RFC 5861, 4).
  case useStale(StoredResponse)
  /// The 304 is of another version than the stored response: send the request again, without
  /// conditions.
  case fetchUnconditionally
  /// Pass the response on, and don't store it.
  case forward

  /// Decides what a response to a GET means.
  ///
  /// - Parameters:
  ///   - request: The client's request, without the cache's own conditions.
  ///   - stored: The response that was validated.
  ///   - id: The name of the body if it is stored.
  static func make(
    of response: HTTPCache.Response, to request: HTTPCache.Request, about stored: StoredResponse?,
    _ settings: HTTPCache.Settings = .init(), requestedAt: Date, receivedAt: Date, id: String
  ) -> StoreDecision {
    // Only a 304 to the cache's own conditions. One to the client's conditions is for the client,
    // and is passed on below.
    if let stored, stored.isValidatable, response.status == HTTPStatus.notModified {
      guard confirms(response, stored) else { return .fetchUnconditionally }
      let kept = stored.updated(
        by: response, to: request, requestedAt: requestedAt, receivedAt: receivedAt)
      return .confirmed(
        stored.confirmed(by: response, requestedAt: requestedAt, receivedAt: receivedAt), kept: kept
      )
    }
    // Before `draft`: a 5xx with a lifetime could be stored, and would then replace the response
    // that is still better than a failure.
    if let stored,
      mayUseStale(stored, insteadOf: response, for: request, settings, now: receivedAt)
    {
      return .useStale(stored)
    }
    if let draft = draft(
      of: response, to: request, requestedAt: requestedAt, receivedAt: receivedAt, id: id,
      isShared: settings.isShared)
    {
      return .store(draft)
    }
    return .forward
  }

  /// Whether a response with a status shows that what was stored before it is outdated. A 206 says
  /// nothing about other ranges, and a 5xx nothing about the resource.
  static func replacesOthers(_ status: Int) -> Bool { [200, 301, 308, 404, 410].contains(status) }

  /// Whether a stored response may be used when the server cannot be reached, or reports a failure.
  static func mayUseStale(
    _ stored: StoredResponse, for request: HTTPCache.Request, _ settings: HTTPCache.Settings,
    now: Date
  ) -> Bool {
    let (control, freshness) = (stored.freshness.control, stored.freshness)
    let asked = CacheControl(of: request.fields, isRequest: true)
    guard !control.mustRevalidate, !control.hasNoCache, !asked.hasNoCache,
      now >= freshness.receivedAt,
      let limit = (control.staleIfError ?? asked.staleIfError).map(Duration.seconds)
        ?? settings.staleOnFailure
    else { return false }
    return -freshness.remaining(at: now, assuming: settings.defaultLifetime) < limit / .seconds(1)
  }

  /// Whether a stored response may be used in place of one that reports a failure of the server.
  static func mayUseStale(
    _ stored: StoredResponse, insteadOf response: HTTPCache.Response,
    for request: HTTPCache.Request, _ settings: HTTPCache.Settings, now: Date
  ) -> Bool {
    HTTPStatus.isServerFailure(response.status)
      && mayUseStale(stored, for: request, settings, now: now)
  }

  /// The stored form of a response, with an empty body; nil if it may not be stored (RFC 9111, 3).
  static func draft(
    of response: HTTPCache.Response, to request: HTTPCache.Request, requestedAt: Date,
    receivedAt: Date, id: String, isShared: Bool = false
  ) -> StoredResponse? {
    let control = CacheControl(of: response.fields, isShared: isShared)
    // The conditions of RFC 9111, 3. A length that can't be right or a `Vary: *` forbid it, too.
    guard HTTPStatus.isFinal(response.status), response.status != HTTPStatus.notModified,
      control.mayStore(response.status),
      !CacheControl(of: request.fields, isRequest: true).hasNoStore,
      response.mayHaveStatedLength, isAnswer(response, to: request, isShared),
      !isShared || mayBeShared(response.fields, control, of: request),
      let varyKey = VaryKey(of: request, for: response.fields, isShared: isShared)
    else { return nil }
    let range = response.fields["Content-Range"].flatMap(ContentRange.init)
    let isPartial = response.status == HTTPStatus.partialContent
    // A `multipart/byteranges` has no `Content-Range`, and its parts are not stored.
    guard !isPartial || range != nil else { return nil }
    var head = response
    head.fields = StoredFields.storable(response.fields, control: control, receivedAt: receivedAt)
    let draft = StoredResponse(
      id: id, response: head, varyKey: varyKey, requestedAt: requestedAt,
      receivedAt: receivedAt,
      range: isPartial ? range : nil, bodySize: 0, isShared: isShared)
    // RFC 9111, 3 requires one of these.
    let isAllowed =
      draft.freshness.isExplicit || control.isPublic
      || HTTPStatus.isHeuristicallyCacheable(response.status)
    return isAllowed ? draft : nil
  }

  /// Whether a shared cache may give a response to others than its request's user (RFC 9111, 3.5).
  ///
  /// A cookie is one user's, unless the server says that the response is for anybody (RFC 9111,
  /// 7.3, leaves it to servers to say that it isn't, and many don't).
  static func mayBeShared(
    _ fields: HTTPCache.Fields, _ control: CacheControl, of request: HTTPCache.Request
  ) -> Bool {
    // `Set-Cookie` that `no-cache` names is removed before the response is stored.
    let isOfAccount = request.fields.contains("Authorization")
    let isForOne = fields.contains("Set-Cookie") && !control.noCacheFields.contains("set-cookie")
    return (!isOfAccount || control.isForAllAccounts) && (!isForOne || control.isForAnybody)
  }

  /// Whether a response represents the resource, wholly or in part. A 200 to a POST does only if it
  /// says so (RFC 9110, 9.3.3), and an error for a `Range` is about the range.
  private static func isAnswer(
    _ response: HTTPCache.Response, to request: HTTPCache.Request, _ isShared: Bool
  ) -> Bool {
    // Heuristic freshness doesn't apply to a POST (RFC 9110, 9.3.3).
    if request.method == "POST" {
      return response.status == 200 && Freshness.isExplicit(response.fields, isShared: isShared)
    }
    guard request.method == "GET" else { return false }
    if response.status == HTTPStatus.partialContent { return request.fields.contains("Range") }
    return response.status == 200 || !request.fields.contains("Range")
  }

  /// Whether a 304 can be about a stored response (RFC 9111, 4.3.4): if it has validators, they
  /// must be those of the stored response. A strong tag confirms equal bytes, which a weak one
  /// doesn't promise.
  private static func confirms(_ response: HTTPCache.Response, _ stored: StoredResponse) -> Bool {
    if let tag = response.fields["ETag"].flatMap(EntityTag.init) {
      guard let own = stored.entityTag else { return false }
      // By bytes if it is strong: a weak stored tag never confirms a strong one.
      return tag.isWeak ? own.matchesWeakly(tag) : own.value == tag.value
    }
    // A 304 without validators confirms what was validated: there was one response.
    guard response.fields.contains("Last-Modified") else { return true }
    let modified = response.fields.date("Last-Modified", now: stored.receivedAt)
    let own = stored.response.fields.date("Last-Modified", now: stored.receivedAt)
    guard let modified, let own else {
      return response.fields["Last-Modified"] == stored.lastModified
    }
    return modified == own
  }
}
