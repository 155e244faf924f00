#if Server
import Foundation
import SteadSyncProtocol
import SteadTestSupport
import Synchronization
import Testing
@testable import SteadSyncServer

/// A server as a process of its own under load, and with many who wait. `Benchmarks/sync-bench` runs it in release.
@Suite(.serialized, .enabled(if: Bench.isOn)) struct ServerBench {
  private static let zones = 1_000
  private static let connections = 32
  private static let pushes = 20_000
  private static let waiters = 5_000

  private static func zone(_ index: Int) -> String {
    String(repeating: "0", count: 28) + String(format: "%04x", index % zones)
  }

  private func server(_ directory: TemporaryDirectory) throws -> ServerProcess {
    try ServerProcess(
      directory: directory.path + "/data",
      arguments: ["--requests-per-second", "1000000", "--request-burst", "1000000"])
  }

  @Test func `small pushes over a thousand zones`() async throws {
    let directory = try TemporaryDirectory()
    let process = try server(directory)
    let data = directory.path + "/data"
    // Ten users with a hundred zones each.
    var devices: [TestDevice] = []
    for user in 0..<10 {
      devices.append(try await process.device(of: "user\(user)", data: data, unused: directory))
    }
    let connection = try RawConnection(port: process.port)
    for index in 0..<Self.zones {
      try connection.send(
        "PUT", "v1/zones/\(Self.zone(index))", token: devices[index % 10].access, body: [])
      #expect(try connection.status() == 204)
    }
    let seconds = try Self.push(devices, port: process.port)
    Bench.report(
      "HTTP: \(Int(Double(Self.pushes) / seconds)) pushes of one change a second over "
        + "\(Self.zones) zones, \(Self.connections) connections")
    #expect(process.end(SIGTERM) == 0)
  }

  /// Each connection pushes to zones of its own, and waits for each answer. The client shares the cores; it makes its
  /// pushes before.
  private static func push(_ devices: [TestDevice], port: Int) throws -> Double {
    let requests = try (0..<connections).map { index in
      try stride(from: index, to: pushes, by: connections).map { round in
        let device = devices[round % zones % 10]
        return (
          path: "v1/zones/\(zone(round))/push",
          body: try push(round / zones + 1, round, device)
        )
      }
    }
    let (failures, group, start) = (Failures(), DispatchGroup(), ContinuousClock.now)
    for index in 0..<connections {
      group.enter()
      let thread = Thread {
        defer { group.leave() }
        do {
          let connection = try RawConnection(port: port)
          for (request, round) in zip(
            requests[index], stride(from: index, to: pushes, by: connections))
          {
            let token = devices[round % zones % 10].access
            try connection.send("POST", request.path, token: token, body: request.body)
            if try connection.status() != 200 { failures.add() }
          }
        } catch {
          failures.add()
        }
      }
      thread.start()
    }
    group.wait()
    #expect(failures.count == 0)
    return (ContinuousClock.now - start).seconds
  }

  private static func push(_ number: Int, _ round: Int, _ device: TestDevice) throws -> [UInt8] {
    var client = TestClient(device: device, zone: zone(round))
    // A client for each push: the order of two connections isn't known.
    client.id = try #require(ClientID("client-\(round)"))
    let id = try #require(RecordID("record-\(number)"))
    return client.message(1, [client.insert(id, ["title": "Milk"])]).encoded()
  }

  private final class Failures: Sendable {
    private let counter = Mutex(0)
    func add() { counter.withLock { $0 += 1 } }
    var count: Int { counter.withLock { $0 } }
  }

  @Test func `idle waiters`() async throws {
    let directory = try TemporaryDirectory()
    let process = try server(directory)
    let device = try await process.device(
      of: "anna", data: directory.path + "/data", unused: directory)
    let client = TestClient(device: device)
    try await client.makeZone()
    let before = try Self.memory(of: process)
    let body = Array("{\"zones\":{\"\(client.zone)\":0}}".utf8)
    var connections: [RawConnection] = []
    for _ in 0..<Self.waiters {
      let connection = try RawConnection(port: process.port)
      try connection.send("POST", "v1/wait", token: device.access, body: body)
      connections.append(connection)
    }
    while true {
      let metrics = try await device.server.send("GET", "metrics")
      let text = String(decoding: metrics.body, as: UTF8.self)
      if text.contains("stead_waiting_requests \(Self.waiters)") { break }
    }
    let during = try Self.memory(of: process)
    let start = ContinuousClock.now
    #expect(try await client.push(1, client.insert("a")).status == 200)
    for connection in connections { #expect(try connection.status() == 200) }
    Bench.report(
      "\(Self.waiters) waiters: \(during >> 20) MB resident (\(before >> 20) MB before), all "
        + "answered \(Bench.rounded((ContinuousClock.now - start).seconds)) s after a push")
    #expect(process.end(SIGTERM) == 0)
  }

  /// Resident bytes.
  private static func memory(of process: ServerProcess) throws -> Int {
    let status = try String(contentsOfFile: "/proc/\(process.pid)/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
    return (line.split(separator: " ").compactMap { Int($0) }.first ?? 0) << 10
  }
}
#endif
