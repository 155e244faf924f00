import SteadSyncProtocol
import Testing

@Suite struct IncarnationTests {
  /// sqlite-data #418: delete and insert again lost the record.
  @Test func `An insert over a tombstone is a new life, which an older delete leaves alone`() {
    var bench = Bench()
    bench.commit(0, .task("t", ["name": "first", "old": 1]))
    bench.sync()
    bench.commit(1, .delete(id: "t"))
    bench.commit(0, .delete(id: "t"))
    bench.commit(0, .task("t", ["name": "second"]))
    bench.sync()
    #expect(bench.value(1, "t", "name") == "second")
    #expect(bench.value(1, "t", "old") == nil)
    #expect(bench.isEverywhereTheSame)
  }

  @Test func `An update of an ended life is dropped and brings nothing back`() {
    var bench = Bench()
    bench.commit(0, .task("t"))
    bench.sync()
    bench.commit(0, .delete(id: "t"))
    bench.sync(0)
    bench.commit(1, .update(id: "t", fields: ["name": "late"]))
    _ = bench.server.takeEvents()
    bench.push(1)
    #expect(bench.server.takeEvents() == [.dropped(id: "t", reason: .ended)])
    bench.sync()
    #expect(bench.live.isEmpty)
    #expect(bench.devices[1].record("t") == nil)
  }

  @Test func `Edits of a record that the server never had are dropped and reported`() {
    var bench = Bench()
    bench.sync()
    let stamp = Stamp(milliseconds: 5, device: "device0")
    let update = Mutation.Update(
      id: "x", type: "Task", incarnations: ["gone"], stamp: stamp, fields: ["name": "x"])
    let delete = Mutation.Delete(id: "x", type: "Task", incarnations: ["gone"], stamp: stamp)
    let answer = bench.serve(
      Push(
        client: "client0", device: "device0", anchor: .start, schemaVersion: 0,
        transactions: [
          Transaction(number: 1, basis: 0, mutations: [.update(update), .delete(delete)])
        ]))
    #expect(answer.receipt?.refused == [])
    #expect(
      bench.server.takeEvents() == [
        .dropped(id: "x", reason: .unknown), .dropped(id: "x", reason: .unknown),
      ])
    #expect(bench.live.isEmpty)
  }

  @Test func `Two inserts of one identity are one record with both lives`() {
    var bench = Bench()
    bench.commit(0, .task("settings", ["name": "a", "left": 1]))
    bench.commit(1, .task("settings", ["name": "b", "right": 2]))
    bench.sync()
    let record = bench.record("settings")
    #expect(record?.live.count == 2)
    #expect(record?.fields.mapValues(\.value) == ["name": "b", "left": 1, "right": 2])
    #expect(bench.isEverywhereTheSame)
  }

  /// The later insert took the record's time with it, so that a record made in between won its unique key.
  @Test(arguments: [[0, 1, 2], [1, 0, 2], [2, 1, 0], [0, 2, 1], [1, 2, 0], [2, 0, 1]])
  func `A record that is inserted twice is as old as the first insert, whichever arrives first`(
    order: [Int]
  ) {
    var bench = Bench(devices: 3)
    bench.commit(0, .task("settings", ["code": "x"]))
    let first = bench.devices[0].record("settings")?.at
    bench.commit(2, .task("rival", ["code": "x"]))
    bench.commit(1, .task("settings", ["code": "x"]))
    for device in order { bench.sync(device) }
    bench.sync()
    #expect(first != nil && bench.record("settings")?.at == first)
    #expect(bench.live == ["settings"])
    #expect(bench.record("rival")?.into == "settings")
    #expect(bench.isEverywhereTheSame)
  }

  /// A device deletes what it has seen; what another one inserts at that time was never seen.
  @Test func `A delete ends only the lives that its author saw`() {
    var bench = Bench()
    bench.commit(0, .task("settings"))
    bench.sync(0)
    bench.commit(1, .task("settings", ["right": 2]))
    bench.commit(0, .delete(id: "settings"))
    bench.sync()
    #expect(bench.live == ["settings"])
    #expect(bench.record("settings")?.dead.count == 1)
    #expect(bench.isEverywhereTheSame)
  }

  @Test func `A record keeps at most 64 lives, however often it is inserted`() {
    var bench = Bench()
    for number in 0..<100 {
      bench.commit(number % 2, .task("settings", ["n": .int(Int64(number))]))
    }
    bench.sync()
    #expect(bench.record("settings")?.live.count == Record.incarnationLimit)
    #expect(bench.record("settings")?.fields["n"]?.value == 99)
    #expect(bench.isEverywhereTheSame)
    bench.commit(0, .delete(id: "settings"))
    bench.sync()
    #expect(bench.live.isEmpty)
  }

  @Test func `A tombstone has no values`() {
    var bench = Bench()
    bench.commit(0, .task("t"))
    bench.sync()
    bench.commit(0, .delete(id: "t"))
    bench.sync()
    #expect(bench.record("t")?.fields == [:])
    #expect(bench.record("t")?.size == 0)
  }
}
