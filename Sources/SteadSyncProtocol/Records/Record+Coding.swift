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
