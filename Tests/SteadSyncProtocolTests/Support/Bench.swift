import SteadSyncProtocol

/// A server and devices as values, which a test moves step by step.
struct Bench {
  typealias Device = ClientZone<MemoryClientStorage>

  var server: Zone<MemoryZone>
  var devices: [Device] = []
  /// The server's time; devices have their own, ahead by their skew.
  var now: Int64 = 1_000_000_000
  var skews: [Int64] = []
  private var tokens: UInt64 = 0
  private var fresh = 0

  init(
    _ schema: Schema = Bench.schema, devices count: Int = 2, limits: SyncLimits = SyncLimits()
  ) {
    server = Zone(MemoryZone(), limits: limits)
    for _ in 0..<count { addDevice(schema) }
  }

  mutating func addDevice(_ schema: Schema = Bench.schema) {
    let number = devices.count
    let client = ClientID("client\(number)") ?? "client"
    let device = DeviceID("device\(number)") ?? "device"
    devices.append(
      ClientZone(
        ClientState(client: client, device: device), storage: MemoryClientStorage(),
        schema: schema, limits: server.limits))
    skews.append(0)
  }

  // MARK: Steps

  /// Commits edits a millisecond later.
  @discardableResult
  mutating func commit(_ index: Int, _ edits: Edit...) -> CommitResult {
    now += 1
    return devices[index].commit(edits, now: now + skews[index])
  }

  /// Pushes once; nil when there is nothing to push.
  @discardableResult
  mutating func push(_ index: Int) -> PushAnswer? {
    guard let push = devices[index].nextPush() else { return nil }
    let answer = serve(push)
    devices[index].receive(answer, to: push, freshClient: freshClient())
    return answer
  }

  /// What the server answers to a push.
  mutating func serve(_ push: Push) -> PushAnswer {
    tokens += 1
    return server.apply(push, now: now, token: tokens)
  }

  /// Asks for changes once.
  @discardableResult
  mutating func pull(_ index: Int, limit: Int = 1000) -> ChangesAnswer {
    let request = devices[index].nextRequest(limit: limit)
    let answer = server.changes(request, now: now)
    receive(index, answer, request)
    return answer
  }

  mutating func receive(_ index: Int, _ answer: ChangesAnswer, _ request: ChangesRequest) {
    devices[index].receive(
      answer, to: request, sent: now + skews[index], now: now + skews[index],
      freshClient: freshClient())
  }

  /// Exchanges of all devices, or some, until nothing changes.
  mutating func sync(_ indexes: Int...) {
    for _ in 0..<8 {
      for index in indexes.isEmpty ? Array(devices.indices) : indexes {
        push(index)
        pull(index)
      }
    }
  }

  private mutating func freshClient() -> ClientID {
    fresh += 1
    return ClientID("fresh\(fresh)") ?? "fresh"
  }

  // MARK: What there is

  /// A field as a device sees it.
  func value(_ index: Int, _ id: RecordID, _ field: String) -> SyncValue? {
    devices[index].record(id)?.fields[field]?.value
  }

  func record(_ id: RecordID) -> Record? { server.storage.record(id) }

  /// The identities of the server's live records.
  var live: [RecordID] {
    server.storage.content.records.values.filter(\.isLive).map(\.id).sorted()
  }

  /// Whether all devices see what the server has.
  var isEverywhereTheSame: Bool {
    let records = server.storage.content.records
    return devices.allSatisfy { device in
      let ids = Set(records.keys).union(device.storage.base.records.keys)
      return ids.allSatisfy { id in
        device.record(id) == records[id].flatMap { $0.isLive ? $0 : nil }
      }
    }
  }
}

extension Bench {
  /// A type with each kind of field, and types that refer to it by each delete rule.
  static let schema = Schema(
    version: 1,
    entities: [
      "Task": EntityRules(
        fields: [
          "parent": .reference(.nullify), "hits": FieldRule(merge: .counter),
          "tags": FieldRule(merge: .union), "best": FieldRule(merge: .max),
          "low": FieldRule(merge: .min), "file": .blob,
        ],
        unique: [UniqueRule("code", fields: ["code"]), UniqueRule("badge", fields: ["badge"])]),
      "Child": EntityRules(fields: ["owner": .reference(.cascade)]),
      "Guard": EntityRules(fields: ["target": .reference(.deny)]),
      "Note": EntityRules(
        unique: [UniqueRule("name", fields: ["name"], policy: .keepBoth(suffix: " (%)"))]),
      "Link": LinkID.rules(first: "a", second: "b"),
    ])

  /// The schema with more in it.
  static func later(_ change: (inout Schema) -> Void) -> Schema {
    var schema = Bench.schema
    schema.version = 2
    change(&schema)
    return schema
  }
}

extension Edit {
  static func task(_ id: RecordID, _ fields: [String: SyncValue] = ["name": "new"]) -> Edit {
    .insert(id: id, type: "Task", fields: fields)
  }
}

extension PushAnswer {
  var receipt: PushReceipt? { if case .taken(let receipt) = self { receipt } else { nil } }
}

extension ChangesAnswer {
  var page: Page? { if case .page(let page) = self { page } else { nil } }
}
