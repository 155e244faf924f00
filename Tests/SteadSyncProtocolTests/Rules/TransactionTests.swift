import SteadSyncProtocol
import Testing

@Suite struct TransactionTests {
  /// A deletion that the server refuses, with edits of other records before, within and after it.
  private func refused() -> Bench {
    var bench = Bench()
    bench.commit(0, .task("t"), .task("u"), .task("v"))
    bench.sync()
    bench.commit(0, .insert(id: "g", type: "Guard", fields: ["target": "t"]))
    bench.sync(0)
    bench.commit(1, .update(id: "u", fields: ["name": "in"]), .delete(id: "t"))
    return bench
  }

  @Test func `A refused transaction changes nothing at all, and later ones go on`() {
    var bench = refused()
    bench.commit(1, .update(id: "v", fields: ["name": "after"]))
    bench.sync()
    #expect(bench.value(1, "u", "name") == "new")
    #expect(bench.value(0, "v", "name") == "after")
    #expect(bench.devices[1].state.quarantine.count == 1)
    #expect(bench.devices[1].state.outbox.isEmpty)
    #expect(bench.isEverywhereTheSame)
  }

  @Test func `What builds on a refused transaction is refused with it`() {
    var bench = refused()
    bench.commit(1, .update(id: "u", fields: ["name": "follows"]))
    bench.sync()
    #expect(
      bench.devices[1].state.quarantine.map(\.reason) == [
        .denied(deleted: "t", referrer: "g"), .follows(number: 1),
      ])
    #expect(bench.value(1, "u", "name") == "new")
    // The author knows now; the next edit builds on nothing refused.
    bench.commit(1, .update(id: "u", fields: ["name": "again"]))
    bench.sync()
    #expect(bench.value(0, "u", "name") == "again")
  }

  @Test func `A refused transaction can be committed again or given up`() {
    var bench = refused()
    bench.sync()
    bench.commit(0, .delete(id: "g"))
    bench.sync()
    let again = bench.devices[1].retry(at: 0, now: bench.now)
    #expect(again == .committed(number: 2))
    bench.sync()
    #expect(bench.live == ["u", "v"])
    #expect(bench.devices[1].state.quarantine.isEmpty)

    var other = refused()
    other.sync()
    other.devices[1].discard(at: 0)
    #expect(other.devices[1].state.quarantine.isEmpty)
    other.devices[1].discard(at: 0)
    #expect(other.devices[1].retry(at: 3, now: other.now) == .tooLarge)
  }

  /// The refused total was sent again, and the device's own later total won over it.
  @Test func `An addition that was refused is added to what the counter is when it is tried again`()
  {
    var bench = Bench()
    func add(_ amount: Int64, _ bench: Bench) -> Edit {
      let old = bench.value(1, "v", "hits") ?? .null
      return .update(
        id: "v",
        fields: ["hits": SyncCounter.adding(amount, to: old, by: bench.devices[1].state.device)]
      )
    }
    bench.commit(1, .task("t"), .task("v"))
    bench.commit(1, add(1, bench))
    bench.sync()
    // Refused, for the record that it deletes has a guard by then; the second builds on the first.
    bench.commit(0, .insert(id: "g", type: "Guard", fields: ["target": "t"]))
    bench.push(0)
    let twice = add(10, bench)
    bench.commit(1, .delete(id: "t"), twice)
    bench.commit(1, add(100, bench))
    bench.sync()
    #expect(bench.devices[1].state.quarantine.count == 2)
    #expect(SyncCounter.total(bench.value(1, "v", "hits") ?? .null) == 1)
    bench.commit(1, add(1000, bench))
    bench.commit(0, .delete(id: "g"))
    bench.sync()
    for _ in 0..<2 {
      guard case .committed = bench.devices[1].retry(at: 0, now: bench.now) else {
        Issue.record("It was not committed again.")
        return
      }
    }
    bench.sync()
    #expect(bench.live == ["v"])
    #expect(SyncCounter.total(bench.value(0, "v", "hits") ?? .null) == 1111)
    #expect(bench.isEverywhereTheSame)
  }

  /// An answer got lost: the device sends again what the server has.
  @Test func `A push that comes twice is applied once, with the same receipt`() throws {
    var bench = Bench()
    bench.commit(0, .task("t"))
    bench.pull(0)
    let push = try #require(bench.devices[0].nextPush())
    let first = bench.serve(push)
    let head = bench.server.storage.state().mark
    #expect(bench.serve(push) == first)
    #expect(bench.server.storage.state().mark == head)
  }

  @Test func `A gap in the numbers is answered, whatever the numbers are`() {
    var bench = Bench()
    func push(_ numbers: Int64...) -> PushAnswer {
      bench.serve(
        Push(
          client: "c", device: "d", anchor: .start, schemaVersion: 0,
          transactions: numbers.map { Transaction(number: $0, basis: 0, mutations: []) }))
    }
    #expect(push(2) == .gap)
    #expect(push(0) == .gap)
    #expect(push(.max) == .gap)
    #expect(push(.min) == .gap)
    #expect(push(1, 3) == .gap)
    #expect(push(1, .max) == .gap)
    #expect(push(1, 1) == .gap)
    #expect(push(1, 2).receipt?.last == 2)
    #expect(push(1, 2, 3).receipt?.last == 3)
    #expect(push(5) == .gap)
  }

  @Test func `A record of another type, another device's stamp and a bad value are refused`() {
    var bench = Bench()
    bench.commit(0, .task("t"))
    bench.sync()
    func reason(_ mutation: Mutation, _ number: Int64) -> Refusal.Reason? {
      bench.serve(
        Push(
          client: "c", device: "d", anchor: .start, schemaVersion: 0,
          transactions: [Transaction(number: number, basis: number - 1, mutations: [mutation])])
      ).receipt?.refused.first?.reason
    }
    func insert(
      _ type: String, _ device: DeviceID, _ fields: [String: SyncValue], bump: UInt16 = 0
    ) -> Mutation {
      let stamp = Stamp(milliseconds: 1, device: device, bump: bump)
      return .insert(.init(id: "t", type: type, incarnation: "i", stamp: stamp, fields: fields))
    }
    #expect(reason(insert("Child", "d", [:]), 1) == .type(id: "t"))
    #expect(reason(insert("Task", "other", [:]), 2) == .device)
    #expect(reason(insert("Task", "d", [:], bump: 1), 3) == .device)
    #expect(reason(insert("Task", "d", ["x": .double(.infinity)]), 4) == .invalid(id: "t"))
    #expect(reason(insert("Task", "d", ["": 1]), 5) == .invalid(id: "t"))
    #expect(reason(insert("", "d", [:]), 6) == .invalid(id: "t"))
    let deep = (0..<40).reduce(SyncValue.null) { value, _ in .array([value]) }
    #expect(reason(insert("Task", "d", ["x": deep]), 7) == .invalid(id: "t"))
    #expect(reason(insert("Task", "d", ["x": 1]), 8) == nil)
  }

  @Test func `An edit of what does not exist changes nothing`() {
    var bench = Bench()
    #expect(bench.commit(0, .task("t"), .delete(id: "u")) == .unknown("u"))
    #expect(bench.devices[0].record("t") == nil)
    #expect(bench.devices[0].state.outbox.isEmpty)
  }

  @Test func `A transaction that could never be sent is refused at once`() {
    var bench = Bench()
    bench.server.limits.pushMutations = 2
    bench.addDevice()
    #expect(bench.commit(2, .task("a"), .task("b"), .task("c")) == .tooLarge)
    #expect(bench.devices[2].record("a") == nil)
  }
}
