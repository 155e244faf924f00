import Foundation

/// The head of a stored response, with what is needed to decide when it may be used. The body is
/// stored apart from it.
struct StoredResponse: Sendable, Hashable {
  /// The name of the body, which no other body ever had.
  let id: String
  /// With the fields that may be stored.
  private(set) var response: HTTPCache.Response
  let varyKey: VaryKey
  let requestedAt: Date
  let receivedAt: Date
  /// The part of the body that is stored, if it isn't whole.
  let range: ContentRange?
  /// The bytes of the body.
  var bodySize: Int
  let freshness: Freshness
  /// Whether the cache is a shared one.
  let isShared: Bool

  init(
    id: String, response: HTTPCache.Response, varyKey: VaryKey, requestedAt: Date,
    receivedAt: Date, range: ContentRange?, bodySize: Int, isShared: Bool = false
  ) {
    self.isShared = isShared
    self.id = id
    self.response = response
    self.varyKey = varyKey
    self.requestedAt = requestedAt
    self.receivedAt = receivedAt
    self.range = range
    self.bodySize = bodySize
    freshness = Freshness(
      of: response, requestedAt: requestedAt, receivedAt: receivedAt, isShared: isShared)
  }

  var entityTag: EntityTag? { response.fields["ETag"].flatMap(EntityTag.init) }

  var lastModified: String? { response.fields["Last-Modified"] }

  /// When the server made it, or when it arrived if the server did not say.
  var date: Date { response.fields.date("Date", now: receivedAt) ?? receivedAt }

  /// Its approximate size in memory without its body, in bytes.
  var cost: Int {
    let fields = response.fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 64 }
    return fields + varyKey.values.count * 128 + 512
  }

  /// The bytes of its fields, which have a limit.
  var headSize: Int {
    response.fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
      + varyKey.values.reduce(0) { $0 + $1.key.utf8.count + ($1.value?.utf8.count ?? 0) }
  }

  /// Whether a 206 can be made from this response.
  ///
  /// Not from an encoded body: ranges count encoded bytes, and the client may have decoded them.
  var canBeCut: Bool {
    (response.status == 200 || range != nil) && !response.isDecoded
      && !response.fields.contains("Content-Encoding")
  }

  /// The response updated with all fields of a 304, for the request that validated it (RFC 9111,
  /// 4.3.4).
  func confirmed(
    by confirmation: HTTPCache.Response, requestedAt: Date, receivedAt: Date
  ) -> StoredResponse {
    let new = StoredFields.storable(
      confirmation.fields, control: CacheControl(of: [:]), receivedAt: receivedAt)
    return StoredResponse(
      id: id, response: merged(with: new, of: confirmation), varyKey: varyKey,
      requestedAt: requestedAt, receivedAt: receivedAt, range: range, bodySize: bodySize,
      isShared: isShared)
  }

  /// The head with new fields in place of those of the same names (RFC 9111, 3.2).
  private func merged(
    with new: HTTPCache.Fields, of confirmation: HTTPCache.Response
  ) -> HTTPCache.Response {
    var response = self.response
    // A 304 has no body, so these describe none, or that of the response as it would be now.
    let new = new.filter { !StoredFields.belongsToBody($0.name) }
    let names = Set(new.map(\.name.lowercasedASCII))
    response.fields.removeAll { names.contains($0.name.lowercasedASCII) }
    for field in new { response.fields.append(field.value, named: field.name) }
    // The age is the confirmation's, even if it has none.
    if !confirmation.fields.contains("Age") { response.fields.removeAll(named: "Age") }
    return response
  }

  /// The response updated with those fields of a 304, or of a HEAD's 200, that may be stored (RFC
  /// 9111, 3.2); nil if the updated fields forbid its use for another request, or are too long to
  /// be stored.
  func updated(
    by confirmation: HTTPCache.Response, to request: HTTPCache.Request, requestedAt: Date,
    receivedAt: Date
  ) -> StoredResponse? {
    let control = CacheControl(of: confirmation.fields, isShared: isShared)
    var new = StoredFields.storable(confirmation.fields, control: control, receivedAt: receivedAt)
    if isShared { StoredFields.removePersonal(from: &new, control, of: request) }
    var response = merged(with: new, of: confirmation)
    let updated = CacheControl(of: response.fields, isShared: isShared)
    // Once more by the merged directives: a 304 often comes without `Cache-Control`, and then the
    // stored one applies to its fields; or it is the first to name a field that is stored already.
    response.fields.removeAll { updated.noCacheFields.contains($0.name.lowercasedASCII) }
    guard updated.mayStore(response.status),
      !isShared || StoreDecision.mayBeShared(response.fields, updated, of: request),
      let varyKey = VaryKey(of: request, for: response.fields, isShared: isShared)
    else { return nil }
    let result = StoredResponse(
      id: id, response: response, varyKey: varyKey, requestedAt: requestedAt,
      receivedAt: receivedAt, range: range, bodySize: bodySize, isShared: isShared)
    return result.headSize <= HTTPCache.Limits.headSizeLimit ? result : nil
  }
}

// MARK: - Fields

/// Which fields of a response are stored (RFC 9111, 3.1).
enum StoredFields {
  private static let ofConnection: Set<String> = [
    "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info",
    "proxy-authorization",
    "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
  ]

  /// The fields without those that belong to one connection or may not be used again, with a
  /// `Date`.
  static func storable(
    _ fields: HTTPCache.Fields, control: CacheControl, receivedAt: Date
  ) -> HTTPCache.Fields {
    // `Connection` names further fields that are for this connection only (RFC 9110, 7.6.1).
    let named = fields.values(named: "Connection").flatMap { FieldScanner.members(of: $0) }
    let unwanted = ofConnection.union(named.map(\.lowercasedASCII)).union(control.noCacheFields)
    var storable = fields
    storable.removeAll { unwanted.contains($0.name.lowercasedASCII) }
    // A cache must be able to tell the age later (RFC 9110, 6.6.1).
    if !storable.contains("Date") { storable.append(HTTPDate.string(receivedAt), named: "Date") }
    return storable
  }

  /// The fields of a 304 that the reply to its request doesn't have yet.
  static func missing(
    _ confirmation: HTTPCache.Fields, in answer: HTTPCache.Fields, receivedAt: Date
  ) -> [HTTPCache.Fields.Field] {
    storable(confirmation, control: CacheControl(of: [:]), receivedAt: receivedAt)
      .filter { !answer.contains($0.name) && !belongsToBody($0.name) }
  }

  /// The fields of a 304 (RFC 9110, 15.4.5): for how long a response may be used, and which one it
  /// is.
  static let ofNotModified: Set<String> = [
    "age", "cache-control", "content-location", "date", "etag", "expires", "last-modified", "vary",
  ]

  /// Removes the fields of a 304 that a shared cache must not give to other users.
  ///
  /// By the 304's own `Cache-Control`: the stored one says for whom the stored fields are, not for
  /// whom these are.
  static func removePersonal(
    from fields: inout HTTPCache.Fields, _ control: CacheControl, of request: HTTPCache.Request
  ) {
    if !control.isForAnybody { fields.removeAll(named: "Set-Cookie") }
    guard request.fields.contains("Authorization"), !control.isForAllAccounts else { return }
    fields.removeAll { !ofNotModified.contains($0.name.lowercasedASCII) }
  }

  /// Whether a field describes the bytes of the message that it came with, and not another's.
  static func belongsToBody(_ name: String) -> Bool {
    ["content-length", "content-range", "content-encoding"].contains(name.lowercasedASCII)
  }
}

// MARK: - Answers

/// A response that is served from the store: 200, 206 or 304.
struct StoredAnswer: Sendable, Hashable {
  /// The head, with an `Age`.
  let response: HTTPCache.Response
  /// In seconds.
  let age: Int
  /// Which of the stored bytes are sent.
  let positions: Range<Int>

  /// The newest of the stored responses that fit a request and hold the bytes that it asks for.
  static func best(of stored: [StoredResponse], for request: HTTPCache.Request) -> StoredResponse? {
    // By the server's `Date` (RFC 9111, 4: the most recent response), and of equal ones by this
    // clock.
    stored.filter { $0.varyKey.matches(request) && hasBytes($0, for: request) }
      .max { ($0.date, $0.receivedAt) < ($1.date, $1.receivedAt) }
  }

  /// Makes the response to a request that the stored response matches.
  ///
  /// In the order of RFC 9110, 13.2.2: conditions first, then `Range`.
  init(_ stored: StoredResponse, to request: HTTPCache.Request, now: Date) {
    var response = stored.response
    age = Int(min(stored.freshness.age(at: now), TimeInterval(CacheControl.longest)))
    response.fields["Age"] = String(age)
    // Conditions only apply to what would be a success (RFC 9110, 13.2.1).
    if stored.response.status == 200 || stored.range != nil, Self.isKnown(stored, to: request) {
      response.status = HTTPStatus.notModified
      response.reason = "Not Modified"
      response.fields.removeAll { !StoredFields.ofNotModified.contains($0.name.lowercasedASCII) }
      (self.response, positions) = (response, 0..<0)
      return
    }
    let all = 0..<stored.bodySize
    // A HEAD has no body, and no ranges (RFC 9110, 14.2).
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
    // The stored bytes begin at the stored part's first one.
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

  /// The part of the body that a request asks for; nil if it asks for the whole, or if the part
  /// isn't stored.
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

  /// The range that a request asks for; nil if it asks for none, or only of another version
  /// (`If-Range`).
  private static func range(of request: HTTPCache.Request, from stored: StoredResponse)
    -> ByteRange?
  {
    guard let value = request.fields["Range"] else { return nil }
    if let condition = request.fields["If-Range"], !meets(stored, condition) { return nil }
    // Several ranges are asked of the server: no stored response has them.
    // `.suffix(0)` has no positions in any body, so nothing stored fits.
    return ByteRange(value) ?? .suffix(0)
  }

  private static func meets(_ stored: StoredResponse, _ condition: String) -> Bool {
    if let tag = stored.entityTag, EntityTag(condition)?.matchesStrongly(tag) == true {
      return true
    }
    return condition == stored.lastModified && stored.hasStrongDate
  }

  /// Whether the client's conditions are false, so that it gets a 304 (RFC 9110, 13.2.2).
  private static func isKnown(_ stored: StoredResponse, to request: HTTPCache.Request) -> Bool {
    if request.fields.contains("If-None-Match") {
      let value = request.fields["If-None-Match"] ?? ""
      // `If-None-Match` takes precedence over `If-Modified-Since`, even if it doesn't match.
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

  /// Whether `Last-Modified` names one version: it may have changed again within the second in
  /// which it was sent (RFC 9110, 8.8.2.2).
  var hasStrongDate: Bool {
    guard let modified = response.fields.date("Last-Modified", now: receivedAt) else {
      return false
    }
    return date.timeIntervalSince(modified) >= 1
  }
}

// MARK: - Ranges

/// One range that a request asks for (RFC 9110, 14.2).
enum ByteRange: Sendable, Hashable {
  /// From the first byte to the last, or to the end.
  case bytes(first: Int, last: Int?)
  /// The last bytes.
  case suffix(Int)

  /// Reads a `Range` with one range of bytes; nil for several, for other units and for malformed
  /// ones.
  init?(_ value: String) {
    guard value.lowercasedASCII.hasPrefix("bytes=") else { return nil }
    let parts = value.dropFirst("bytes=".count).split(
      separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    let last = parts[1].decimalDigits
    if parts[0].isEmpty {
      guard let last else { return nil }
      self = .suffix(last)
    } else {
      guard let first = parts[0].decimalDigits, last != nil || parts[1].isEmpty,
        first <= last ?? .max
      else { return nil }
      self = .bytes(first: first, last: last)
    }
  }

  /// The positions in a body of a length; nil if the range has none of its bytes.
  func positions(in length: Int) -> Range<Int>? {
    switch self {
    case .bytes(let first, let last):
      guard first < length else { return nil }
      return first..<(min(last ?? .max, length - 1) + 1)
    case .suffix(let count):
      guard count > 0, length > 0 else { return nil }
      return max(0, length - count)..<length
    }
  }
}

/// Which part of a body a response has (RFC 9110, 14.4).
struct ContentRange: Sendable, Hashable {
  /// The positions of the part's bytes in the whole body.
  var positions: Range<Int>
  /// The length of the whole body.
  var length: Int

  init(positions: Range<Int>, length: Int) {
    self.positions = positions
    self.length = length
  }

  /// Parses a `Content-Range`; nil if it lacks the part or the length of the whole.
  init?(_ value: String) {
    guard value.lowercasedASCII.hasPrefix("bytes ") else { return nil }
    let parts = value.dropFirst("bytes ".count).split(
      separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let length = parts[1].decimalDigits else { return nil }
    let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, let first = ends[0].decimalDigits, let last = ends[1].decimalDigits,
      first <= last, last < length
    else { return nil }
    positions = first..<(last + 1)
    self.length = length
  }

  /// The value of the field.
  var value: String { "bytes \(positions.lowerBound)-\(positions.upperBound - 1)/\(length)" }
}
