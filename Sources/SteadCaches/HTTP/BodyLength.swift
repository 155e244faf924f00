/// What `Content-Length` says of a body (RFC 9110, 8.6).
enum BodyLength: Sendable, Hashable {
  case unknown
  case bytes(Int)
  /// Values that differ, or that aren't numbers: nobody knows where the body ends.
  case contradictory

  /// The number of bytes, if it is known.
  var count: Int? {
    if case .bytes(let count) = self { return count }
    return nil
  }
}

extension HTTPCache.Fields {
  /// The length that the fields state. A number that is repeated counts once, as clients and caches on the way join
  /// the fields of a name.
  var bodyLength: BodyLength {
    let values = self.values(named: "Content-Length").flatMap { FieldScanner.members(of: $0) }
    guard let first = values.first else {
      return contains("Content-Length") ? .contradictory : .unknown
    }
    guard let count = first.decimalDigits,
      values.dropFirst().allSatisfy({ $0.decimalDigits == count })
    else { return .contradictory }
    return .bytes(count)
  }
}

extension HTTPCache.Response {
  /// Whether the body can have the length that the fields state, if they state one.
  ///
  /// Beside `Transfer-Encoding` a length doesn't count, and may be part of an attack (RFC 9112, 6.3). A 204 has no body.
  var mayHaveStatedLength: Bool {
    switch fields.bodyLength {
    case .unknown: true
    case .contradictory: false
    case .bytes(let count):
      !fields.contains("Transfer-Encoding") && (count == 0 || status != HTTPStatus.noContent)
    }
  }
}
