/// The state of a record in its zone: live, deleted, or an alias of another record.
///
/// ```
/// {"at":[1700000000000,3,"d1"],"fields":{"name":["Milk"],"parent":[null,1700000000500,0,"d2",1]},"id":"t1",
///  "live":["c1-1-1700000000000-3"],"seq":17,"type":"Task"}
/// {"at":[1700000000000,3,"d1"],"dead":["c2-9-1700000000100-0"],"id":"t2","into":"t1","seq":18,"type":"Task"}
/// ```
///
/// A live record has at least one incarnation. A tombstone has none and no fields; one with ``into`` is an alias: the
/// record was merged into that one, where its incarnations live on.
///
/// An incarnation, a *life* in Documentation/SyncProtocol.md, begins with an insert and ends with a deletion. Edits and
/// deletions name those that their author saw. So they leave alone a record that was deleted and inserted again, or
/// that another device inserted under the same identity.
///
/// "Records" in Documentation/SyncProtocol.md has the members to the byte.
package struct Record: Hashable, Sendable {
  package var id: RecordID
  /// The wire name of the record's type.
  package var type: String
  /// The number of the record's last change in its zone; 0 if the server has not numbered it.
  package var seq: Int64
  /// The stamp of the insert; of several, the smallest. Of two records with one unique key, that with the smaller `at`
  /// stays.
  package var at: Stamp
  /// The incarnations that are alive, ascending.
  package var live: [Incarnation]
  /// Incarnations that have ended here, oldest first; none of them is ever live here again.
  package var dead: [Incarnation]
  /// The record that this one was merged into.
  package var into: RecordID?
  /// The values by wire name. Names that a schema doesn't know are kept.
  package var fields: [String: Field]
  /// Members of the encoding that this version doesn't know. They are kept, so that an older server or client in
  /// between doesn't lose what newer ones exchange.
  package var extra: [String: SyncValue]

  /// The maximum number of incarnations in each list. Beyond it the oldest dead ones are dropped, and live ones are
  /// ended.
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

  /// Whether the record exists for programs.
  package var isLive: Bool { !live.isEmpty }
  /// Whether the record was merged into another.
  package var isAlias: Bool { live.isEmpty && into != nil }

  /// The record's size for quotas, as Documentation/SyncProtocol.md defines it. A tombstone has only the size of
  /// members that this version doesn't know: deleting always frees space.
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
  /// Adds live incarnations, except those that have ended here.
  mutating func revive(_ incarnations: [Incarnation]) {
    if live.isEmpty, dead.isEmpty, incarnations.count <= 1 {
      // Most records have one incarnation in all: no sets are made.
      live = incarnations
    } else {
      live = Set(live).union(incarnations).subtracting(dead).sorted()
    }
  }

  /// Ends the first live incarnations beyond the limit, other than a given one. Returns those that it has ended.
  mutating func trim(keeping kept: Incarnation?) -> [Incarnation] {
    let surplus = live.count - Self.incarnationLimit
    guard surplus > 0 else { return [] }
    // The smallest names, so that every replica ends the same ones.
    let ended = Array(live.filter { $0 != kept }.prefix(surplus))
    end(ended)
    return ended
  }

  /// Ends incarnations, also those that this record never saw: an insert that arrives after its deletion has no effect
  /// then.
  mutating func end(_ incarnations: [Incarnation]) {
    for incarnation in incarnations where !dead.contains(incarnation) { dead.append(incarnation) }
    live.removeAll(where: incarnations.contains)
    // A forgotten incarnation counts as new: a late insert of it would be taken for another life.
    if dead.count > Self.incarnationLimit { dead.removeFirst(dead.count - Self.incarnationLimit) }
    // A tombstone has no fields, so deleting frees their space.
    if live.isEmpty { fields = [:] }
  }
}

// MARK: - Fields

/// A value of a record with the stamp of its edit.
package struct Field: Hashable, Sendable {
  /// The value, which the schema gives a meaning.
  package var value: SyncValue
  /// When and by whom it was edited.
  package var stamp: Stamp

  package init(_ value: SyncValue, _ stamp: Stamp) {
    self.value = value
    self.stamp = stamp
  }
}

// MARK: - Coding

extension Record: SyncCodable {
  private static let names: Set<String> = [
    "id", "type", "seq", "at", "live", "dead", "into", "fields",
  ]

  package init(syncValue: SyncValue) throws(SyncCodingError) {
    let reader = try MemberReader(syncValue, "record")
    let at: Stamp = try reader.coded("at")
    var fields: [String: Field] = [:]
    if reader.value("fields") != nil {
      for (name, value) in try reader.object("fields") {
        fields[name] = try Field(value, in: at)
      }
    }
    let live: [Incarnation] = try reader.identifiers("live")
    // A peer may send the lives in any order, or one twice; `live` is ascending.
    self.init(
      id: try reader.identifier("id"), type: try reader.string("type"),
      seq: try reader.count("seq"), at: at, live: Set(live).sorted(),
      dead: try reader.identifiers("dead"),
      into: reader.value("into") == nil ? nil : try reader.identifier("into"), fields: fields,
      extra: reader.members.filter { !Self.names.contains($0.key) })
  }

  package var syncValue: SyncValue { ValueBuilder.value { write(to: &$0) } }

  /// The bytes of ``syncValue``, which isn't made. Costs time in proportion to its size.
  package func encoded() -> [UInt8] {
    var writer = JSONWriter()
    // About the size of the members' names and the stamps.
    writer.reserveCapacity(size + 8 * fields.count + 200)
    write(to: &writer)
    return writer.bytes
  }

  /// Writes the record's members. Those of later versions, ``extra``, come between the others.
  ///
  /// Invariant: the names are in the order of their UTF-8, each once, so that a record which passes through an older
  /// peer has the same bytes afterwards.
  func write(to writer: inout some ValueWriter) {
    var others = SyncValue.sorted(extra)[...]
    writer.writeObject { writer in
      func name(_ name: String, _ writer: inout some ValueWriter) {
        while let other = others.first, !SyncValue.precedes(name, other.key) {
          others.removeFirst()
          // The record's own value counts.
          if other.key == name { continue }
          writer.name(other.key)
          writer.write(other.value)
        }
        writer.name(name)
      }
      name("at", &writer)
      writer.writeArray { at.writeElements(to: &$0) }
      if !dead.isEmpty {
        name("dead", &writer)
        writer.writeArray(dead) { $0.write(text: $1.text) }
      }
      if !fields.isEmpty {
        name("fields", &writer)
        writer.writeObject { write(fields, to: &$0) }
      }
      name("id", &writer)
      writer.write(text: id.text)
      if let into {
        name("into", &writer)
        writer.write(text: into.text)
      }
      if !live.isEmpty {
        name("live", &writer)
        writer.writeArray(live) { $0.write(text: $1.text) }
      }
      name("seq", &writer)
      writer.write(.int(seq))
      name("type", &writer)
      writer.write(text: type)
      for other in others {
        writer.name(other.key)
        writer.write(other.value)
      }
    }
  }

  private func write(_ fields: [String: Field], to writer: inout some ValueWriter) {
    for index in SyncValue.order(of: fields) {
      writer.name(fields.keys[index])
      fields.values[index].write(in: at, to: &writer)
    }
  }
}

// `[value]` where the stamp is the record's `at`, and else `[value, milliseconds, counter, "device"]`, with the
// bump at the end unless it is 0.
extension Field {
  fileprivate init(_ value: SyncValue, in at: Stamp) throws(SyncCodingError) {
    guard let values = value.array, let first = values.first else {
      throw SyncCodingError(.unexpected, "A field isn't an array.")
    }
    if values.count == 1 {
      self.init(first, at)
      return
    }
    guard let stamp = Stamp(elements: values.dropFirst()) else {
      throw SyncCodingError(.unexpected, "A field isn't a value and its stamp.")
    }
    self.init(first, stamp)
  }

  fileprivate func write(in at: Stamp, to writer: inout some ValueWriter) {
    writer.writeArray { writer in
      writer.write(value)
      if stamp != at { stamp.writeElements(to: &writer) }
    }
  }
}
