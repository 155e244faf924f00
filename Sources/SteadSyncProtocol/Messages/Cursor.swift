/// How far a client has read a zone.
package struct Cursor: Hashable, Sendable {
  /// The number of the last change that it has.
  package var seq: Int64
  /// The zone's head when the client started from the beginning. Until it has read that far it gets no tombstones, and
  /// no purge before that affects it.
  package var start: Int64
  /// The zone's last mark when the latest page was read.
  package var anchor: Mark

  package init(seq: Int64, start: Int64, anchor: Mark) {
    self.seq = seq
    self.start = start
    self.anchor = anchor
  }
}

// `"seq.start.head.token"`.
extension Cursor: LosslessStringConvertible, SyncCodable {
  /// Parses what ``description`` returns; nil for anything else.
  package init?(_ text: String) {
    let parts = text.split(separator: ".", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, let seq = Int64(decimal: parts[0]),
      let start = Int64(decimal: parts[1]),
      let anchor = Mark(String(parts[2]))
    else { return nil }
    self.init(seq: seq, start: start, anchor: anchor)
  }

  package var description: String { "\(seq).\(start).\(anchor)" }

  package init(syncValue: SyncValue) throws(SyncCodingError) {
    guard let cursor = syncValue.string.flatMap({ Cursor($0) }) else {
      throw SyncCodingError(.unexpected, "A cursor isn't two numbers and a mark.")
    }
    self = cursor
  }

  package var syncValue: SyncValue { .string(description) }
}
