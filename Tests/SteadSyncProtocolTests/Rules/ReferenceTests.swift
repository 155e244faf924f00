import SteadSyncProtocol
import Testing

@Suite struct ReferenceTests {
  @Test func `A deletion takes the children of a cascade with it, at all depths`() {
    var bench = Bench()
    bench.commit(
      0, .task("t"), .insert(id: "c1", type: "Child", fields: ["owner": "t"]),
      .insert(id: "c2", type: "Child", fields: ["owner": "c1"]))
    bench.sync()
    bench.commit(1, .delete(id: "t"))
    #expect(bench.devices[1].record("c2") == nil)
    bench.sync()
    #expect(bench.live.isEmpty)
    #expect(bench.isEverywhereTheSame)
  }

  /// One device adds a child while another deletes its parent; neither could have seen the other.
  @Test func `A child that comes after its parent's deletion follows it`() {
    var bench = Bench()
    bench.commit(0, .task("t"))
    bench.sync()
    bench.commit(0, .delete(id: "t"))
    bench.commit(1, .insert(id: "c", type: "Child", fields: ["owner": "t"]))
    bench.sync()
    #expect(bench.live.isEmpty)
    #expect(bench.isEverywhereTheSame)
  }

  @Test func `With nullify the reference becomes null, just above its edit`() {
    var bench = Bench()
    bench.commit(0, .task("t"), .task("u", ["parent": "t"]))
    bench.sync()
    let edit = bench.record("u")?.fields["parent"]?.stamp
    bench.commit(1, .delete(id: "t"))
    bench.sync()
    #expect(bench.record("u")?.fields["parent"] == edit.map { Field(.null, $0.bumped) })
    #expect(bench.isEverywhereTheSame)
  }

  @Test func `A record may refer to itself, and be deleted`() {
    var bench = Bench()
    bench.commit(0, .task("t", ["parent": "t"]))
    bench.sync()
    #expect(bench.value(1, "t", "parent") == "t")
    bench.commit(1, .delete(id: "t"))
    bench.sync()
    #expect(bench.live.isEmpty)
  }

  /// sqlite-data #424: a child that came before its parent was dropped.
  @Test func `A reference to an unknown record is kept, and waits`() {
    var bench = Bench()
    bench.commit(0, .insert(id: "c", type: "Child", fields: ["owner": "t"]))
    bench.sync()
    let child = bench.devices[1].record("c")
    let waiting = child.map { bench.devices[1].waitingReferences(of: $0) } ?? []
    #expect(waiting.map(\.field) == ["owner"])
    #expect(waiting.map(\.target) == ["t"])
    bench.commit(0, .task("t"))
    bench.sync()
    #expect(child.map { bench.devices[1].waitingReferences(of: $0).isEmpty } == true)
    #expect(bench.devices[1].storage.referrers(of: "t") == ["c"])
    #expect(bench.value(1, "c", "owner") == "t")
  }

  @Test func `A denied deletion is refused before it is saved`() {
    var bench = Bench()
    bench.commit(0, .task("t"), .insert(id: "g", type: "Guard", fields: ["target": "t"]))
    bench.sync()
    #expect(bench.commit(1, .delete(id: "t")) == .refused(.denied(deleted: "t", referrer: "g")))
    #expect(bench.devices[1].record("t") != nil)
    #expect(bench.devices[1].state.outbox.isEmpty)
    // Both at once leave no child.
    guard case .committed = bench.commit(1, .delete(id: "g"), .delete(id: "t")) else {
      Issue.record("A deletion of both was refused.")
      return
    }
  }

  @Test func `At the server a deletion with live children goes to quarantine`() {
    var bench = Bench()
    bench.commit(0, .task("t"))
    bench.sync()
    bench.commit(0, .insert(id: "g", type: "Guard", fields: ["target": "t"]))
    bench.sync(0)
    bench.commit(1, .delete(id: "t"))
    #expect(bench.devices[1].record("t") == nil)
    bench.sync()
    #expect(
      bench.devices[1].state.quarantine.map(\.reason) == [.denied(deleted: "t", referrer: "g")])
    #expect(bench.live == ["g", "t"])
    #expect(bench.isEverywhereTheSame)
  }

  @Test func `Two devices that link the same records make one link`() {
    var bench = Bench()
    bench.commit(0, .task("t"), .task("u"))
    bench.sync()
    let id = LinkID.make(relation: "related", first: "t", second: "u")
    for index in [0, 1] {
      bench.commit(index, .insert(id: id, type: "Link", fields: ["a": "t", "b": "u"]))
    }
    bench.sync()
    #expect(bench.live.filter { $0 != "t" && $0 != "u" } == [id])
    // One takes the link away, the other makes it again: a life of its own.
    bench.commit(0, .delete(id: id))
    bench.sync()
    bench.commit(1, .insert(id: id, type: "Link", fields: ["a": "t", "b": "u"]))
    bench.sync()
    #expect(bench.live.contains(id))
    bench.commit(0, .delete(id: "t"))
    bench.sync()
    #expect(bench.live == ["u"])
  }

  @Test func `Links of merged records are one link`() {
    var bench = Bench()
    bench.commit(0, .task("a", ["code": "x"]), .task("z"))
    bench.commit(1, .task("b", ["code": "x"]))
    bench.sync(0)
    let first = LinkID.make(relation: "related", first: "a", second: "z")
    let second = LinkID.make(relation: "related", first: "b", second: "z")
    bench.commit(0, .insert(id: first, type: "Link", fields: ["a": "a", "b": "z"]))
    bench.commit(1, .insert(id: second, type: "Link", fields: ["a": "b", "b": "z"]))
    bench.sync()
    #expect(bench.live == ["a", first, "z"].sorted())
    #expect(bench.isEverywhereTheSame)
  }

  @Test func `The identity of a link is the hash that other languages make`() {
    let id = LinkID.make(relation: "related", first: "t0", second: "t1")
    // printf 'related\nt0\nt1' | sha256sum | cut -c 1-32
    #expect(id == "link-6bd4960c9a387aa3c3943b1b374a8bb4")
  }
}
