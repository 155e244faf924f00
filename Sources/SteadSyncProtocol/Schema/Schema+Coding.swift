extension Schema: SyncCodable {
  package init(syncValue: SyncValue) throws(SyncCodingError) {
    let reader = try MemberReader(syncValue, "schema")
    var entities: [String: EntityRules] = [:]
    for (name, value) in try reader.object("types") {
      guard name.isWireName else { throw reader.problem("types", "named by wire names") }
      entities[name] = try EntityRules(value)
    }
    self.init(version: Int(try reader.count("version")), entities: entities)
  }

  package var syncValue: SyncValue {
    .members([
      "version": .int(Int64(version)), "types": .object(entities.mapValues(\.value)),
    ])
  }
}

extension EntityRules {
  fileprivate init(_ value: SyncValue) throws(SyncCodingError) {
    let reader = try MemberReader(value, "type")
    self.init()
    if reader.value("fields") != nil {
      for (name, value) in try reader.object("fields") {
        guard name.isWireName else { throw reader.problem("fields", "named by wire names") }
        fields[name] = try FieldRule(value)
      }
    }
    guard let rules = reader.value("unique") else { return }
    guard let values = rules.array else { throw reader.problem("unique", "an array") }
    for value in values { unique.append(try UniqueRule(value)) }
  }

  var value: SyncValue {
    .members([
      "fields": fields.isEmpty ? nil : .object(fields.mapValues(\.value)),
      "unique": unique.isEmpty ? nil : .array(unique.map(\.value)),
    ])
  }
}

extension FieldRule {
  fileprivate init(_ value: SyncValue) throws(SyncCodingError) {
    let reader = try MemberReader(value, "field")
    self.init()
    if reader.value("merge") != nil {
      guard let rule = MergeRule(rawValue: try reader.string("merge")) else {
        throw reader.problem("merge", "a rule that is known")
      }
      merge = rule
    }
    if reader.value("reference") != nil {
      guard let rule = DeleteRule(rawValue: try reader.string("reference")) else {
        throw reader.problem("reference", "a rule that is known")
      }
      reference = rule
    }
    if reader.value("blob") != nil { isBlob = try reader.bool("blob") }
  }

  fileprivate var value: SyncValue {
    .members([
      "merge": merge == .last ? nil : .string(merge.rawValue),
      "reference": reference.map { .string($0.rawValue) }, "blob": isBlob ? .bool(true) : nil,
    ])
  }
}

extension UniqueRule {
  fileprivate init(_ value: SyncValue) throws(SyncCodingError) {
    let reader = try MemberReader(value, "unique constraint")
    let fields = (reader.value("fields")?.array ?? []).compactMap(\.string)
    // Without fields, all records would have one key.
    guard !fields.isEmpty, fields.allSatisfy(\.isWireName) else {
      throw reader.problem("fields", "a list of wire names")
    }
    self.init(try reader.string("name"), fields: fields)
    if reader.value("suffix") != nil { policy = .keepBoth(suffix: try reader.string("suffix")) }
  }

  fileprivate var value: SyncValue {
    var suffix: SyncValue?
    if case .keepBoth(let text) = policy { suffix = .string(text) }
    return .members([
      "name": .string(name), "fields": .array(fields.map { .string($0) }), "suffix": suffix,
    ])
  }
}
