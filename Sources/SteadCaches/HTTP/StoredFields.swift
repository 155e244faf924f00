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

  /// The fields of a confirmation that a stored response doesn't have, since they may not be used again: they are for the
  /// request that was confirmed alone, such as one user's `Set-Cookie`.
  static func unstored(
    _ confirmation: HTTPCache.Fields, in stored: HTTPCache.Fields, receivedAt: Date
  ) -> [HTTPCache.Fields.Field] {
    storable(confirmation, control: CacheControl(of: [:]), receivedAt: receivedAt)
      .filter { !stored.contains($0.name) && !belongsToBody($0.name) }
  }

  /// Whether a field describes the bytes of the message that it came with, and not another's.
  static func belongsToBody(_ name: String) -> Bool {
    ["content-length", "content-range", "content-encoding"].contains(name.lowercasedASCII)
  }
}
