#if Server
import Foundation
import SteadSyncProtocol
import SteadTestSupport
import Testing
@testable import SteadSyncServer

@Suite struct FullDiskTests {
  @Test(.enabled(if: SmallDisk.isAvailable, "No disk can be mounted here."))
  func `a full disk refuses pushes until there is room`() async throws {
    let disk = try SmallDisk(byteCount: 8 << 20)
    let directory = try TemporaryDirectory()
    let data = disk.directory.path + "/data"
    let process = try ServerProcess(directory: data)
    let device = try await process.device(of: "anna", data: data, unused: directory)
    let client = TestClient(device: device)
    try await client.makeZone()
    let text = SyncValue.string(String(repeating: "x", count: 50_000))
    func push(_ number: Int64) async throws -> TestAnswer {
      try await client.push(number, client.insert(RecordID("\(number)") ?? "0", ["text": text]))
    }
    #expect(try await push(1).status == 200)
    try disk.fill()
    // What is in the log already may be written over.
    var number: Int64 = 2
    var answer = try await push(number)
    while answer.status == 200, number < 100 {
      number += 1
      answer = try await push(number)
    }
    #expect(answer.status == 503 && answer.error == "unavailable")
    #expect(answer.headers["Retry-After"] == "30")
    #expect(try await client.changes(limit: 1_000).ids.count == Int(number) - 1)
    try disk.empty()
    #expect(try await push(number).receipt?.last == number)
    #expect(try await client.changes(limit: 1_000).ids.count == Int(number))
    #expect(process.end(SIGTERM) == 0)
  }
}
#endif
