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

  package var syncValue: SyncValue {
    var members = extra
    members["id"] = .string(id.text)
    members["type"] = .string(type)
    members["seq"] = .int(seq)
    members["at"] = at.syncValue
    members["live"] = .identifiers(live)
    members["dead"] = .identifiers(dead)
    members["into"] = .identifier(into)
    if !fields.isEmpty { members["fields"] = .object(fields.mapValues { $0.value(in: at) }) }
    return .object(members)
  }

  /// The bytes of ``syncValue``, which isn't made. Costs time in proportion to its size.
  package func encoded() -> [UInt8] {
    var writer = JSONWriter()
    // About the size of the members' names and the stamps.
    writer.reserveCapacity(size + 8 * fields.count + 200)
    write(to: &writer)
    return writer.bytes
  }

  /// Writes the JSON of ``syncValue``.
  func write(to writer: inout JSONWriter) {
    // Other members come between these.
    guard extra.isEmpty else { return writer.write(syncValue) }
    writer.writeObject { writer in
      writer.name("at")
      writer.writeArray { $0.write(elementsOf: at) }
      writer.write("dead", dead)
      if !fields.isEmpty {
        writer.name("fields")
        writer.write(fields, in: at)
      }
      writer.name("id")
      writer.write(id.text)
      if let into {
        writer.name("into")
        writer.write(into.text)
      }
      writer.write("live", live)
      writer.name("seq")
      writer.write(.int(seq))
      writer.name("type")
      writer.write(type)
    }
  }
}

extension JSONWriter {
  fileprivate mutating func write(_ name: String, _ incarnations: [Incarnation]) {
    if incarnations.isEmpty { return }
    self.name(name)
    writeArray(incarnations) { $0.write($1.text) }
  }

  fileprivate mutating func write(_ fields: [String: Field], in at: Stamp) {
    writeObject { writer in
      for index in SyncValue.order(of: fields) {
        writer.name(fields.keys[index])
        let field = fields.values[index]
        writer.writeArray { writer in
          writer.write(field.value)
          guard field.stamp != at else { return }
          writer.separate()
          writer.write(elementsOf: field.stamp)
        }
      }
    }
  }

  /// Writes the elements of ``Stamp/elements``, without making the array.
  fileprivate mutating func write(elementsOf stamp: Stamp) {
    write(.int(stamp.milliseconds))
    separate()
    write(.int(Int64(stamp.counter)))
    separate()
    write(stamp.device.text)
    guard stamp.bump > 0 else { return }
    separate()
    write(.int(Int64(stamp.bump)))
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

  fileprivate func value(in at: Stamp) -> SyncValue {
    .array(stamp == at ? [value] : [value] + stamp.elements)
  }
}
