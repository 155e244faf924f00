/// The range of a blob that a request contains: `Content-Range: bytes 0-99/200`.
struct BlobRange: Sendable, Equatable {
  var start: Int64
  /// The position after the last byte; nil without a header, when the body is the whole blob.
  var end: Int64?
  /// The size of the blob; nil without a header.
  var total: Int64?

  static let whole = BlobRange(start: 0)

  /// Reads a header. Throws ``ServerError`` unless it is a range within a blob.
  init(_ header: String?) throws {
    guard let header else {
      self = .whole
      return
    }
    let numbers = header.dropFirst(6).split(
      omittingEmptySubsequences: false, whereSeparator: { $0 == "-" || $0 == "/" }
    ).map { Int64($0) }
    guard header.hasPrefix("bytes "), numbers.count == 3, let start = numbers[0],
      let last = numbers[1], let total = numbers[2], 0 <= start, start <= last, last < total
    else {
      throw ServerError(
        .malformed, "The header Content-Range isn't a range.",
        remedy: "Write it like `bytes 0-99/200`.")
    }
    self.init(start: start, end: last + 1, total: total)
  }

  private init(start: Int64, end: Int64? = nil, total: Int64? = nil) {
    self.start = start
    self.end = end
    self.total = total
  }
}
