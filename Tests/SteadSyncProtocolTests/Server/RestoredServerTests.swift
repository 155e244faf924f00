import SteadSyncProtocol
import Testing

@Suite struct RestoredServerTests {
  /// A server that was restored from a backup, and devices that know more.
  private func restored() -> Bench {
    var bench = Bench()
    bench.commit(0, .task("a"), .task("b"), .task("old"))
    bench.sync()
    let backup = bench.server
    bench.commit(0, .task("c", ["name": "lost"]))
    bench.commit(0, .update(id: "a", fields: ["name": "lost"]))
    bench.commit(1, .delete(id: "b"))
    bench.sync()
    bench.server = backup
    return bench
  }

  @Test func `Nothing that a device has seen is lost`() {
    var bench = restored()
    bench.commit(1, .update(id: "a", fields: ["place": "pending"]))
    let clients = bench.devices.map(\.state.client)
    bench.sync()
    #expect(bench.live == ["a", "c", "old"])
    #expect(bench.record("a")?.fields["name"]?.value == "lost")
    #expect(bench.record("a")?.fields["place"]?.value == "pending")
    #expect(bench.isEverywhereTheSame)
    // Numbers that were used are never used again.
    #expect(zip(clients, bench.devices).allSatisfy { $0 != $1.state.client })
    #expect(bench.devices.allSatisfy { $0.state.outbox.isEmpty && $0.state.quarantine.isEmpty })
  }

  /// A deletion that the server had taken once cannot be refused when it is brought back. The record that referred
  /// to it since loses its reference.
  @Test(arguments: [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]])
  func `What is brought back is denied by no rule`(order: [Int]) {
    var bench = Bench(devices: 3)
    bench.commit(0, .task("t"), .task("other"))
    bench.sync()
    let backup = bench.server
    bench.commit(0, .delete(id: "t"))
    bench.sync(0, 1)
    bench.server = backup
    // The third device has seen nothing of the deletion.
    bench.commit(2, .insert(id: "g", type: "Guard", fields: ["target": "t"]))
    bench.sync(2)
    for device in order { bench.sync(device) }
    bench.sync()
    #expect(bench.live == ["g", "other"])
    #expect(bench.value(2, "g", "target") == .null)
    #expect(bench.devices.allSatisfy { $0.state.quarantine.isEmpty && $0.state.outbox.isEmpty })
    #expect(bench.isEverywhereTheSame)
  }

  @Test func `The answer names the newest common mark, and only what follows is sent`() throws {
    var bench = restored()
    let common = bench.server.storage.state().mark
    #expect(bench.pull(0) == .rollback(common: nil))
    #expect(bench.pull(0) == .rollback(common: common))
    let push = try #require(bench.devices[0].nextPush())
    #expect(push.anchor == common)
    #expect(Set(push.transactions.flatMap(\.mutations).map(\.id)) == ["a", "b", "c"])
  }

  @Test func `A push to a server that has forgotten its anchor is refused`() {
    var bench = restored()
    bench.commit(0, .task("d"))
    let before = bench.server.storage.state()
    #expect(bench.push(0) == .rollback)
    #expect(bench.server.storage.state() == before)
  }

  /// Other pushes have taken the numbers that the server forgot: the head alone would not tell.
  @Test func `A server that has gone another way with the same numbers is noticed`() {
    var bench = Bench()
    bench.commit(0, .task("a"))
    bench.sync()
    let failover = bench.server
    bench.commit(0, .task("b"))
    bench.sync(0)
    let head = bench.server.storage.state().mark.head
    bench.server = failover
    bench.commit(1, .task("c"))
    bench.sync(1)
    #expect(bench.server.storage.state().mark.head == head)
    bench.sync()
    #expect(bench.live == ["a", "b", "c"])
    #expect(bench.isEverywhereTheSame)
  }

  /// The answer had come and no page yet: nothing but the number of the transaction tells.
  @Test func `A push that was answered and forgotten before anybody saw it is sent again`() {
    var bench = Bench()
    bench.commit(0, .task("a"))
    bench.sync()
    let failover = bench.server
    bench.commit(0, .task("b"))
    #expect(bench.push(0)?.receipt != nil)
    bench.server = failover
    bench.sync()
    #expect(bench.live == ["a", "b"])
    #expect(bench.isEverywhereTheSame)
  }

  @Test func `A gap in the numbers makes a client number again`() {
    var bench = Bench()
    bench.commit(0, .task("a"))
    bench.sync()
    bench.commit(0, .task("b"))
    // Refused as a whole, so that the head stays and the anchor is known.
    bench.server.limits.zoneBytes = 1
    let backup = bench.server
    bench.sync(0)
    #expect(bench.devices[0].state.quarantine.count == 1)
    bench.server = backup
    bench.server.limits.zoneBytes = 1_000_000
    bench.commit(0, .task("c"))
    #expect(bench.push(0) == .gap)
    bench.sync()
    #expect(bench.live == ["a", "c"])
    #expect(bench.isEverywhereTheSame)
  }

  @Test func `A zone that is gone gets everything back from its devices`() {
    var bench = restored()
    bench.server = Zone(MemoryZone())
    bench.sync()
    #expect(bench.live == ["a", "c", "old"])
    #expect(bench.isEverywhereTheSame)
  }

  @Test func `Live records and tombstones come back in pieces that may be sent`() {
    var bench = Bench(
      limits: {
        var limits = SyncLimits(); limits.pushMutations = 3; return limits
      }())
    for number in 0..<10 { bench.commit(0, .task(RecordID("t\(number)") ?? "t")) }
    bench.sync()
    bench.server = Zone(MemoryZone(), limits: bench.server.limits)
    bench.sync()
    #expect(bench.live.count == 10)
    #expect(bench.isEverywhereTheSame)
  }

  @Test func `A client keeps at most 40 marks, denser towards now`() {
    var bench = Bench()
    for number in 0..<200 {
      bench.commit(0, .task("a", ["n": .int(Int64(number))]))
      bench.sync(0)
    }
    let heads = bench.devices[0].state.marks.map(\.head)
    #expect(heads.count == ClientState.markLimit)
    #expect(heads == heads.sorted(by: >))
    #expect(heads.first == bench.server.storage.state().mark.head)
    #expect(zip(heads, heads.dropFirst()).prefix(5).allSatisfy { $0 - $1 < 10 })
    #expect(heads.last.map { $0 < 20 } == true)
  }

  // MARK: Restored devices

  /// Numbers that were given twice once made a server pass over the edits that followed.
  @Test func `A device that was restored from a backup loses no edit`() {
    for count in 1...4 {
      var bench = Bench()
      bench.commit(0, .task("a"))
      bench.sync()
      let (state, storage) = (bench.devices[0].state, bench.devices[0].storage)
      for id in ["b", "c"] as [RecordID] { bench.commit(0, .task(id)) }
      bench.sync()
      bench.devices[0] = ClientZone(state, storage: storage, schema: Bench.schema)
      let ids: [RecordID] = ["d", "e", "f", "g"]
      for id in ids.prefix(count) { bench.commit(0, .task(id)) }
      bench.sync()
      #expect(bench.live == ["a", "b", "c"] + ids.prefix(count))
      #expect(bench.isEverywhereTheSame)
      #expect(bench.devices[0].state.client != "client0")
    }
  }

  @Test func `Two devices with one disk become two`() {
    var bench = Bench()
    bench.commit(0, .task("a"))
    bench.sync()
    bench.devices[1] = bench.devices[0]
    bench.commit(0, .task("b"))
    bench.commit(1, .task("c"))
    bench.sync()
    #expect(bench.live == ["a", "b", "c"])
    #expect(bench.isEverywhereTheSame)
    #expect(bench.devices[0].state.client != bench.devices[1].state.client)
  }

  @Test
  func `A server that takes less at once gets less, and one transaction too many is put aside`() {
    var bench = Bench()
    bench.sync()
    for id in ["a", "b", "c"] as [RecordID] { bench.commit(0, .task(id)) }
    bench.commit(0, .task("d"), .task("e"), .task("f"))
    bench.commit(0, .task("g"))
    bench.server.limits.pushMutations = 2
    bench.sync()
    #expect(bench.live == ["a", "b", "c", "g"])
    #expect(bench.devices[0].state.quarantine.map(\.reason) == [.tooLarge])
    #expect(bench.isEverywhereTheSame)
  }
}
