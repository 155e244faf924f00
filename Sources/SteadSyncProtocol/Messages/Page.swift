/// The states of the records that have changed since a cursor.
package struct Page: Hashable, Sendable {
  package var client: ClientID
  /// The cursor of the request, so that a page that arrives late or twice is recognised.
  package var after: Cursor?
  /// In the order of their numbers.
  package var records: [Record]
  /// The cursor of the next request.
  package var cursor: Cursor
  /// Whether there is more. A page without more leads to the head: every transaction is complete.
  package var more: Bool
  /// The client's last transaction that this state includes or refuses.
  package var last: Int64
  /// The digest of the client's transactions up to that one.
  package var digest: TransactionDigest
  /// The client's refused transactions after those that it knows.
  package var refused: [Refusal]
  /// The number up to which tombstones were purged; clients need not keep them longer.
  package var purged: Int64
  /// The server's time in milliseconds since 1970.
  package var now: Int64

  package init(
    client: ClientID, after: Cursor?, records: [Record], cursor: Cursor, more: Bool, last: Int64,
    digest: TransactionDigest, refused: [Refusal], purged: Int64, now: Int64
  ) {
    self.client = client
    self.after = after
    self.records = records
    self.cursor = cursor
    self.more = more
    self.last = last
    self.digest = digest
    self.refused = refused
    self.purged = purged
    self.now = now
  }
}

extension Page {
  init(_ reader: MemberReader) throws(SyncCodingError) {
    self.init(
      client: try reader.identifier("client"), after: try reader.codedIfPresent("after"),
      records: try reader.coded("records"), cursor: try reader.coded("cursor"),
      more: try reader.bool("more"), last: try reader.count("last"),
      digest: try reader.coded("digest"),
      refused: try reader.codedIfPresent("refused") ?? [], purged: try reader.count("purged"),
      now: try reader.int("now"))
  }

  var syncValue: SyncValue { ValueBuilder.value { write(to: &$0) } }

  /// The page without its records.
  private var frame: SyncValue {
    .message([
      "answer": "page", "client": .identifier(client), "after": after?.syncValue,
      "cursor": cursor.syncValue, "more": .bool(more), "last": .int(last),
      "digest": digest.syncValue, "refused": refused.isEmpty ? nil : refused.syncValue,
      "purged": .int(purged), "now": .int(now),
    ])
  }

  /// Writes the page's members.
  func write(to writer: inout some ValueWriter) {
    let members = SyncValue.sorted(frame.object ?? [:])
    let later = members.firstIndex { $0.key > "records" } ?? members.endIndex
    writer.writeObject { writer in
      for (name, value) in members[..<later] {
        writer.name(name)
        writer.write(value)
      }
      writer.name("records")
      writer.writeArray(records) { $1.write(to: &$0) }
      for (name, value) in members[later...] {
        writer.name(name)
        writer.write(value)
      }
    }
  }
}
