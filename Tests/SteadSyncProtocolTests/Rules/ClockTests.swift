import SteadSyncProtocol
import Testing

@Suite struct ClockTests {
  @Test func `A tick is above the last one, whatever the device's clock does`() {
    var clock = HybridClock()
    let ticks = [1000, 1000, 500, 0, 1001].map { clock.tick($0) }
    #expect(ticks == ticks.sorted())
    #expect(Set(ticks).count == ticks.count)
    #expect(ticks.last == HybridClock.Moment(milliseconds: 1001))
  }

  @Test func `65,536 ticks fit into a millisecond, and then comes the next`() {
    var clock = HybridClock()
    for _ in 0...Int(UInt16.max) { _ = clock.tick(7) }
    #expect(clock.last == HybridClock.Moment(milliseconds: 7, counter: .max))
    #expect(clock.tick(7) == HybridClock.Moment(milliseconds: 8))
  }

  @Test func `An edit is stamped above what its author saw`() {
    var bench = Bench()
    bench.skews = [50_000, -3_600_000]
    bench.commit(0, .task("t"))
    bench.sync()
    bench.commit(1, .update(id: "t", fields: ["name": "answer"]))
    bench.sync()
    #expect(bench.record("t")?.fields["name"]?.value == "answer")
    #expect(bench.isEverywhereTheSame)
  }

  @Test func `A device learns the server's time`() {
    var bench = Bench()
    bench.skews[1] = -3_600_000
    bench.sync()
    bench.commit(1, .task("t"))
    bench.sync()
    #expect(bench.record("t")?.at.milliseconds == bench.now)
  }

  /// A device a day ahead once won for a day.
  @Test func `Stamps in the future become now, in their order`() {
    var bench = Bench()
    bench.skews[0] = 86_400_000
    bench.commit(0, .task("t", ["name": "1"]))
    bench.commit(0, .update(id: "t", fields: ["name": "2"]))
    bench.commit(0, .update(id: "t", fields: ["place": "3"]))
    bench.pull(1)
    bench.sync()
    let record = bench.record("t")
    #expect(record?.fields["name"]?.value == "2")
    #expect(record.map { $0.newest.milliseconds <= bench.now + 60_000 } == true)
    #expect(record.map { $0.at < $0.newest } == true)
    bench.commit(1, .update(id: "t", fields: ["name": "honest"]))
    bench.sync()
    #expect(bench.value(0, "t", "name") == "honest")
    #expect(bench.isEverywhereTheSame)
  }

  @Test func `A minute ahead is taken as it is, and a millisecond more is not`() {
    for (ahead, isTaken) in [(60_000, true), (60_001, false)] {
      var bench = Bench()
      let stamp = Stamp(milliseconds: bench.now + Int64(ahead), device: "d")
      let insert = Mutation.Insert(
        id: "t", type: "Task", incarnation: "i", stamp: stamp, fields: [:])
      _ = bench.serve(
        Push(
          client: "c", device: "d", anchor: .start, schemaVersion: 0,
          transactions: [Transaction(number: 1, basis: 0, mutations: [.insert(insert)])]))
      #expect((bench.record("t")?.at == stamp) == isTaken)
    }
  }

  @Test func `Stamps are ordered by time, counter, device and repair`() {
    let stamps = [
      Stamp(milliseconds: 1, counter: 9, device: "z", bump: 9),
      Stamp(milliseconds: 2, counter: 0, device: "z", bump: 9),
      Stamp(milliseconds: 2, counter: 1, device: "a"),
      Stamp(milliseconds: 2, counter: 1, device: "a").bumped,
      Stamp(milliseconds: 2, counter: 1, device: "b"),
    ]
    #expect(stamps.reversed().sorted() == stamps)
  }
}
