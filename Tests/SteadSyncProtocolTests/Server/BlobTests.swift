import SteadSyncProtocol
import Testing

@Suite struct BlobTests {
  private func file(_ blob: String, _ size: Int64 = 5) -> [String: SyncValue] {
    ["file": .object(["sha256": .string(blob), "size": .int(size)])]
  }

  @Test func `A push that names unknown blobs gets their list, and is taken after their upload`() {
    var bench = Bench()
    bench.sync()
    bench.commit(0, .task("t", file("one")), .task("u", file("two")))
    bench.push(0)
    #expect(bench.push(0) == .blobsMissing(["one", "two"]))
    bench.server.storage.addBlob("one", at: bench.now)
    #expect(bench.push(0) == .blobsMissing(["two"]))
    bench.server.storage.addBlob("two", at: bench.now)
    bench.sync()
    #expect(bench.live == ["t", "u"])
  }

  @Test func `What a device no longer has keeps nobody from syncing`() {
    var bench = Bench()
    bench.sync()
    bench.commit(0, .task("t", file("lost")))
    bench.push(0)
    #expect(bench.push(0) == .blobsMissing(["lost"]))
    let push = bench.devices[0].nextPush(absentBlobs: ["lost"])
    #expect(push.map { bench.serve($0) }?.receipt?.last == 1)
    #expect(bench.live == ["t"])
  }

  @Test func `A blob is swept a day after the last reference, and never before`() {
    var bench = Bench()
    bench.sync()
    bench.server.storage.addBlob("one", at: bench.now)
    bench.commit(0, .task("t", file("one")))
    bench.sync()
    bench.now += 10 * 86_400_000
    #expect(bench.server.sweep(now: bench.now) == [])
    bench.commit(0, .delete(id: "t"))
    bench.sync()
    #expect(bench.server.sweep(now: bench.now + 86_400_000) == [])
    #expect(bench.server.sweep(now: bench.now + 86_400_001) == ["one"])
  }

  @Test func `A blob that is too large is refused before its upload`() {
    var bench = Bench()
    let reason = Refusal.Reason.blobSize(id: "t", limit: 50_000_000, needed: 50_000_001)
    #expect(bench.commit(0, .task("t", file("one", 50_000_001))) == .refused(reason))
    bench.devices[0].limits.blobBytes = .max
    bench.sync()
    bench.commit(0, .task("t", file("one", 50_000_001)))
    bench.sync()
    #expect(bench.devices[0].state.quarantine.map(\.reason) == [reason])
  }
}
