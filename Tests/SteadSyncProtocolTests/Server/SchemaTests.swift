import SteadSyncProtocol
import Testing

@Suite struct SchemaTests {
  @Test func `An older writer gets the minimum, and goes on reading`() {
    var bench = Bench()
    bench.sync()
    bench.commit(0, .task("t"))
    bench.server.setMinimumSchema(2)
    #expect(bench.push(0) == .schemaTooOld(minimum: 2))
    bench.addDevice(Bench.later { _ in })
    bench.commit(2, .task("u"))
    bench.sync()
    #expect(bench.value(0, "u", "name") == "new")
    #expect(bench.live == ["u"])
    #expect(bench.devices[0].state.outbox.count == 1)
    #expect(bench.devices[0].state.quarantine.isEmpty)
  }

  @Test func `A server asks once for a schema that it doesn't know`() {
    var bench = Bench()
    bench.pull(0)
    bench.commit(0, .task("t"))
    #expect(bench.push(0) == .schemaWanted)
    #expect(bench.push(0)?.receipt?.last == 1)
    #expect(bench.server.storage.state().schema == Bench.schema)
    bench.commit(0, .task("u"))
    #expect(bench.push(0)?.receipt?.last == 2)
  }

  @Test func `A schema that changes something is refused`() {
    let changes: [(inout Schema) -> Void] = [
      { $0.entities["Task"]?.unique[0].fields = ["name"] },
      { $0.entities["Task"]?.unique[0].policy = .keepBoth(suffix: "%") },
      { $0.entities["Task"]?.fields["tags"] = FieldRule(merge: .max) },
      { $0.entities["Child"]?.fields["owner"] = .reference(.nullify) },
    ]
    for change in changes {
      var bench = Bench()
      bench.commit(0, .task("t"))
      bench.sync()
      bench.addDevice(Bench.later(change))
      bench.pull(2)
      bench.commit(2, .task("u"))
      #expect(bench.push(2) == .schemaWanted)
      #expect(bench.push(2) == .schemaConflict)
      #expect(bench.server.storage.state().schema == Bench.schema)
    }
  }

  /// Two branches of a program once had one version and other rules, and the zone kept those of the first.
  @Test func `Schemas of one version that only add become one`() {
    var bench = Bench()
    bench.addDevice(Bench.later { $0.entities["A"] = EntityRules(fields: ["x": .blob]) })
    bench.addDevice(
      Bench.later {
        $0.entities["Link"] = nil
        $0.entities["Task"]?.unique.append(UniqueRule("extra", fields: ["extra"]))
      })
    bench.commit(2, .task("t", ["extra": "x"]))
    bench.sync()
    bench.commit(3, .task("u", ["extra": "x"]))
    #expect(bench.push(3) == .schemaWanted)
    #expect(bench.push(3)?.receipt?.last == 1)
    let schema = bench.server.storage.state().schema
    #expect(schema.version == 2)
    #expect(schema.entities["A"]?.fields["x"] == .blob)
    #expect(schema.entities["Link"] != nil)
    #expect(schema.entities["Task"]?.unique.last?.name == "extra")
    bench.sync()
    #expect(bench.live == ["t"])
    #expect(bench.isEverywhereTheSame)
    // The server knows it now, and asks neither of both again.
    bench.commit(2, .task("v"))
    bench.commit(3, .task("w"))
    #expect(bench.push(2)?.receipt != nil)
    #expect(bench.push(3)?.receipt != nil)
    #expect(bench.server.storage.state().schema == schema)
  }

  @Test func `Schemas of one version that contradict each other are noticed`() {
    var bench = Bench()
    bench.commit(0, .task("t"))
    bench.sync()
    var other = Bench.schema
    other.entities["Task"]?.fields["tags"] = FieldRule(merge: .max)
    bench.addDevice(other)
    bench.commit(2, .task("u"))
    bench.pull(2)
    #expect(bench.push(2) == .schemaWanted)
    #expect(bench.push(2) == .schemaConflict)
    #expect(bench.live == ["t"])
  }

  @Test func `A schema that changes without its version is indexed again`() {
    var bench = Bench()
    bench.commit(0, .task("a", ["extra": "x"]))
    bench.sync()
    var other = Bench.schema
    other.entities["Task"]?.unique.append(UniqueRule("extra", fields: ["extra"]))
    let device = bench.devices[0]
    bench.devices[0] = ClientZone(device.state, storage: device.storage, schema: other)
    bench.commit(0, .task("b", ["extra": "x"]))
    #expect(bench.devices[0].record("b") == nil)
    #expect(bench.value(0, "a", "extra") == "x")
  }

  @Test func `A new constraint merges existing records`() {
    var bench = Bench()
    bench.commit(0, .task("a", ["extra": "x"]), .task("b", ["extra": "x"]))
    bench.sync()
    bench.addDevice(
      Bench.later { $0.entities["Task"]?.unique.append(UniqueRule("extra", fields: ["extra"])) })
    bench.pull(2)
    bench.commit(2, .task("c"))
    bench.sync()
    #expect(bench.live == ["a", "c"])
    #expect(bench.isEverywhereTheSame)
    let state = bench.server.storage.state()
    #expect(state.bytes == bench.server.storage.content.records.values.reduce(0) { $0 + $1.size })
    #expect(state.records == 2)
  }

  /// Found by simulation: what the new constraint had left unchanged was not indexed by it.
  @Test func `A new constraint knows the records that were there before it`() {
    let later = Bench.later {
      $0.entities["Task"]?.unique.append(UniqueRule("extra", fields: ["extra"]))
    }
    var bench = Bench()
    bench.commit(0, .task("a", ["extra": "x"]), .task("b", ["extra": "y"]))
    bench.sync()
    bench.addDevice(later)
    bench.pull(2)
    bench.commit(2, .task("c"))
    bench.sync()
    bench.commit(0, .update(id: "b", fields: ["extra": "x"]))
    bench.sync()
    #expect(bench.live == ["a", "c"])
    #expect(bench.isEverywhereTheSame)
    // And a device that is opened with it.
    let device = bench.devices[1]
    bench.commit(0, .task("d", ["extra": "z"]))
    bench.sync()
    bench.devices[1] = ClientZone(
      device.state, storage: bench.devices[1].storage, schema: later)
    bench.commit(1, .task("e", ["extra": "z"]))
    #expect(bench.devices[1].record("e") == nil)
    #expect(bench.value(1, "d", "extra") == "z")
  }

  /// A push with a new schema once stored repaired records and then asked for blobs, without their counters.
  @Test func `A push whose blobs are missing stores nothing, not even its schema`() {
    var bench = Bench()
    bench.commit(0, .task("a", ["extra": "x"]), .task("b", ["extra": "x"]))
    bench.sync()
    bench.addDevice(
      Bench.later { $0.entities["Task"]?.unique.append(UniqueRule("extra", fields: ["extra"])) })
    bench.pull(2)
    bench.commit(2, .task("c", ["file": .object(["sha256": "blob", "size": 1])]))
    let before = bench.server.storage.state()
    #expect(bench.push(2) == .schemaWanted)
    #expect(bench.push(2) == .blobsMissing(["blob"]))
    #expect(bench.server.storage.state() == before)
    #expect(bench.live == ["a", "b"])
  }

  @Test func `Fields and types of a later schema survive an older device's edits`() {
    var bench = Bench()
    bench.addDevice(Bench.later { $0.entities["New"] = EntityRules() })
    bench.commit(2, .task("t", ["name": "a", "extra": ["x"]]))
    bench.commit(2, .insert(id: "n", type: "New", fields: ["x": 1]))
    bench.sync()
    #expect(bench.value(0, "t", "extra") == ["x"])
    #expect(bench.value(0, "n", "x") == 1)
    bench.commit(0, .update(id: "t", fields: ["name": "b"]))
    #expect(
      bench.devices[0].nextPush()?.transactions.first?.mutations.first?.values == ["name": "b"])
    bench.sync()
    #expect(bench.value(2, "t", "extra") == ["x"])
    #expect(bench.value(2, "t", "name") == "b")
    #expect(bench.isEverywhereTheSame)
  }
}
