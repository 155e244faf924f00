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
