import SteadSyncProtocol

/// The types of the simulation, in two versions: each rule has a field.
enum SimulatedSchema {
  static let first = Schema(
    version: 1,
    entities: [
      "Task": EntityRules(
        fields: [
          "parent": .reference(.nullify), "hits": FieldRule(merge: .counter),
          "tags": FieldRule(merge: .union), "best": FieldRule(merge: .max),
          "low": FieldRule(merge: .min),
        ],
        unique: [
          UniqueRule("code", fields: ["code"]), UniqueRule("badge", fields: ["badge"]),
        ]),
      "Child": EntityRules(
        fields: ["owner": .reference(.cascade)],
        unique: [
          UniqueRule("title", fields: ["owner", "title"], policy: .keepBoth(suffix: " (%)"))
        ]),
      "Guard": EntityRules(fields: ["target": .reference(.deny), "file": .blob]),
      "Link": LinkID.rules(first: "a", second: "b"),
    ])

  static let second: Schema = {
    var schema = first
    schema.version = 2
    schema.entities["Task"]?.fields["helper"] = .reference(.nullify)
    schema.entities["Task"]?.unique.append(UniqueRule("extra", fields: ["extra"]))
    schema.entities["Note"] = EntityRules(unique: [UniqueRule("name", fields: ["name"])])
    return schema
  }()

  static let pool: [(type: String, ids: [RecordID])] = [
    ("Task", ["t0", "t1", "t2", "t3"]), ("Child", ["c0", "c1", "c2"]), ("Guard", ["g0", "g1"]),
    ("Note", ["n0", "n1"]),
  ]
  static let all: [(id: RecordID, type: String)] = pool.flatMap { entry in
    entry.ids.map { ($0, entry.type) }
  }
  static let tasks = pool[0].ids
  static let blobs: [BlobID] = ["blob-0", "blob-1", "blob-2"]

  static let links: [[RecordID]] = tasks.map { first in
    tasks.map { LinkID.make(relation: "related", first: first, second: $0) }
  }

  /// An edit of a record's fields. The variant chooses a field and a value.
  static func fields(
    of type: String, variant: Int, device: DeviceID, schema: Schema, old: Record?
  ) -> [String: SyncValue] {
    let choice = variant / 16
    let letter = SyncValue.string(["x", "y", "z"][choice % 3])
    let task = choice % 5 == 4 ? SyncValue.null : .string(tasks[choice % 4].text)
    switch type {
    case "Task": break
    case "Child": return variant % 2 == 0 ? ["title": letter] : ["owner": task]
    case "Guard":
      if variant % 2 == 0 { return ["target": task] }
      return ["file": .object(["sha256": .string(blobs[choice % 3].text), "size": 1])]
    case "Link": return ["weight": .int(Int64(choice % 3))]
    default: return ["name": letter]
    }
    switch variant % 16 {
    case 0, 1: return ["name": letter]
    case 2, 3: return ["code": letter]
    case 4: return ["badge": letter]
    case 5, 6: return ["parent": task]
    case 7:
      return ["hits": SyncCounter.adding(1, to: old?.fields["hits"]?.value ?? .null, by: device)]
    case 8: return ["tags": [letter]]
    case 9: return ["best": .int(Int64(choice % 9))]
    case 10: return ["low": .int(Int64(choice % 9))]
    case 11: return ["code": .null]
    case 12 where schema.version > 1: return ["extra": letter]
    case 13 where schema.version > 1: return ["helper": task]
    case 14: return ["name": letter, "code": letter]
    default: return ["name": .string("name-\(choice)")]
    }
  }
}
