/// A response's `ETag` (RFC 9110, 8.8.3), kept as it was sent, since some servers leave out the quotes.
struct EntityTag: Sendable, Hashable {
  /// With quotes, and with `W/` if it is weak.
  let value: String

  init?(_ value: String) {
    guard !value.isEmpty else { return nil }
    self.value = value
  }

  /// The tags of an `If-None-Match` or `If-Match`; nil for `*`, which any response has.
  static func list(_ value: String) -> [EntityTag]? {
    let members = FieldScanner.members(of: value)
    return members == ["*"] ? nil : members.compactMap(EntityTag.init)
  }

  /// Whether equal tags promise no more than the same meaning.
  var isWeak: Bool { value.hasPrefix("W/") }

  /// Whether equal tags promise equal bytes.
  var isStrong: Bool {
    value.utf8.count >= 2 && value.hasPrefix("\"") && value.hasSuffix("\"")
  }

  func matchesWeakly(_ other: EntityTag) -> Bool { opaque == other.opaque }

  func matchesStrongly(_ other: EntityTag) -> Bool { isStrong && value == other.value }

  private var opaque: Substring { isWeak ? value.dropFirst(2) : value[...] }
}
