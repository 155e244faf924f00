extension Record: SyncCodable {
  private static let names: Set<String> = [
    "id", "type", "seq", "at", "live", "dead", "into", "fields",
  ]

  public init(syncValue: SyncValue) throws(SyncCodingError) {
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

  public var syncValue: SyncValue {
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
