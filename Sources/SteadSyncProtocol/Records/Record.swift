/// The state of a record in its zone: live, deleted, or an alias of another record.
///
/// A live record has at least one incarnation. A tombstone has none and no fields; one with ``into`` is an alias: the
/// record was merged into that one, where its incarnations live on.
package struct Record: Hashable, Sendable {
  package var id: RecordID
  /// The wire name of the record's type.
  package var type: String
  /// The number of the record's last change in its zone; 0 if the server has not numbered it.
  package var seq: Int64
  /// The stamp of the insert; of several, the smallest. Of two records with the same unique key the smaller wins.
  package var at: Stamp
  /// The incarnations that are alive, ascending.
  package var live: [Incarnation]
  /// Incarnations that have ended here, oldest first; none of them is ever live here again.
  package var dead: [Incarnation]
  /// The record that this one was merged into.
  package var into: RecordID?
  /// The values by wire name. Names that a schema doesn't know are kept.
  package var fields: [String: Field]
  /// Members of the encoding that this version doesn't know, kept as they are.
  package var extra: [String: SyncValue]

  /// The maximum number of incarnations in each list; beyond it the oldest dead ones are forgotten.
  package static let incarnationLimit = 64

  package init(
    id: RecordID, type: String, seq: Int64 = 0, at: Stamp, live: [Incarnation] = [],
    dead: [Incarnation] = [], into: RecordID? = nil, fields: [String: Field] = [:],
    extra: [String: SyncValue] = [:]
  ) {
    self.id = id
    self.type = type
    self.seq = seq
    self.at = at
    self.live = live
    self.dead = dead
    self.into = into
    self.fields = fields
    self.extra = extra
  }

  /// Whether the record exists for its users.
  package var isLive: Bool { !live.isEmpty }
  /// Whether the record was merged into another.
  package var isAlias: Bool { live.isEmpty && into != nil }

  /// The record's size for quotas. For a tombstone, only members that this version doesn't know count.
  package var size: Int {
    let unknown = extra.reduce(0) { $0 + $1.key.utf8.count + $1.value.size }
    guard isLive else { return unknown }
    return unknown
      + fields.reduce(id.text.utf8.count + type.utf8.count) {
        $0 + $1.key.utf8.count + $1.value.value.size
      }
  }

  /// The greatest stamp of the record.
  package var newest: Stamp { fields.values.reduce(at) { max($0, $1.stamp) } }
}

extension Record {
  /// Adds live incarnations, without those that have ended here.
  mutating func revive(_ incarnations: [Incarnation]) {
    if live.isEmpty, dead.isEmpty, incarnations.count <= 1 {
      live = incarnations
    } else {
      live = Set(live).union(incarnations).subtracting(dead).sorted()
    }
  }

  /// Ends the first incarnations beyond the limit, other than one. Returns them.
  mutating func trim(keeping kept: Incarnation?) -> [Incarnation] {
    let surplus = live.count - Self.incarnationLimit
    guard surplus > 0 else { return [] }
    let ended = Array(live.filter { $0 != kept }.prefix(surplus))
    end(ended)
    return ended
  }

  /// Ends incarnations, live or not yet known.
  mutating func end(_ incarnations: [Incarnation]) {
    for incarnation in incarnations where !dead.contains(incarnation) { dead.append(incarnation) }
    live.removeAll(where: incarnations.contains)
    if dead.count > Self.incarnationLimit { dead.removeFirst(dead.count - Self.incarnationLimit) }
    if live.isEmpty { fields = [:] }
  }
}
