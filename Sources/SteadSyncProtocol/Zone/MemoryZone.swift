/// A zone in memory, for simulations and for tests of clients.
///
/// It is a value, so a copy is a backup of the server. Calls cost constant time or that of their results; a purge and a
/// sweep read everything.
package struct MemoryZone: ZoneStorage, Sendable {
  package typealias Entry = Record

  /// The records with their indexes.
  package private(set) var content = MemoryRecords()
  private var zoneState = ZoneState()
  private var clients: [ClientID: ZoneClient] = [:]
  /// The numbers of changes, ascending. A record's last entry is the valid one; earlier ones are skipped.
  private var feed: [(seq: Int64, id: RecordID)] = []
  /// The marks of pushes with their times, ascending by both.
  private var marks: [(mark: Mark, milliseconds: Int64)] = []
  /// The time at which each blob was touched last.
  private var blobs: [BlobID: Int64] = [:]

  package init() {}

  package func state() -> ZoneState { zoneState }
  package mutating func setState(_ state: ZoneState) { zoneState = state }

  package func record(_ id: RecordID) -> Record? { content.record(id) }
  package func holder(of token: UniqueToken) -> RecordID? { content.holder(of: token) }
  package func referrers(of target: RecordID) -> [RecordID] { content.referrers(of: target) }

  package mutating func put(_ record: Record, index: RecordIndex) {
    content.put(record, index: index)
    // A record that is only indexed again keeps its number, which is in the feed.
    if record.seq > feed.last?.seq ?? 0 { feed.append((record.seq, record.id)) }
    // Outdated entries are removed when they are the majority, so that each costs constant time on average.
    if feed.count > 64, feed.count > 2 * content.records.count {
      feed.removeAll { content.record($0.id)?.seq != $0.seq }
    }
  }

  package func records(after seq: Int64, limit: Int) -> [Record] {
    var found: [Record] = []
    var index = feed.partitionIndex { $0.seq > seq }
    while index < feed.count, found.count < limit {
      // Otherwise the record has changed since, and a later entry counts.
      if let record = content.record(feed[index].id), record.seq == feed[index].seq {
        found.append(record)
      }
      index += 1
    }
    return found
  }

  package func records(ofType type: String) -> [Record] {
    content.records.values.filter { $0.type == type && $0.isLive }.sorted { $0.id < $1.id }
  }

  package mutating func purge(upTo seq: Int64) {
    for record in content.records.values where !record.isLive && record.seq <= seq {
      content.remove(record.id)
    }
    // The mark of the number itself stays: a client that is exactly there has seen all that goes.
    marks.removeAll { $0.mark.head < seq }
  }

  package func client(_ client: ClientID) -> ZoneClient { clients[client] ?? ZoneClient() }
  package mutating func setClient(_ client: ClientID, _ state: ZoneClient) {
    clients[client] = state
  }

  package mutating func addMark(_ mark: Mark, at milliseconds: Int64) {
    marks.append((mark, milliseconds))
  }

  package func contains(_ mark: Mark) -> Bool {
    if mark == .start { return zoneState.purged == 0 }
    let index = marks.partitionIndex { $0.mark.head >= mark.head }
    return index < marks.count && marks[index].mark == mark
  }

  package func mark(before milliseconds: Int64) -> Mark? {
    marks.last { $0.milliseconds < milliseconds }?.mark
  }
}

// MARK: - Blobs

extension MemoryZone {
  /// All blobs of the zone.
  package var blobIDs: [BlobID] { blobs.keys.sorted() }

  /// Adds a blob at a time.
  package mutating func addBlob(_ blob: BlobID, at milliseconds: Int64) {
    blobs[blob] = milliseconds
  }

  package func hasBlob(_ blob: BlobID) -> Bool { blobs[blob] != nil }

  package mutating func touchBlobs(_ touched: [BlobID], at milliseconds: Int64) {
    // A blob that was never uploaded has no time to set.
    for blob in touched where blobs[blob] != nil { blobs[blob] = milliseconds }
  }

  package mutating func sweepBlobs(untouchedSince milliseconds: Int64) -> [BlobID] {
    let old = blobs.filter { $0.value < milliseconds && !content.uses($0.key) }.keys.sorted()
    for blob in old { blobs[blob] = nil }
    return old
  }
}

extension Array {
  /// The first index of an element that meets a condition, which all elements after it also meet.
  fileprivate func partitionIndex(_ condition: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if condition(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
