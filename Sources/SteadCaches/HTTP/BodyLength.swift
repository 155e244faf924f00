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
