import SteadSyncProtocol
import Testing

@Suite struct KeyValueZoneTests {
  @Test(arguments: [
    "key", "a b", "ä", "%", "com.example/x", "\u{0}", String(repeating: "é", count: 32),
  ])
  func `A key is its record's identity and back`(key: String) {
    #expect(KeyValueZone.recordID(forKey: key).flatMap { KeyValueZone.key(of: $0) } == key)
  }

  @Test func `A key has 1 to 64 bytes of UTF-8`() {
    #expect(KeyValueZone.recordID(forKey: "") == nil)
    #expect(KeyValueZone.recordID(forKey: String(repeating: "k", count: 64)) != nil)
    #expect(KeyValueZone.recordID(forKey: String(repeating: "k", count: 65)) == nil)
    #expect(KeyValueZone.recordID(forKey: String(repeating: "é", count: 33)) == nil)
    #expect(KeyValueZone.key(of: "%zz") == nil)
    #expect(KeyValueZone.key(of: "%61") == nil)
    #expect(KeyValueZone.key(of: "%FF") == nil)
  }

  @Test func `Beyond the limits nothing is set, and each limit is named`() {
    func problem(_ value: SyncValue, _ keys: Int, _ bytes: Int, old: Record? = nil) -> KeyValueZone
      .Problem?
    {
      var usage = KeyValueZone.Usage()
      (usage.keys, usage.bytes) = (keys, bytes)
      return KeyValueZone.problem(setting: value, forKey: "key", replacing: old, usage: usage)
    }
    let large = SyncValue.string(String(repeating: "x", count: 1_000_000))
    let half = SyncValue.string(String(repeating: "x", count: 500_000))
    #expect(problem(1, 0, 0) == nil)
    #expect(problem(large, 0, 0) == .value(limit: 1_000_000, needed: 1_000_012))
    #expect(problem(.double(.nan), 0, 0) != nil)
    #expect(problem(half, 3, 600_000) == .total(limit: 1_000_000, needed: 1_100_012))
    #expect(problem(1, 1024, 0) == .keys(limit: 1024, needed: 1025))
    #expect(problem(1, 1023, 0) == nil)
    let stamp = Stamp(milliseconds: 1, device: "d")
    let old = Record(
      id: "key", type: KeyValueZone.type, at: stamp, live: ["i"],
      fields: ["value": Field(half, stamp)])
    #expect(problem(1, 1024, 900_000, old: old) == nil)
    #expect(problem(1, 1024, 2_000_000, old: old) == nil)
    #expect(KeyValueZone.problem(setting: 1, forKey: "", replacing: nil, usage: .init()) == .key)
  }

  @Test func `Usage is that of the records`() {
    let stamp = Stamp(milliseconds: 1, device: "d")
    let record = Record(id: "key", type: KeyValueZone.type, at: stamp, live: ["i"])
    var usage = KeyValueZone.Usage()
    usage.replace(nil, by: record)
    #expect(usage.keys == 1)
    #expect(usage.bytes == record.size)
    usage.replace(record, by: nil)
    #expect(usage == KeyValueZone.Usage())
  }

  /// A server that holds any zone doesn't know which are of key-value stores: it goes by the records' type.
  @Test func `The server keeps the limits, too`() {
    var bench = Bench()
    for number in 0..<1100 {
      let id = KeyValueZone.recordID(forKey: "key \(number)") ?? "key"
      bench.commit(0, .insert(id: id, type: KeyValueZone.type, fields: [KeyValueZone.field: 1]))
    }
    bench.sync()
    #expect(bench.live.count == 1024)
    #expect(bench.devices[0].state.quarantine.count == 76)
    #expect(
      bench.devices[0].state.quarantine.first?.reason == .recordCount(limit: 1024, needed: 1025))
  }

  @Test func `All values together have a limit at the server`() {
    var bench = Bench()
    let half = SyncValue.string(String(repeating: "x", count: 600_000))
    for key: RecordID in ["a", "b"] {
      bench.commit(0, .insert(id: key, type: KeyValueZone.type, fields: [KeyValueZone.field: half]))
    }
    bench.sync()
    #expect(bench.live == ["a"])
    guard
      case .quota(limit: 1_000_000, needed: 1_200_020)? = bench.devices[0].state.quarantine.first?
        .reason
    else {
      Issue.record("The second value isn't in quarantine: \(bench.devices[0].state.quarantine).")
      return
    }
    // Smaller is always taken.
    bench.commit(0, .update(id: "a", fields: [KeyValueZone.field: 1]))
    bench.commit(0, .insert(id: "b", type: KeyValueZone.type, fields: [KeyValueZone.field: half]))
    bench.sync()
    #expect(bench.live == ["a", "b"])
  }

  @Test(arguments: ["%61", "a/b", String(repeating: "k", count: 65)])
  func `A record of a store whose identity is no key's is refused`(text: String) throws {
    let id = try #require(RecordID(text))
    let bench = Bench()
    var server = bench.server
    let stamp = Stamp(milliseconds: 1, device: "device0")
    let insert = Mutation.insert(
      .init(id: id, type: KeyValueZone.type, incarnation: "i", stamp: stamp, fields: [:]))
    let delete = Mutation.delete(
      .init(id: id, type: KeyValueZone.type, incarnations: ["i"], stamp: stamp))
    func refused(_ number: Int64, _ mutation: Mutation) -> [Refusal.Reason]? {
      let push = Push(
        client: "client0", device: "device0", anchor: .start, schemaVersion: 0,
        transactions: [Transaction(number: number, basis: number - 1, mutations: [mutation])])
      guard case .taken(let receipt) = server.apply(push, now: bench.now, token: 1) else {
        return nil
      }
      return receipt.refused.map(\.reason)
    }
    #expect(refused(1, insert) == [.invalid(id: id)])
    // Such a record may be older than the rule.
    #expect(refused(2, delete) == [])
  }

  @Test func `Other records have other limits`() {
    var bench = Bench()
    for number in 0..<1025 { bench.commit(0, .task(RecordID("t\(number)") ?? "t")) }
    bench.sync()
    #expect(bench.live.count == 1025)
    #expect(bench.devices[0].state.quarantine.isEmpty)
  }
}
