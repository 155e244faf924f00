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

  @Test func `The server keeps the limits, too`() {
    var bench = Bench(limits: KeyValueZone.limits)
    for number in 0..<1100 {
      let id = KeyValueZone.recordID(forKey: "key \(number)") ?? "key"
      bench.commit(0, .insert(id: id, type: KeyValueZone.type, fields: [KeyValueZone.field: 1]))
    }
    bench.sync()
    #expect(bench.live.count == 1024)
    #expect(bench.devices[0].state.quarantine.count == 76)
  }
}
