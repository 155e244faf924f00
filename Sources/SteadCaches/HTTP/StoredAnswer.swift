import Foundation

/// A stored response as the answer to a request: whole, a part of it, or the word that the client has it already.
struct StoredAnswer: Sendable, Hashable {
  /// The head, with an `Age`.
  let response: HTTPCache.Response
  /// In seconds.
  let age: Int
  /// The positions, in the stored bytes, of those that the answer has.
  let positions: Range<Int>

  /// The newest of the stored responses that fit a request and hold the bytes that it asks for.
  static func best(of stored: [StoredResponse], for request: HTTPCache.Request) -> StoredResponse? {
    stored.filter { $0.selection.matches(request) && hasBytes($0, for: request) }
      .max { ($0.date, $0.receivedAt) < ($1.date, $1.receivedAt) }
  }

  /// Makes the answer of a stored response that fits the request.
  init(_ stored: StoredResponse, to request: HTTPCache.Request, now: Date) {
    var response = stored.response
    age = Int(min(stored.freshness.age(at: now), TimeInterval(CacheControl.longest)))
    response.fields["Age"] = String(age)
    if stored.response.status == 200 || stored.range != nil, Self.isKnown(stored, to: request) {
      response.status = HTTPStatus.notModified
      response.reason = "Not Modified"
      response.fields.removeAll { !StoredFields.ofNotModified.contains($0.name.lowercasedASCII) }
      (self.response, positions) = (response, 0..<0)
      return
    }
    let all = 0..<stored.bodySize
    guard request.method == "GET" else {
      (self.response, positions) = (response, 0..<0)
      return
    }
    guard let part = Self.part(of: stored, for: request) else {
      (self.response, positions) = (response, all)
      return
    }
    response.status = HTTPStatus.partialContent
    response.reason = "Partial Content"
    response.fields["Content-Range"] = part.value
    response.fields["Content-Length"] = String(part.positions.count)
    let start = stored.range?.positions.lowerBound ?? 0
    self.response = response
    positions = (part.positions.lowerBound - start)..<(part.positions.upperBound - start)
  }

  private static func hasBytes(_ stored: StoredResponse, for request: HTTPCache.Request) -> Bool {
    if request.method != "GET" || range(of: request, from: stored) == nil {
      return stored.range == nil
    }
    return part(of: stored, for: request) != nil
  }

  /// The part of the body that a request asks for; nil if it asks for the whole, or if the part isn't stored.
  private static func part(of stored: StoredResponse, for request: HTTPCache.Request)
    -> ContentRange?
  {
    guard let range = range(of: request, from: stored), stored.canBeCut else { return nil }
    let length = stored.range?.length ?? stored.bodySize
    let held = stored.range?.positions ?? 0..<length
    guard let positions = range.positions(in: length), held.lowerBound <= positions.lowerBound,
      positions.upperBound <= held.upperBound
    else { return nil }
    return ContentRange(positions: positions, length: length)
  }

  /// The range that a request asks for; nil if it asks for none, or only of another version (`If-Range`).
  private static func range(of request: HTTPCache.Request, from stored: StoredResponse)
    -> ByteRange?
  {
    guard let value = request.fields["Range"] else { return nil }
    if let condition = request.fields["If-Range"], !meets(stored, condition) { return nil }
    // Several ranges are asked of the server: no stored response has them.
    return ByteRange(value) ?? .suffix(0)
  }

  private static func meets(_ stored: StoredResponse, _ condition: String) -> Bool {
    if let tag = stored.entityTag, EntityTag(condition)?.matchesStrongly(tag) == true {
      return true
    }
    return condition == stored.lastModified && stored.hasStrongDate
  }

  /// Whether the client has this version already, by its conditions (RFC 9110, 13.2.2).
  private static func isKnown(_ stored: StoredResponse, to request: HTTPCache.Request) -> Bool {
    if request.fields.contains("If-None-Match") {
      let value = request.fields["If-None-Match"] ?? ""
      guard let tags = EntityTag.list(value) else { return true }
      return stored.entityTag.map { tag in tags.contains { $0.matchesWeakly(tag) } } ?? false
    }
    guard let since = request.fields.date("If-Modified-Since", now: stored.receivedAt) else {
      return false
    }
    let modified = stored.response.fields.date("Last-Modified", now: stored.receivedAt)
    return modified ?? stored.date <= since
  }
}

extension StoredResponse {
  /// Whether the server can be asked if it is still right.
  var isValidatable: Bool { entityTag != nil || lastModified != nil }

  /// Whether `Last-Modified` names one version: it may have changed again within the second in which it was sent (RFC
  /// 9110, 8.8.2.2).
  var hasStrongDate: Bool {
    guard let modified = response.fields.date("Last-Modified", now: receivedAt) else {
      return false
    }
    return date.timeIntervalSince(modified) >= 1
  }
}
