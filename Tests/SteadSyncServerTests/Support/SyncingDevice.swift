#if Server
import Foundation
import SteadSyncProtocol
@testable import SteadSyncServer

/// A device with the protocol's own client, over HTTP.
struct SyncingDevice {
  var http: TestClient
  var zone: ClientZone<MemoryClientStorage>
  private var clients = 0

  init(_ http: TestClient, schema: Schema = .empty) {
    self.http = http
    let device = DeviceID(http.device.device) ?? "none"
    zone = ClientZone(
      ClientState(client: http.id, device: device), storage: MemoryClientStorage(), schema: schema)
  }

  private var now: Int64 { http.device.server.server.clock.now }

  /// Pushes and fetches until nothing is pending; at most so many times.
  mutating func sync(rounds: Int = 30) async throws {
    for _ in 0..<rounds {
      try await push()
      try await fetch()
      if zone.state.outbox.isEmpty, zone.state.phase == .following { return }
    }
  }

  private mutating func freshClient() -> ClientID {
    clients += 1
    return ClientID("\(http.id)-\(clients)") ?? "none"
  }

  private mutating func push() async throws {
    guard let push = zone.nextPush() else { return }
    let answer = try await http.push(push)
    guard let pushed = answer.pushed else { throw URLError(.badServerResponse) }
    zone.receive(pushed, to: push, freshClient: freshClient())
  }

  private mutating func fetch() async throws {
    let (request, sent) = (zone.nextRequest(limit: 100), now)
    let query = request.queryItems.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
    let answer = try await http.device.send("GET", "v1/zones/\(http.zone)/changes?\(query)")
    guard let fetched = answer.fetched else { throw URLError(.badServerResponse) }
    zone.receive(fetched, to: request, sent: sent, now: now, freshClient: freshClient())
  }

  /// Makes records, one a transaction.
  mutating func insert(_ ids: [RecordID]) throws {
    for id in ids {
      _ = try zone.commit([.insert(id: id, type: "Note", fields: ["title": "x"])], now: now)
    }
  }

  /// The live records that a program would see, of some.
  func live(_ ids: [RecordID]) -> [RecordID] {
    ids.filter { zone.record($0) != nil }
  }
}
#endif
