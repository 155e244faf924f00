#if Server
import SteadSyncProtocol
import SteadTestSupport

/// Makes pushes as several devices would, and such as only broken ones send, from a seed.
///
/// Records come from a small pool, so that identities, unique keys and references collide all the time.
struct RandomPushes {
  private struct Client {
    var id: ClientID
    var device: DeviceID
    var numbered: Int64 = 0
    var acknowledged: Int64 = 0
    var anchor: Mark
    var cursor: Cursor?
    var sent: [Push] = []
  }

  private(set) var numbers: SplitMix
  private(set) var now: Int64 = 1_800_000_000_000
  private(set) var schemaVersion = 1
  private var clients: [Client] = []
  private var stamps = 0
  /// All records that any push has named, so that updates name incarnations that exist.
  private var incarnations: [RecordID: [Incarnation]] = [:]

  init(seed: UInt64) {
    numbers = SplitMix(seed: seed)
    for index in 0..<4 { clients.append(Self.client(index, life: 0)) }
  }

  private static func client(_ index: Int, life: Int) -> Client {
    Client(
      id: identifier("client\(index)-\(life)"), device: identifier("device\(index)"), anchor: .start
    )
  }

  private static func identifier<Subject>(_ text: String) -> Identifier<Subject> {
    guard let identifier = Identifier<Subject>(text) else { preconditionFailure(text) }
    return identifier
  }

  // MARK: Rules

  static let blobs: [BlobID] = (0..<3).map { index in
    let digits = String(repeating: "\(index)a", count: 32)
    return identifier(digits)
  }

  /// Three versions, each of which has more constraints, references and types.
  static func schema(_ version: Int) -> Schema {
    var folder = EntityRules(
      fields: ["parent": .reference(.cascade)],
      unique: [UniqueRule("name", fields: ["parent", "name"])])
    var item = EntityRules(
      fields: [
        "folder": .reference(.nullify), "votes": FieldRule(merge: .counter),
        "tags": FieldRule(merge: .union), "rank": FieldRule(merge: .max), "image": .blob,
      ])
    var entities = ["Folder": folder, "Item": item]
    if version >= 2 {
      item.unique = [UniqueRule("title", fields: ["title"], policy: .keepBoth(suffix: " (%)"))]
      item.fields["owner"] = .reference(.deny)
      entities["Item"] = item
      entities["User"] = EntityRules(unique: [UniqueRule("name", fields: ["name"])])
    }
    if version >= 3 {
      folder.unique.append(UniqueRule("code", fields: ["code"]))
      entities["Folder"] = folder
    }
    return Schema(version: version, entities: entities)
  }

  // MARK: Pushes

  /// The next push, and the client that sends it.
  mutating func next() -> Push {
    now += Int64(
      numbers.once(in: 200) ? 86_400_000 * numbers.number(1...60) : numbers.number(0...2_000))
    if numbers.once(in: 400), schemaVersion < 3 { schemaVersion += 1 }
    let index = numbers.number(0...(clients.count - 1))
    let client = clients[index]
    if numbers.once(in: 12), let old = client.sent.randomElement(using: &numbers) { return old }
    var transactions: [Transaction] = []
    var number = client.numbered
    for _ in 0..<numbers.number(1...4) {
      number += numbers.once(in: 300) ? 2 : 1
      let basis = client.acknowledged
      let mutations = (0..<numbers.number(1...5)).map { _ in mutation(client.device) }
      transactions.append(Transaction(number: number, basis: basis, mutations: mutations))
    }
    let anchor = numbers.once(in: 100) ? Mark(head: 1, token: 1) : client.anchor
    let version = numbers.once(in: 50) ? schemaVersion - 1 : schemaVersion
    let push = Push(
      client: client.id, device: client.device, anchor: anchor, schemaVersion: version,
      schema: numbers.once(in: 40) ? Self.schema(max(version, 1)) : nil, transactions: transactions)
    return push
  }

  /// The push with its schema, which the server has asked for.
  static func described(_ push: Push) -> Push {
    var push = push
    push.schema = schema(max(push.schemaVersion, 1))
    return push
  }

  /// Takes note of an answer, as the client would.
  mutating func note(_ answer: PushAnswer, to push: Push) {
    guard let index = clients.firstIndex(where: { $0.id == push.client }) else { return }
    switch answer {
    case .taken(let receipt):
      clients[index].numbered = max(clients[index].numbered, receipt.last)
      if clients[index].sent.count < 50 { clients[index].sent.append(push) }
    case .expired, .rollback:
      if push.anchor != Mark(head: 1, token: 1) {
        let life = numbers.number(1...1_000_000)
        clients[index] = Self.client(index, life: life)
      }
    default: break
    }
  }

  // MARK: Fetching

  /// A request for changes of one of the clients.
  mutating func request() -> ChangesRequest {
    let client = clients[numbers.number(0...(clients.count - 1))]
    return ChangesRequest(
      client: client.id, cursor: numbers.once(in: 10) ? nil : client.cursor,
      limit: numbers.number(1...40), acknowledged: client.acknowledged,
      marks: numbers.once(in: 10) ? [client.anchor] : [])
  }

  mutating func note(_ answer: ChangesAnswer, to request: ChangesRequest) {
    guard let index = clients.firstIndex(where: { $0.id == request.client }) else { return }
    switch answer {
    case .page(let page):
      for record in page.records { incarnations[record.id] = record.live }
      clients[index].cursor = page.cursor
      guard !page.more else { return }
      clients[index].anchor = page.cursor.anchor
      clients[index].acknowledged = page.last
    case .expired, .rollback: clients[index].cursor = nil
    }
  }

  // MARK: Mutations

  private mutating func mutation(_ device: DeviceID) -> Mutation {
    let type = ["Folder", "Item", "Item", "User"][numbers.number(0...3)]
    let id: RecordID = Self.identifier("\(type)-\(numbers.number(0...25))")
    stamps += 1
    let future: Int64 = numbers.once(in: 60) ? 100_000_000 : 0
    let stamp = Stamp(
      milliseconds: now + future - Int64(numbers.number(0...5_000)),
      counter: UInt16(truncatingIfNeeded: stamps),
      device: numbers.once(in: 200) ? Self.identifier("stranger") : device)
    let live = incarnations[id] ?? []
    if live.isEmpty || numbers.once(in: 6) {
      let incarnation: Incarnation = Self.identifier("i\(stamps)")
      incarnations[id] = live + [incarnation]
      return .insert(
        Mutation.Insert(
          id: id, type: numbers.once(in: 300) ? "Other" : type, incarnation: incarnation,
          stamp: stamp, fields: fields(type, device)))
    }
    if numbers.once(in: 5) {
      return .delete(Mutation.Delete(id: id, type: type, incarnations: live, stamp: stamp))
    }
    if numbers.once(in: 25) {
      let fields = fields(type, device).mapValues { Field($0, stamp) }
      return .restore(Record(id: id, type: type, at: stamp, live: live.sorted(), fields: fields))
    }
    return .update(
      Mutation.Update(
        id: id, type: type, incarnations: live, stamp: stamp, fields: fields(type, device)))
  }

  private mutating func fields(_ type: String, _ device: DeviceID) -> [String: SyncValue] {
    var fields: [String: SyncValue] = [:]
    let name = SyncValue.string("Name \(numbers.number(0...12)) \"ä\\😀")
    switch type {
    case "Folder":
      fields["name"] = name
      if numbers.once(in: 2) { fields["parent"] = reference("Folder") }
      if numbers.once(in: 3) { fields["code"] = .int(Int64(numbers.number(0...9))) }
    case "User": fields["name"] = name
    default:
      if numbers.once(in: 2) { fields["title"] = name }
      if numbers.once(in: 3) { fields["folder"] = reference("Folder") }
      if numbers.once(in: 3) { fields["owner"] = reference("User") }
      if numbers.once(in: 4) { fields["tags"] = [.string("t\(numbers.number(0...5))")] }
      if numbers.once(in: 4) { fields["rank"] = .double(Double(numbers.number(0...90)) / 7) }
      if numbers.once(in: 4) { fields["votes"] = SyncCounter.adding(1, to: .null, by: device) }
      if numbers.once(in: 6), let blob = Self.blobs.randomElement(using: &numbers) {
        fields["image"] = .object(["sha256": .string(blob.text), "size": 10])
      }
      if numbers.once(in: 30) { fields["note"] = .string(String(repeating: "n", count: 3_000)) }
    }
    return fields
  }

  private mutating func reference(_ type: String) -> SyncValue {
    numbers.once(in: 6) ? .null : .string("\(type)-\(numbers.number(0...25))")
  }
}
#endif
