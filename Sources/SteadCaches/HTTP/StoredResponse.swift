import Foundation

/// The stored form of a response, except its body.
struct StoredResponse: Sendable, Hashable {
  /// The name of the body, which no other body has ever had.
  let id: String
  /// With the fields that may be stored.
  private(set) var response: HTTPCache.Response
  let selection: Selection
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
    id: String, response: HTTPCache.Response, selection: Selection, requestedAt: Date,
    receivedAt: Date, range: ContentRange?, bodySize: Int, isShared: Bool = false
  ) {
    self.isShared = isShared
    self.id = id
    self.response = response
    self.selection = selection
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
    return fields + selection.values.count * 128 + 512
  }

  /// The bytes of its fields, which have a limit.
  var headSize: Int {
    response.fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
      + selection.values.reduce(0) { $0 + $1.key.utf8.count + ($1.value?.utf8.count ?? 0) }
  }

  /// Whether a separate body of ranges can be cut from this one.
  ///
  /// The client may have decoded the bytes of an encoded body, and ranges count encoded ones.
  var canBeCut: Bool {
    (response.status == 200 || range != nil) && !response.isDecoded
      && !response.fields.contains("Content-Encoding")
  }

  /// The same body with all fields of a response that confirms it, for the request that was confirmed.
  func confirmed(
    by confirmation: HTTPCache.Response, requestedAt: Date, receivedAt: Date
  ) -> StoredResponse {
    let new = StoredFields.storable(
      confirmation.fields, control: CacheControl(of: [:]), receivedAt: receivedAt)
    return StoredResponse(
      id: id, response: merged(with: new, of: confirmation), selection: selection,
      requestedAt: requestedAt, receivedAt: receivedAt, range: range, bodySize: bodySize,
      isShared: isShared)
  }

  /// The head with other fields in the place of those that have the same names.
  private func merged(
    with new: HTTPCache.Fields, of confirmation: HTTPCache.Response
  ) -> HTTPCache.Response {
    var response = self.response
    let new = new.filter { !StoredFields.belongsToBody($0.name) }
    let names = Set(new.map(\.name.lowercasedASCII))
    response.fields.removeAll { names.contains($0.name.lowercasedASCII) }
    for field in new { response.fields.append(field.value, named: field.name) }
    // The age is the confirmation's, even if it has none.
    if !confirmation.fields.contains("Age") { response.fields.removeAll(named: "Age") }
    return response
  }

  /// The same body with those fields of a response that confirms it which are for others, too (RFC 9111, 3.2); nil if these
  /// forbid its use for another request, or if they are too long to be stored.
  func updated(
    by confirmation: HTTPCache.Response, to request: HTTPCache.Request, requestedAt: Date,
    receivedAt: Date
  ) -> StoredResponse? {
    let control = CacheControl(of: confirmation.fields, isShared: isShared)
    var new = StoredFields.storable(confirmation.fields, control: control, receivedAt: receivedAt)
    if isShared { StoredFields.removePersonal(from: &new, control, of: request) }
    var response = merged(with: new, of: confirmation)
    let updated = CacheControl(of: response.fields, isShared: isShared)
    // A confirmation often comes without `Cache-Control`, and that of the stored response stays; or it is the first to name a
    // field that is stored already.
    response.fields.removeAll { updated.noCacheFields.contains($0.name.lowercasedASCII) }
    guard updated.mayStore(response.status),
      !isShared || Reception.mayBeShared(response.fields, updated, of: request),
      let selection = Selection(of: request, for: response.fields, isShared: isShared)
    else { return nil }
    let result = StoredResponse(
      id: id, response: response, selection: selection, requestedAt: requestedAt,
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

  /// The fields without those that belong to one connection or may not be used again, with a `Date`.
  static func storable(
    _ fields: HTTPCache.Fields, control: CacheControl, receivedAt: Date
  ) -> HTTPCache.Fields {
    let named = fields.values(named: "Connection").flatMap { FieldScanner.members(of: $0) }
    let unwanted = ofConnection.union(named.map(\.lowercasedASCII)).union(control.noCacheFields)
    var storable = fields
    storable.removeAll { unwanted.contains($0.name.lowercasedASCII) }
    if !storable.contains("Date") { storable.append(HTTPDate.string(receivedAt), named: "Date") }
    return storable
  }

  /// The fields of a confirmation that its request's answer doesn't have yet.
  static func missing(
    _ confirmation: HTTPCache.Fields, in answer: HTTPCache.Fields, receivedAt: Date
  ) -> [HTTPCache.Fields.Field] {
    storable(confirmation, control: CacheControl(of: [:]), receivedAt: receivedAt)
      .filter { !answer.contains($0.name) && !belongsToBody($0.name) }
  }

  /// The fields of a 304 (RFC 9110, 15.4.5): for how long a response may be used, and which one it is.
  static let ofNotModified: Set<String> = [
    "age", "cache-control", "content-location", "date", "etag", "expires", "last-modified", "vary",
  ]

  /// Removes what a shared cache may not give to others, by a confirmation's own `Cache-Control`: that of the response it
  /// confirms says what that one's fields are, and not for whom others are.
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
