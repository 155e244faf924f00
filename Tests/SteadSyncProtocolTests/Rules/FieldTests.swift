import SteadSyncProtocol
import Testing

@Suite struct FieldTests {
  /// A device without a network pushes its old edit after a newer one of another device.
  @Test func `The later edit of a field wins, whichever arrives last`() {
    var bench = Bench()
    bench.commit(0, .task("t"))
    bench.sync()
    bench.commit(0, .update(id: "t", fields: ["name": "older"]))
    bench.commit(1, .update(id: "t", fields: ["name": "newer"]))
    bench.sync(1)
    bench.sync(0)
    #expect(bench.record("t")?.fields["name"]?.value == "newer")
    bench.sync()
    #expect(bench.isEverywhereTheSame)
  }

  @Test func `Edits of different fields of a record both stay`() {
    var bench = Bench()
    bench.commit(0, .task("t"))
    bench.sync()
    bench.commit(0, .update(id: "t", fields: ["name": "a"]))
    bench.commit(1, .update(id: "t", fields: ["place": "b"]))
    bench.sync()
    #expect(bench.value(0, "t", "name") == "a")
    #expect(bench.value(0, "t", "place") == "b")
    #expect(bench.isEverywhereTheSame)
  }

  @Test func `Maximum, minimum and union merge without regard to time`() {
    var bench = Bench()
    bench.commit(0, .task("t", ["best": 1, "low": 5, "tags": ["a"]]))
    bench.sync()
    bench.commit(0, .update(id: "t", fields: ["best": 9, "low": 2, "tags": ["b"]]))
    bench.commit(1, .update(id: "t", fields: ["best": 4, "low": 8, "tags": ["c"]]))
    bench.sync()
    #expect(bench.value(1, "t", "best") == 9)
    #expect(bench.value(1, "t", "low") == 2)
    #expect(bench.value(1, "t", "tags") == ["a", "b", "c"])
  }

  @Test func `A counter adds up what each device has added`() {
    var bench = Bench()
    bench.commit(0, .task("t"))
    bench.sync()
    for index in [0, 1, 1] {
      let device = bench.devices[index]
      let old = bench.value(index, "t", "hits") ?? .null
      let hits = SyncCounter.adding(10, to: old, by: device.state.device)
      bench.commit(index, .update(id: "t", fields: ["hits": hits]))
    }
    bench.sync()
    #expect(SyncCounter.total(bench.value(0, "t", "hits") ?? .null) == 30)
    #expect(bench.isEverywhereTheSame)
  }

  @Test(arguments: MergeRule.allCases)
  func `Each rule gives the same in each order, and once more`(rule: MergeRule) {
    let values: [SyncValue] = [
      .null, 1, 7, .double(3.5), "text", ["a", "b"], ["b", "c"],
      .object(["d": [1, 5]]), .object(["d": [2, 9], "e": [1, 1]]),
    ]
    let fields = values.enumerated().map { index, value in
      Field(value, Stamp(milliseconds: Int64(index * 7 % 5), counter: UInt16(index), device: "d"))
    }
    for one in fields {
      #expect(rule.merged(one, one) == one || rule == .union)
      for other in fields {
        let merged = rule.merged(one, other)
        #expect(merged == rule.merged(other, one))
        #expect(merged == rule.merged(merged, other))
      }
    }
  }
}
