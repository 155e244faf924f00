import Foundation

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
