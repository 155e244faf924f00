/// A client's request for changes: the records whose numbers are greater than the cursor's.
///
/// A first fetch, a catch-up after a year and a fetch after a purge are the same request. In HTTP it is the query of a
/// URL:
///
/// ```
/// GET /v1/zones/{zone}/changes?client=c1&cursor=17.0.17.00000000000000ab&limit=400&acknowledged=1
/// ```
///
/// "Changes" in Documentation/SyncProtocol.md.
package struct ChangesRequest: Hashable, Sendable {
  /// The client whose transactions the page describes.
  package var client: ClientID
  /// How far the client has read; nil to start from the beginning.
  package var cursor: Cursor?
  /// The maximum number of records.
  package var limit: Int
  /// The client's last transaction that a page has included or refused.
  package var acknowledged: Int64
  /// Marks that the client keeps, newest first. Sent without a cursor, and if the server has answered
  /// ``ChangesAnswer/rollback(common:)`` without a mark.
  package var marks: [Mark]
  /// How often the client has restarted a fetch. The server ignores it; the client compares it, to recognise an answer
  /// to an earlier fetch with the same cursor.
  package var round: Int64

  package init(
    client: ClientID, cursor: Cursor?, limit: Int, acknowledged: Int64, marks: [Mark] = [],
    round: Int64 = 0
  ) {
    self.round = round
    self.client = client
    self.cursor = cursor
    self.limit = limit
    self.acknowledged = acknowledged
    self.marks = marks
  }
}

extension ChangesRequest: SyncCodable {
  package init(syncValue: SyncValue) throws(SyncCodingError) {
    let reader = try MemberReader(message: syncValue, "request")
    self.init(
      client: try reader.identifier("client"), cursor: try reader.codedIfPresent("cursor"),
      limit: Int(try reader.count("limit")), acknowledged: try reader.count("acknowledged"),
      marks: try reader.codedIfPresent("marks") ?? [],
      round: reader.value("round") == nil ? 0 : try reader.count("round"))
  }

  package var syncValue: SyncValue {
    .message([
      "client": .identifier(client), "cursor": cursor?.syncValue, "limit": .int(Int64(limit)),
      "acknowledged": .int(acknowledged), "marks": marks.isEmpty ? nil : marks.syncValue,
      "round": round == 0 ? nil : .int(round),
    ])
  }

  /// The request as items of a URL's query, without the round. Only the client's value needs percent-encoding.
  package var queryItems: [(name: String, value: String)] {
    var items = [("client", client.text)]
    if let cursor { items.append(("cursor", cursor.description)) }
    items += [("limit", String(limit)), ("acknowledged", String(acknowledged))]
    if !marks.isEmpty {
      items.append(("marks", marks.map(\.description).joined(separator: ",")))
    }
    return items
  }

  /// Reads the items of a URL's query, decoded. Throws ``SyncCodingError``.
  package init(query: [String: String]) throws(SyncCodingError) {
    func problem(_ name: String) -> SyncCodingError {
      SyncCodingError(.unexpected, "The item \(name) of the query isn't what it should be.")
    }
    guard let client = query["client"].flatMap({ ClientID($0) }) else { throw problem("client") }
    var cursor: Cursor?
    if let text = query["cursor"] {
      cursor = Cursor(text)
      if cursor == nil { throw problem("cursor") }
    }
    var numbers = ["limit": Int64(ChangesRequest.defaultLimit), "acknowledged": 0]
    // Sorted, so that of two bad items the same one is reported each time.
    for name in numbers.keys.sorted() {
      guard let text = query[name] else { continue }
      guard let number = Int64(decimal: text) else { throw problem(name) }
      numbers[name] = number
    }
    let words = (query["marks"] ?? "").split(separator: ",")
    let marks = words.compactMap { Mark(String($0)) }
    // A mark that was dropped silently could make the common mark an older one.
    guard marks.count == words.count else { throw problem("marks") }
    self.init(
      client: client, cursor: cursor, limit: Int(numbers["limit"] ?? 0),
      acknowledged: numbers["acknowledged"] ?? 0, marks: marks)
  }

  /// The maximum number of records in a page if the query has no limit.
  package static let defaultLimit = 400
}

// MARK: - The answer

/// A server's answer to a request for changes.
///
/// ```
/// {"answer":"page","client":"c1","cursor":"18.0.18.00000000000000ac","records":[…], … ,"v":1}
/// {"answer":"rollback","common":"17.00000000000000ab","v":1}
/// {"answer":"expired","v":1}
/// ```
package enum ChangesAnswer: Hashable, Sendable {
  /// The changes after the cursor.
  case page(Page)
  /// Changes that the client lacks have been purged: it must fetch from the start.
  case expired
  /// The server has forgotten something that the client has seen: everything after the common mark, the newest that
  /// both have. Without a common mark, the client must ask again with its marks.
  case rollback(common: Mark?)
}

extension ChangesAnswer: SyncCodable {
  package init(syncValue: SyncValue) throws(SyncCodingError) {
    let reader = try MemberReader(message: syncValue, "answer")
    switch try reader.string("answer") {
    case "page": self = .page(try Page(reader))
    case "expired": self = .expired
    case "rollback": self = .rollback(common: try reader.codedIfPresent("common"))
    default: throw reader.problem("answer", "an answer that is known")
    }
  }

  package var syncValue: SyncValue {
    switch self {
    case .page(let page): page.syncValue
    case .expired: .message(["answer": "expired"])
    case .rollback(let common):
      .message(["answer": "rollback", "common": common?.syncValue])
    }
  }

  /// The bytes of ``syncValue``, which isn't made for a page. Costs time in proportion to its size.
  package func encoded() -> [UInt8] {
    guard case .page(let page) = self else { return JSONWriter.bytes(syncValue) }
    var writer = JSONWriter()
    page.write(to: &writer)
    return writer.bytes
  }

  /// The status of the answer in HTTP.
  package var status: Int {
    if case .page = self { 200 } else { 410 }
  }
}

// MARK: - Pages

/// The states of the records that have changed since a cursor, in the order of their numbers.
///
/// A record has its last number only, so one that changes during a fetch moves to a later page, and no page has all of
/// a transaction. A page without ``more`` ends at the head: with it and all earlier ones, the client has every
/// transaction as a whole.
///
/// "Changes" in Documentation/SyncProtocol.md has each member.
package struct Page: Hashable, Sendable {
  /// The client of the request. A client that was numbered again drops the page.
  package var client: ClientID
  /// The cursor of the request, so that a page that arrives late or twice is recognised.
  package var after: Cursor?
  /// In the order of their numbers.
  package var records: [Record]
  /// The cursor of the next request.
  package var cursor: Cursor
  /// Whether further pages follow.
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

  /// Writes the page's members. The records are written without a ``SyncValue`` of each, since a page has up to a
  /// thousand.
  func write(to writer: inout some ValueWriter) {
    write(to: &writer) { writer in
      writer.writeArray(records) { $1.write(to: &$0) }
    }
  }

  /// Writes the page's members, of which `writeRecords` writes the array of the records.
  ///
  /// Its place among the members is that of its name: equal pages must have equal bytes.
  func write<Writer: ValueWriter>(
    to writer: inout Writer, writeRecords: (inout Writer) -> Void
  ) {
    let members = SyncValue.sorted(frame.object ?? [:])
    // All names are ASCII, so the order of strings is that of their bytes.
    let later = members.firstIndex { $0.key > "records" } ?? members.endIndex
    writer.writeObject { writer in
      for (name, value) in members[..<later] {
        writer.name(name)
        writer.write(value)
      }
      writer.name("records")
      writeRecords(&writer)
      for (name, value) in members[later...] {
        writer.name(name)
        writer.write(value)
      }
    }
  }
}

// MARK: - Encoded pages

/// What a page is decided by of a record: where the feed has it, its size, and whether it is a tombstone.
package protocol FeedEntry {
  /// The number of the record's last change.
  var seq: Int64 { get }
  /// ``Record/size``.
  var size: Int { get }
  /// Whether the record isn't a tombstone.
  var isLive: Bool { get }
}

extension Record: FeedEntry {}

/// A record as a database has it: its encoding, with what a page is decided by in columns.
///
/// A page takes the encoding over as it is, so that neither is the record decoded nor the page's records encoded.
package struct EncodedRecord: FeedEntry, Hashable, Sendable {
  package let seq: Int64
  package let size: Int
  package let isLive: Bool
  /// The bytes of ``Record/encoded()``.
  package let bytes: [UInt8]

  /// Checks an encoding, in time proportional to its bytes: it must be one object in well-formed JSON, and have the
  /// number of its row. Otherwise a damaged row would make JSON of a page that no device can read, or give devices a
  /// record under another one's number.
  ///
  /// Nothing else is checked: the devices decode the page, and refuse it as a whole if one of its records isn't a
  /// record.
  ///
  /// - Throws: ``SyncCodingError``.
  package init(_ bytes: [UInt8], seq: Int64, size: Int, isLive: Bool) throws(SyncCodingError) {
    guard try JSONReader.wholeNumber("seq", in: bytes) == seq else {
      throw SyncCodingError(.unexpected, "The member seq of the record isn't that of its row.")
    }
    self.seq = seq
    self.size = size
    self.isLive = isLive
    self.bytes = bytes
  }
}

// MARK: - Pages

extension Page {
  /// The bytes of the page with these records instead of its own.
  ///
  /// Invariant: they are those of `ChangesAnswer.page(_:)` with the records decoded, if the encodings are what
  /// ``Record/encoded()`` writes. So it makes no difference to devices where a page was spliced.
  func encoded(with records: [EncodedRecord]) -> [UInt8] {
    var writer = JSONWriter()
    // The records with their commas, and about the size of the other members.
    writer.reserveCapacity(records.reduce(500) { $0 + $1.bytes.count + 1 })
    write(to: &writer) { writer in
      writer.writeArray(records) { $0.write(encoded: $1.bytes) }
    }
    return writer.bytes
  }
}

/// A server's answer to a request for changes, with a page in bytes already.
package enum EncodedAnswer: Hashable, Sendable {
  /// The bytes of a ``ChangesAnswer/page(_:)``.
  case page([UInt8])
  /// An answer without records.
  case other(ChangesAnswer)
}
