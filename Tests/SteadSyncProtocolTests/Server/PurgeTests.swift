import SteadSyncProtocol
import Testing

@Suite struct PurgeTests {
  /// A zone with a tombstone that a purge has removed, and a second device that missed the deletion.
  private func purged() -> Bench {
    var bench = Bench()
    bench.server.limits.tombstoneAge = 1000
    bench.commit(0, .task("a"), .task("b"))
    bench.sync()
    bench.commit(0, .delete(id: "a"))
    bench.sync(0)
    bench.now += 2000
    bench.server.purge(now: bench.now)
    return bench
  }

  @Test func `A cursor from before a purge is expired, and pending edits stay`() {
    var bench = purged()
    bench.commit(1, .update(id: "b", fields: ["name": "pending"]))
    bench.commit(1, .update(id: "a", fields: ["name": "gone"]))
    #expect(bench.push(1) == .expired)
    #expect(bench.pull(1) == .expired)
    #expect(bench.devices[1].record("a") != nil)
    bench.sync()
    #expect(bench.live == ["b"])
    #expect(bench.value(0, "b", "name") == "pending")
    #expect(bench.devices[1].record("a") == nil)
    #expect(bench.isEverywhereTheSame)
  }

  @Test func `A device that has seen the deletion goes on`() {
    var bench = purged()
    bench.commit(0, .task("c"))
    #expect(bench.push(0)?.receipt != nil)
    #expect(bench.pull(0).page != nil)
    #expect(bench.record("a") == nil)
  }

  @Test func `A tombstone that is young enough stays`() {
    var bench = Bench()
    bench.server.limits.tombstoneAge = 1000
    bench.commit(0, .task("a"))
    bench.sync()
    bench.commit(0, .delete(id: "a"))
    bench.sync()
    bench.now += 1000
    bench.server.purge(now: bench.now)
    #expect(bench.record("a") != nil)
  }

  /// Paging through a snapshot once expired for ever by an earlier purge.
  @Test func `A snapshot outlives a purge before which it began, and one after an older purge`() {
    var bench = purged()
    bench.commit(0, .task("c"), .task("d"))
    bench.sync(0)
    bench.addDevice()
    bench.pull(2, limit: 1)
    #expect(
      bench.devices[2].state.cursor.map {
        $0.seq < bench.server.storage.state().purged || $0.start > 0
      } == true)
    while bench.devices[2].state.anchor == nil {
      #expect(bench.pull(2, limit: 1).page != nil)
      bench.now += 10_000
      bench.server.purge(now: bench.now)
    }
    #expect(bench.devices[2].record("d") != nil)
  }

  @Test func `Clients forget purged tombstones`() {
    var bench = purged()
    #expect(bench.devices[0].storage.base.records["a"]?.isLive == false)
    bench.sync(0)
    #expect(bench.devices[0].storage.base.records["a"] == nil)
  }
}
