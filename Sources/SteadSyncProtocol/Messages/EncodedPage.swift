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
