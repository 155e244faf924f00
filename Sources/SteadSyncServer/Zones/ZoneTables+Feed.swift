#if Server
import SteadSQLite
import SteadSyncProtocol

extension ZoneTables {
  /// The records after a number, encoded: at most a limit, and no more than fit into a page's bytes.
  ///
  /// - Throws: ``EngineError`` if the database fails, or if a body is damaged, also of a record that the page leaves
  ///   out.
  func records(after seq: Int64, limit: Int) throws -> [EncodedRecord] {
    // Sizes first: a thousand large records don't fit into a page.
    let sizes = try session.rows(
      "SELECT seq, size FROM records WHERE zone = $1 AND seq > $2 ORDER BY seq LIMIT $3",
      [zone, .integer(seq), .integer(Int64(limit))])
    guard let last = try sizes[..<fitting(sizes)].last else { return [] }
    let rows = try session.rows(
      """
      SELECT seq, size, dead, body FROM records WHERE zone = $1 AND seq > $2 AND seq <= $3
      ORDER BY seq
      """, [zone, .integer(seq), last.values[0]])
    return try rows.map { row in
      try StoredForm.record(
        try row.bytes(3), seq: try row.integer(0), size: Int(try row.integer(1)),
        isLive: try row.integer(2) == 0)
    }
  }

  /// How many of the first records are fetched. The last of them exceeds the page's bytes, so that ``Zone`` ends the
  /// page by its own count; at least one comes before it.
  private func fitting(_ sizes: [SQLRow]) throws -> Int {
    var (bytes, live): (Int64, Int) = (0, 0)
    for (index, row) in sizes.enumerated() {
      // Tombstones, whose size is mostly 0, don't count: `Zone` may leave them out, and a page
      // needs a record.
      let size = try row.integer(1)
      bytes += size
      if size > 0 { live += 1 }
      if bytes > Int64(pageBytes), live > 1 { return index + 1 }
    }
    return sizes.count
  }

  /// All live records of a type, in the order of their identities and with the changes of this transaction. Costs
  /// time and memory for all of them: it is called only when a zone's schema has grown.
  func records(ofType type: String) throws -> [Record] {
    let rows = try session.rows(
      "SELECT id FROM records WHERE zone = $1 AND type = $2 AND dead = 0", [zone, .text(type)])
    var ids = Set(try rows.map { try Self.identifier($0.text(0), as: RecordID.self) })
    // All at once; each would otherwise cost a query of its own below.
    try prepare(ids)
    // This transaction may have made a record of the type, or ended one that the query has found.
    for (id, change) in changes where change.record.type == type {
      if change.record.isLive { ids.insert(id) } else { ids.remove(id) }
    }
    return try ids.sorted().compactMap(record)
  }

  /// Removes the tombstones up to a number, and the marks below it. The mark of that number stays: clients that were
  /// exactly there have seen all tombstones that go.
  func purge(upTo seq: Int64) throws {
    try session.change(
      "DELETE FROM records WHERE zone = $1 AND seq <= $2 AND dead = 1", [zone, .integer(seq)])
    try session.change("DELETE FROM marks WHERE zone = $1 AND head < $2", [zone, .integer(seq)])
    // The cache may have records that were just deleted.
    stored = [:]
  }
}

// MARK: Marks

extension ZoneTables {
  /// The number of marks that are read at once.
  private static let marksAtOnce: Int64 = 1_000

  /// Adds the mark of a push, which is written by ``flush()``.
  func addMark(_ mark: Mark, at milliseconds: Int64) { newMarks.append((mark, milliseconds)) }

  /// Whether the zone's history has a mark. The beginning counts until the first purge, after which a client that has
  /// seen nothing could miss tombstones.
  func contains(_ mark: Mark) throws -> Bool {
    if mark == .start { return row.state.purged == 0 }
    // Most clients have seen everything.
    if mark == row.state.mark { return true }
    if newMarks.contains(where: { $0.mark == mark }) { return true }
    let found = try session.row(
      "SELECT token FROM marks WHERE zone = $1 AND head = $2", [zone, .integer(mark.head)])
    return try found?.integer(0) == Int64(bitPattern: mark.token)
  }

  /// The newest mark that was made before a moment; nil if there is none.
  ///
  /// Reads upwards from the oldest mark, because the last purge left few of the old ones. An index by time would cost
  /// a write with each push.
  func mark(before milliseconds: Int64) throws -> Mark? {
    var newest: Mark?
    while true {
      let rows = try session.rows(
        """
        SELECT head, token, made FROM marks WHERE zone = $1 AND head > $2 ORDER BY head LIMIT $3
        """, [zone, .integer(newest?.head ?? -1), .integer(Self.marksAtOnce)])
      for row in rows {
        guard try row.integer(2) < milliseconds else { return newest }
        newest = Mark(head: try row.integer(0), token: UInt64(bitPattern: try row.integer(1)))
      }
      if rows.count < Int(Self.marksAtOnce) { return newest }
    }
  }
}

// MARK: Blobs

extension ZoneTables {
  /// Whether the zone has a blob. A push that asks can't be merged in advance: see ``usesBlobs``.
  func hasBlob(_ blob: BlobID) throws -> Bool {
    usesBlobs = true
    return try session.row(
      "SELECT size FROM blobs WHERE zone = $1 AND sha256 = $2", [zone, .text(blob.text)]) != nil
  }

  /// Starts the grace period of blobs again, when records name them or no longer do.
  func touchBlobs(_ blobs: [BlobID], at milliseconds: Int64) {
    usesBlobs = true
    for blob in blobs { touchedBlobs[blob] = milliseconds }
  }

  /// Removes the rows of the blobs that no live record names and that weren't touched since a moment. Their files are
  /// removed after the commit.
  func sweepBlobs(untouchedSince milliseconds: Int64) throws -> [BlobID] {
    let rows = try session.rows(
      """
      DELETE FROM blobs WHERE zone = $1 AND touched < $2 AND NOT EXISTS (
        SELECT 1 FROM blob_refs r WHERE r.zone = blobs.zone AND r.sha256 = blobs.sha256)
      RETURNING sha256, size
      """, [zone, .integer(milliseconds)])
    // The counter in the zone's row, which ``flush()`` writes.
    for row in rows { self.row.blobBytes -= try row.integer(1) }
    if !rows.isEmpty { isStateChanged = true }
    return try rows.map { try Self.identifier($0.text(0), as: BlobID.self) }.sorted()
  }
}
#endif
