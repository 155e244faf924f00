#if Server
import Foundation
import SteadSyncProtocol
import SteadTestSupport
import Testing
@testable import SteadSyncServer

/// The program `stead serve`.
@Suite(.serialized) struct ProcessTests {
  private static let zone = String(repeating: "0a", count: 16)
  private let directory: TemporaryDirectory
  private var data: String { directory.path + "/data" }

  init() throws { directory = try TemporaryDirectory() }

  private func enrolled(_ process: ServerProcess) async throws -> TestDevice {
    let device = try await process.device(of: "anna", data: data, unused: directory)
    #expect(try await device.send("PUT", "v1/zones/\(Self.zone)").status == 204)
    return device
  }

  private func push(_ device: TestDevice, _ number: Int) async throws -> TestAnswer {
    let client = TestClient(device: device, zone: Self.zone)
    return try await client.push(Int64(number), client.insert(RecordID("\(number)") ?? "0"))
  }

  /// The ids in a database that no server has open.
  private func ids(in path: String) throws -> Set<String> {
    let session = try SQLiteSession(path: path, writes: true)
    return Set(try session.rows("SELECT id FROM records", []).map { try $0.text(0) })
  }

  @Test func `SIGTERM answers who waits and ends`() async throws {
    let process = try ServerProcess(directory: data)
    let device = try await enrolled(process)
    let start = ContinuousClock.now
    async let waiting = device.send("POST", "v1/wait", json: ["zones": [Self.zone: 0]])
    // Until the request waits.
    while true {
      let metrics = try await device.server.send("GET", "metrics")
      if String(decoding: metrics.body, as: UTF8.self).contains("stead_waiting_requests 1") {
        break
      }
    }
    #expect(process.end(SIGTERM) == 0)
    let answer = try await waiting
    #expect(answer.status == 200 && answer.object["zones"] as? [String] == [])
    #expect(start.duration(to: .now) < .seconds(30))
  }

  @Test func `a backup of a running server has what was acknowledged`() async throws {
    let process = try ServerProcess(directory: data)
    let device = try await enrolled(process)
    for number in 1...3 { #expect(try await push(device, number).status == 200) }
    let copy = directory.path + "/copy"
    #expect(try ServerProcess.run("backup", copy, "--data", data).status == 0)
    #expect(try await push(device, 4).status == 200)
    #expect(try ids(in: copy + "/stead.sqlite") == ["1", "2", "3"])
    #expect(try ServerProcess.run("backup", copy, "--data", data).status != 0)
    #expect(process.end(SIGTERM) == 0)
    let again = try ServerProcess(directory: copy)
    let other = device.at(again.port)
    #expect(try await push(other, 4).receipt?.head == 4)
    #expect(again.end(SIGTERM) == 0)
  }
}
#endif
