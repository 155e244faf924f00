import SteadSyncProtocol
import Testing

@Suite struct PageTests {
  @Test func `A fresh device gets no tombstones, and a page may be empty`() throws {
    var bench = Bench()
    bench.commit(0, .task("a"), .task("b"), .task("c"))
    bench.sync()
    bench.commit(0, .delete(id: "a"))
    bench.commit(0, .delete(id: "c"))
    bench.sync(0)
    bench.addDevice()
    var ids: [RecordID] = []
    while bench.devices[2].state.anchor == nil {
      ids += try #require(bench.pull(2, limit: 1).page).records.map(\.id)
    }
    #expect(ids == ["b"])
    #expect(bench.devices[2].storage.base.records.count == 1)
  }

  @Test func `A first fetch shows page by page, and later ones at the head`() throws {
    var bench = Bench()
    bench.commit(0, .task("a"), .task("b"))
    bench.sync(0)
    let first = try #require(bench.pull(1, limit: 1).page)
    #expect(first.more)
    #expect(bench.devices[1].record("a") != nil)
    #expect(bench.devices[1].record("b") == nil)
    bench.sync(1)
    // Both records of this transaction show together.
    bench.commit(
      0, .update(id: "a", fields: ["name": "1"]), .update(id: "b", fields: ["name": "1"]))
    bench.sync(0)
    bench.pull(1, limit: 1)
    #expect(bench.value(1, "a", "name") == "new")
    bench.pull(1, limit: 1)
    #expect(bench.value(1, "a", "name") == "1")
    #expect(bench.value(1, "b", "name") == "1")
  }

  /// Found by simulation: the old state of a record shared a key with a later record until a later page.
  @Test func `A first fetch never shows two records with one key`() {
    var bench = Bench()
    bench.commit(0, .task("a", ["code": "x"]), .task("b"), .task("c"))
    bench.sync(0)
    bench.pull(1, limit: 1)
    #expect(bench.value(1, "a", "code") == "x")
    // The key moves to a record of the next page, and its first holder to the page after that.
    bench.commit(0, .update(id: "a", fields: ["code": "y"]))
    bench.commit(0, .task("d", ["code": "x"]))
    bench.commit(0, .update(id: "a", fields: ["name": "last"]))
    bench.sync(0)
    var shared = 0
    while bench.devices[1].state.anchor == nil {
      bench.pull(1, limit: 1)
      let codes = (["a", "b", "c", "d"] as [RecordID]).compactMap { bench.value(1, $0, "code") }
      if Set(codes).count < codes.count { shared += 1 }
    }
    #expect(shared == 0)
    #expect(bench.value(1, "d", "code") == "x")
    #expect(bench.isEverywhereTheSame)
  }

  @Test func `A page that comes late or twice changes nothing`() {
    var bench = Bench()
    bench.commit(0, .task("a"))
    bench.sync()
    let request = bench.devices[1].nextRequest(limit: 10)
    let answer = bench.server.changes(request, now: bench.now)
    bench.commit(0, .update(id: "a", fields: ["name": "later"]))
    bench.sync()
    let state = bench.devices[1].state
    bench.receive(1, answer, request)
    #expect(bench.devices[1].state == state)
    #expect(bench.value(1, "a", "name") == "later")
  }

  /// Found by simulation: the answer to a device's first request came while it fetched everything again, emptied it,
  /// and then the server failed over to one that lagged.
  @Test func `An answer from before a fetch that was begun again changes nothing`() {
    var bench = Bench()
    let request = bench.devices[1].nextRequest(limit: 10)
    let answer = bench.server.changes(request, now: bench.now)
    bench.commit(0, .task("a"))
    bench.sync()
    bench.devices[1].refetch()
    bench.receive(1, answer, request)
    #expect(bench.devices[1].record("a") != nil)
    bench.sync()
    #expect(bench.isEverywhereTheSame)
  }

  @Test func `A page has no more bytes than it may, and at least one record`() throws {
    var bench = Bench()
    bench.server.limits.pageBytes = 300
    let text = SyncValue.string(String(repeating: "x", count: 200))
    for id in ["a", "b", "c"] as [RecordID] { bench.commit(0, .task(id, ["name": text])) }
    bench.sync(0)
    let page = try #require(bench.pull(1).page)
    #expect(page.records.map(\.id) == ["a"])
    #expect(page.more)
    bench.sync()
    #expect(bench.isEverywhereTheSame)
  }

  @Test func `A request may ask for any number of records`() throws {
    var bench = Bench()
    bench.commit(0, .task("a"), .task("b"))
    bench.sync()
    for limit in [Int.min, -1, 0, 1, .max] {
      let request = ChangesRequest(client: "x", cursor: nil, limit: limit, acknowledged: 0)
      let count = try #require(bench.server.changes(request, now: 0).page).records.count
      #expect(count == (limit == .max ? 2 : 1))
    }
  }

  @Test func `A cursor that nobody gave harms nothing`() {
    var bench = Bench()
    bench.commit(0, .task("a"))
    bench.sync()
    let mark = bench.server.storage.state().mark
    for number in [Int64.min, -1, 0, 1, .max] {
      for anchor in [mark, .start, Mark(head: number, token: 1)] {
        let cursor = Cursor(seq: number, start: number, anchor: anchor)
        let request = ChangesRequest(client: "x", cursor: cursor, limit: 10, acknowledged: number)
        let answer = bench.server.changes(request, now: number)
        if let page = answer.page { #expect(page.cursor.seq <= max(mark.head, number)) }
      }
    }
  }
}
