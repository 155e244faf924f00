#if Server
import Foundation
import SteadSyncProtocol
import SteadTestSupport
import Testing
@testable import SteadSyncServer

/// A server whose data are yesterday's.
@Suite struct RestoredServerTests {
  @Test func `devices bring back what the server forgot`() async throws {
    let directory = try TemporaryDirectory()
    let (data, copy) = (directory.path + "/data", directory.path + "/copy")
    let process = try ServerProcess(directory: data)
    let http = TestClient(
      device: try await process.device(of: "anna", data: data, unused: directory))
    try await http.makeZone()
    var first = SyncingDevice(http)
    try await first.sync()
    try first.insert(["old"])
    try await first.sync()
    let yesterday = try #require(first.zone.state.anchor)
    #expect(try ServerProcess.run("backup", copy, "--data", data).status == 0)
    try first.insert(["new-1", "new-2"])
    try await first.sync()
    let today = try #require(first.zone.state.cursor)
    #expect(process.end(SIGTERM) == 0)

    let again = try ServerProcess(directory: copy)
    first.http.device = http.device.at(again.port)
    // The wait ends at once, since the head is another.
    let news = try await first.http.device.send(
      "POST", "v1/wait", json: ["zones": [http.zone: today.seq]])
    #expect(news.object["zones"] as? [String] == [http.zone])
    let refused = try await first.http.changes(today)
    #expect(refused.status == 410 && refused.fetched == .rollback(common: nil))
    let marked = try await first.http.changes(today, marks: first.zone.state.marks)
    #expect(marked.status == 410 && marked.fetched == .rollback(common: yesterday))
    var push = http.message(3, [http.insert("late")])
    push.anchor = today.anchor
    let pushed = try await first.http.push(push)
    #expect(pushed.status == 410 && pushed.pushed == .rollback && pushed.error == "rollback")

    try first.insert(["pending"])
    try await first.sync()
    var second = SyncingDevice(first.http)
    second.http.id = "second"
    second.zone = ClientZone(
      ClientState(client: "second", device: first.zone.state.device),
      storage: MemoryClientStorage(), schema: .empty)
    try await second.sync()
    let all: [RecordID] = ["old", "new-1", "new-2", "pending"]
    #expect(second.live(all) == all)
    #expect(first.zone.state.quarantine.isEmpty)
    #expect(again.end(SIGTERM) == 0)
  }
}
#endif
