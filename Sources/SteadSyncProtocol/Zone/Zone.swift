/// The server's side of a zone: applies pushes, and answers requests for changes.
///
/// A state machine over its storage: each call passes the time and a random token. Calls on one zone come one after
/// another. A push costs some look-ups for each mutation; a page costs its records.
package struct Zone<Storage: ZoneStorage> {
  /// Decides the fate of records; its storage is the zone's.
  package var merger: Merger<Storage>
  package var limits: SyncLimits

  package init(_ storage: Storage, limits: SyncLimits = SyncLimits()) {
    merger = Merger(storage, schema: .empty)
    self.limits = limits
  }

  /// The zone's storage.
  package var storage: Storage {
    get { merger.overlay.base }
    // In place: a copy would cost as much as the zone has records.
    _modify { yield &merger.overlay.base }
  }

  /// Whether ``takeNotes()`` will be called.
  package var keepsNotes: Bool {
    get { merger.keepsNotes }
    set { merger.keepsNotes = newValue }
  }

  /// What merges have done since the last call.
  package mutating func takeNotes() -> [MergeNote] { merger.takeNotes() }
}

// MARK: Reading

extension Zone {
  /// Answers a request for the changes since a cursor.
  package func changes(
    _ request: ChangesRequest, now: Int64
  ) throws(Storage.Failure) -> ChangesAnswer {
    let state = try storage.state()
    if let cursor = request.cursor {
      let progress = max(cursor.seq, cursor.start)
      if progress < state.purged { return .expired }
      guard try knows(cursor.anchor) else { return try rollback(request, state) }
    } else if let newest = request.marks.first {
      guard try knows(newest) else { return try rollback(request, state) }
    }
    return .page(try page(request, state, now: now))
  }

  /// Whether the zone has everything that it had at a mark.
  func knows(_ mark: Mark) throws(Storage.Failure) -> Bool {
    try storage.contains(mark)
  }

  private func rollback(
    _ request: ChangesRequest, _ state: ZoneState
  ) throws(Storage.Failure) -> ChangesAnswer {
    guard !request.marks.isEmpty else { return .rollback(common: nil) }
    var common = Mark.start
    for mark in request.marks where mark.head > common.head {
      if try storage.contains(mark) { common = mark }
    }
    // The client's records from before the purge may have been deleted since.
    return common.head < state.purged ? .expired : .rollback(common: common)
  }

  private func page(
    _ request: ChangesRequest, _ state: ZoneState, now: Int64
  ) throws(Storage.Failure) -> Page {
    let head = state.mark.head
    let begin = request.cursor ?? Cursor(seq: 0, start: head, anchor: state.mark)
    let limit = min(max(request.limit, 1), limits.pageRecords)
    let found = try storage.records(after: begin.seq, limit: limit)
    var (records, bytes, seq, isCut) = ([Record](), 0, begin.seq, found.count == limit)
    for record in found {
      bytes += record.size
      if !records.isEmpty, bytes > limits.pageBytes {
        isCut = true
        break
      }
      seq = record.seq
      if record.isLive || record.seq > begin.start { records.append(record) }
    }
    let more = isCut && seq < head
    if !more { seq = head }
    let client = try storage.client(request.client)
    return Page(
      client: request.client, after: request.cursor, records: records,
      cursor: Cursor(seq: seq, start: begin.start, anchor: state.mark), more: more,
      last: client.last, digest: client.digest,
      refused: client.refusals.filter { $0.number > request.acknowledged }.map(\.withoutIDs),
      purged: state.purged, now: max(now, state.now))
  }
}

// MARK: Upkeep

extension Zone {
  /// Removes the tombstones that are older than the limit. A cursor below them is then expired.
  package mutating func purge(now: Int64) throws(Storage.Failure) {
    guard let mark = try storage.mark(before: now - limits.tombstoneAge) else { return }
    var state = try storage.state()
    guard mark.head > state.purged else { return }
    try storage.purge(upTo: mark.head)
    state.purged = mark.head
    try storage.setState(state)
  }

  /// Removes the blobs that no live record has named for the time of the limit; returns them.
  package mutating func sweep(now: Int64) throws(Storage.Failure) -> [BlobID] {
    try storage.sweepBlobs(untouchedSince: now - limits.blobGrace)
  }

  /// Sets the oldest schema that may write.
  package mutating func setMinimumSchema(_ version: Int) throws(Storage.Failure) {
    var state = try storage.state()
    state.minimumSchema = version
    try storage.setState(state)
  }
}

extension Zone: Sendable where Storage: Sendable {}
