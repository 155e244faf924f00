import SteadSyncProtocol
import Testing

@Suite struct UniqueTests {
  /// Two records with one code, made on two devices at once.
  private func collided() -> Bench {
    var bench = Bench()
    bench.commit(0, .task("b", ["code": "x", "name": "older"]))
    bench.commit(1, .task("a", ["code": "x", "place": "there"]))
    return bench
  }

  @Test func `The oldest insert wins, whichever arrives first, and gets the other's fields`() {
    for first in [0, 1] {
      var bench = collided()
      bench.sync(0)
      if first == 1 {
        bench = collided()
        bench.sync(1)
      }
      bench.sync()
      #expect(bench.live == ["b"])
      #expect(bench.record("a")?.into == "b")
      #expect(bench.value(1, "b", "name") == "older")
      #expect(bench.value(0, "b", "place") == "there")
      #expect(bench.isEverywhereTheSame)
    }
  }

  @Test func `Edits of the loser are led to the winner, and its deletion leaves the winner alive`()
  {
    var bench = collided()
    bench.pull(1)
    bench.push(1)
    bench.commit(1, .update(id: "a", fields: ["place": "later"]))
    bench.sync(0)
    bench.sync(1)
    #expect(bench.record("b")?.fields["place"]?.value == "later")

    var other = collided()
    other.pull(1)
    other.commit(1, .delete(id: "a"))
    other.sync(0)
    other.sync()
    #expect(other.live == ["b"])
    #expect(other.value(1, "b", "code") == "x")
    #expect(other.isEverywhereTheSame)
  }

  /// It led to the record that it was once merged into. When it was deleted, its children went there instead of following it.
  @Test(arguments: [0, 1], [0, 1])
  func `A merged record that is inserted again leads nowhere`(inserter: Int, deleter: Int) {
    var bench = collided()
    bench.sync()
    #expect(bench.record("a")?.into == "b")
    bench.commit(inserter, .task("a", ["code": "y"]))
    bench.commit(inserter, .insert(id: "c", type: "Child", fields: ["owner": "a"]))
    bench.sync()
    #expect(bench.live == ["a", "b", "c"])
    #expect(bench.record("a")?.into == nil)
    #expect(bench.devices.allSatisfy { $0.record("a")?.into == nil })
    bench.commit(deleter, .delete(id: "a"))
    bench.sync()
    #expect(bench.live == ["b"])
    #expect(bench.record("a")?.into == nil && bench.record("a")?.isAlias == false)
    #expect(bench.isEverywhereTheSame)
  }

  @Test func `A merged record that is inserted again can be merged into another one`() {
    var bench = Bench(devices: 3)
    bench.commit(0, .task("b", ["code": "x"]), .task("d", ["code": "z"]))
    bench.commit(1, .task("a", ["code": "x"]))
    bench.sync()
    bench.commit(2, .task("a", ["code": "z", "name": "again"]))
    bench.commit(2, .insert(id: "c", type: "Child", fields: ["owner": "a"]))
    bench.sync()
    #expect(bench.live == ["b", "c", "d"])
    #expect(bench.record("a")?.into == "d")
    #expect(bench.value(1, "c", "owner") == "d" && bench.value(1, "d", "name") == "again")
    #expect(bench.isEverywhereTheSame)
  }

  @Test func `References to the loser lead to the winner, with a stamp just above their edit`() {
    var bench = collided()
    bench.commit(1, .insert(id: "c", type: "Child", fields: ["owner": "a"]))
    bench.sync(1)
    let edit = bench.record("c")?.fields["owner"]?.stamp
    bench.sync()
    let repaired = bench.record("c")?.fields["owner"]
    #expect(repaired?.value == "b")
    #expect(repaired?.stamp == edit?.bumped)
    #expect(bench.isEverywhereTheSame)
  }

  @Test func `Several constraints are settled until nothing changes`() {
    var bench = Bench(devices: 3)
    bench.commit(0, .task("p", ["code": "1", "badge": "x"]))
    bench.commit(1, .task("q", ["code": "2", "badge": "y"]))
    bench.commit(2, .task("r", ["code": "2", "badge": "x"]))
    bench.sync()
    #expect(bench.live == ["p"])
    #expect(bench.isEverywhereTheSame)
  }

  /// The merge of a parent with its child once made a record its own parent, and the cascade killed both.
  @Test func `A merge that makes a record its own parent sets nil`() {
    var bench = Bench()
    bench.commit(0, .task("parent", ["code": "1"]), .task("child", ["parent": "parent"]))
    bench.sync()
    let edit = bench.record("child")?.fields["parent"]?.stamp
    bench.commit(1, .update(id: "child", fields: ["code": "1"]))
    bench.sync()
    #expect(bench.live == ["parent"])
    #expect(bench.value(0, "parent", "parent") == .null)
    // Above the edit that is repaired, or a device that has the edit would keep it.
    #expect(edit != nil && bench.record("parent")?.fields["parent"]?.stamp == edit?.bumped)
    #expect(bench.isEverywhereTheSame)
  }

  /// The winner itself referred to the loser.
  @Test(arguments: [0, 1])
  func `A record that referred to the one merged into it refers to nothing`(
    merger: Int
  ) {
    var bench = Bench()
    bench.commit(0, .task("child", ["parent": "later", "code": "1"]), .task("later"))
    bench.sync()
    let edit = bench.record("child")?.fields["parent"]?.stamp
    bench.commit(merger, .update(id: "later", fields: ["code": "1"]))
    bench.sync()
    #expect(bench.live == ["child"] && bench.record("later")?.into == "child")
    #expect(bench.value(1, "child", "parent") == .null)
    #expect(edit != nil && bench.record("child")?.fields["parent"]?.stamp == edit?.bumped)
    #expect(bench.isEverywhereTheSame)
  }

  @Test func `With keepBoth the later one gets the first free suffix`() {
    var bench = Bench(devices: 3)
    for (index, id) in ["n0", "n1", "n2"].enumerated() {
      bench.commit(index, .insert(id: RecordID(id) ?? "n", type: "Note", fields: ["name": "List"]))
    }
    bench.sync()
    #expect(bench.value(2, "n0", "name") == "List")
    #expect(bench.value(0, "n1", "name") == "List (2)")
    #expect(bench.value(0, "n2", "name") == "List (3)")
    #expect(bench.isEverywhereTheSame)
  }

  /// The second key of a record was not looked at when its rival of the first one had got another name.
  @Test func `With keepBoth the older one's further keys are settled, too`() {
    let schema = Bench.later { schema in
      schema.entities["Note"]?.unique.append(UniqueRule("code", fields: ["code"]))
    }
    var bench = Bench(schema, devices: 3)
    bench.commit(0, .insert(id: "a", type: "Note", fields: ["name": "List", "code": "1"]))
    bench.commit(1, .insert(id: "b", type: "Note", fields: ["name": "List", "code": "2"]))
    bench.commit(2, .insert(id: "c", type: "Note", fields: ["name": "Other", "code": "1"]))
    bench.sync(1, 2)
    bench.sync()
    #expect(bench.live == ["a", "b"])
    // The later name of those that were merged.
    #expect(bench.value(2, "a", "name") == "Other")
    #expect(bench.value(0, "b", "name") == "List (2)")
    #expect(bench.isEverywhereTheSame)
  }

  /// One transaction has inserted two of them, and a third one was there before.
  @Test func `With keepBoth all rivals of the older one get other names`() {
    var bench = Bench(devices: 2)
    bench.commit(
      0, .insert(id: "a", type: "Note", fields: ["name": "List"]),
      .insert(id: "b", type: "Note", fields: ["name": "List"]))
    bench.commit(1, .insert(id: "c", type: "Note", fields: ["name": "List"]))
    bench.sync(1, 0)
    let names = ["a", "b", "c"].map { bench.value(1, $0, "name") }
    #expect(names[0] == "List")
    #expect(Set(names) == ["List", "List (2)", "List (3)"])
    #expect(bench.isEverywhereTheSame)
  }

  @Test func `Null is equal to nothing`() {
    var bench = Bench()
    bench.commit(0, .task("a", ["code": .null]), .task("b", ["code": .null]), .task("c"))
    bench.sync()
    #expect(bench.live == ["a", "b", "c"])
  }

  @Test func `A key is its bytes: neither case nor composition nor a number's kind joins two`() {
    let schema = Bench.schema
    func token(_ value: SyncValue) -> UniqueToken? {
      let stamp = Stamp(milliseconds: 1, device: "d")
      let record = Record(
        id: "a", type: "Task", at: stamp, live: ["x"], fields: ["code": Field(value, stamp)])
      return schema.tokens(of: record).first?.token
    }
    let values: [SyncValue] = [
      "e", "E", "\u{E9}", "e\u{301}", "1", 1, .double(1), " ", "%20",
      .string(.init(repeating: "l", count: 500)),
    ]
    #expect(Set(values.map(token)).count == values.count)
    #expect(token("e")?.text == "[%22Task%22,%22code%22,%22e%22]")
    #expect(values.allSatisfy { token($0).map { Identifier<Never>.accepts($0.text) } == true })
  }
}
