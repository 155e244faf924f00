import SteadSyncProtocol
import Testing

@Suite struct QuotaTests {
  private func text(_ count: Int) -> SyncValue { .string(String(repeating: "x", count: count)) }

  @Test func `A full zone refuses with figures, and takes what makes it smaller`() {
    var bench = Bench()
    bench.commit(0, .task("t", ["name": text(500)]))
    bench.sync()
    let bytes = bench.server.storage.state().bytes
    bench.server.limits.zoneBytes = bytes + 10
    bench.commit(1, .task("u", ["name": text(100)]))
    let answer = bench.push(1)
    #expect(answer?.status == 507)
    bench.sync()
    guard case .quota(let limit, let needed)? = bench.devices[1].state.quarantine.first?.reason
    else {
      Issue.record("The transaction isn't in quarantine.")
      return
    }
    #expect(limit == bytes + 10)
    #expect(needed > limit)
    #expect(bench.isEverywhereTheSame)
    // Smaller, though still beyond a limit that was lowered.
    bench.server.limits.zoneBytes = 1
    bench.commit(0, .update(id: "t", fields: ["name": text(400)]))
    bench.sync()
    #expect(bench.devices[0].state.quarantine.isEmpty)
    #expect(bench.server.storage.state().bytes < bytes)
    bench.commit(0, .delete(id: "t"))
    bench.sync()
    #expect(bench.server.storage.state().bytes == 0)
  }

  @Test func `A record has its own limit, at home and at the server`() {
    var bench = Bench()
    bench.devices[0].limits.recordBytes = 100
    guard
      case .refused(.recordSize(id: "t", limit: 100, needed: _)) =
        bench.commit(0, .task("t", ["name": text(200)]))
    else {
      Issue.record("A record of 200 bytes was taken.")
      return
    }
    #expect(bench.devices[0].record("t") == nil)
    bench.server.limits.recordBytes = 100
    bench.commit(1, .task("t", ["name": text(200)]))
    bench.sync()
    guard
      case .recordSize(id: "t", limit: 100, needed: _)? = bench.devices[1].state.quarantine.first?
        .reason
    else {
      Issue.record("The transaction isn't in quarantine.")
      return
    }
  }

  @Test func `The number of records has a limit`() {
    var bench = Bench()
    bench.server.limits.zoneRecords = 2
    bench.commit(0, .task("a"))
    bench.commit(0, .task("b"))
    bench.commit(0, .task("c"))
    bench.sync()
    #expect(bench.devices[0].state.quarantine.map(\.reason) == [.recordCount(limit: 2, needed: 3)])
    bench.commit(0, .delete(id: "a"), .task("d"))
    bench.sync()
    #expect(bench.live == ["b", "d"])
  }

  @Test func `A push that is larger than one may be is refused as a whole`() {
    var bench = Bench()
    bench.sync()
    bench.server.limits.pushMutations = 1
    bench.commit(0, .task("a"), .task("b"))
    bench.push(0)
    let push = bench.devices[0].nextPush()
    #expect(push.map { bench.serve($0) } == .tooLarge)
    #expect(push.map { bench.serve($0).status } == 413)
    bench.server.limits = SyncLimits()
    bench.server.limits.pushBytes = 3
    #expect(push.map { bench.serve($0) } == .tooLarge)
    #expect(bench.live.isEmpty)
  }

  @Test func `A first upload goes out in pushes that may be sent`() {
    var bench = Bench()
    for number in 0..<1000 { bench.commit(0, .task(RecordID("t\(number)") ?? "t")) }
    bench.pull(0)
    let push = bench.devices[0].nextPush()
    #expect(push?.transactions.count == 400)
    bench.sync()
    #expect(bench.live.count == 1000)
    #expect(bench.isEverywhereTheSame)
  }

  @Test func `Counters equal a recount after everything`() {
    var bench = Bench()
    bench.commit(0, .task("a", ["name": text(50)]), .task("b"), .task("c", ["parent": "b"]))
    bench.sync()
    bench.commit(0, .update(id: "a", fields: ["name": text(10)]), .delete(id: "b"))
    bench.sync()
    let records = bench.server.storage.content.records.values
    #expect(bench.server.storage.state().bytes == records.reduce(0) { $0 + $1.size })
    #expect(bench.server.storage.state().records == records.filter(\.isLive).count)
  }

  @Test func `What a later version adds to a record counts`() {
    let stamp = Stamp(milliseconds: 1, device: "d")
    var record = Record(id: "t", type: "T", at: stamp, live: ["i"])
    let size = record.size
    record.extra = ["more": text(100)]
    #expect(record.size > size + 100)
  }
}
