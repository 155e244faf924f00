#if Server
import Crypto
import Foundation
import SteadSyncProtocol
import SteadTestSupport
import Testing
@testable import SteadSyncServer

/// The data of a server of an earlier version is served, and goes on.
@Suite struct EarlierServerTests {
  private static let zone = "0123456789abcdef0123456789abcdef"
  private static let settingsZone = "fedcba9876543210fedcba9876543210"
  private static let chart = Data((0..<132_000).map { UInt8(truncatingIfNeeded: $0 / 100) })

  /// Runs a body with a server that has a copy of the data, and a new device of the data's user.
  private func withServer(_ body: (TestClient) async throws -> Void) async throws {
    let directory = try TemporaryDirectory()
    let source = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "EarlierServer", directoryHint: .isDirectory)
    for name in ["stead.sqlite", "blobs"] {
      try FileManager.default.copyItem(at: source.file(name), to: directory.file(name))
    }
    let path = directory.path
    try await TestServer.with(
      change: {
        $0.directory = path
        $0.location = .sqlite(path + "/stead.sqlite")
      }
    ) { server in
      try await body(TestClient(device: try await server.device(of: "anna"), zone: Self.zone))
    }
  }

  private func names(_ page: Page) -> Set<String> {
    Set(page.records.map { "\($0.type) \($0.fields["name"]?.value.string ?? "")" })
  }

  @Test func `zones have their records, to the byte`() async throws {
    try await withServer { client in
      let answer = try await client.changes()
      let page = try #require(answer.page)
      #expect(!page.more)
      let named = names(page).filter { !$0.hasSuffix(" ") }
      #expect(named == ["Harbour north", "Harbour south", "Ship Zeta", "Ship Alpha", "Ship Nu"])
      let zeta = try #require(page.records.first { $0.fields["name"]?.value == "Zeta" })
      #expect(zeta.isLive && zeta.fields["note"]?.value == "ü 🚢")
      // A page is spliced of the stored bodies. What that version has stored is what this one writes.
      #expect(answer.fetched?.encoded() == Array(answer.body))

      var settings = client
      settings.zone = Self.settingsZone
      let values = try #require(try await settings.changes().page)
      #expect(values.records.filter(\.isLive).count == 7)
    }
  }

  @Test func `blobs are there`() async throws {
    try await withServer { client in
      let hash = Secret.hexadecimal(SHA256.hash(data: Self.chart))
      let answer = try await client.device.send("GET", "v1/zones/\(Self.zone)/blobs/\(hash)")
      #expect(answer.status == 200 && answer.body == Self.chart)
    }
  }

  @Test func `records are inserted, changed and deleted`() async throws {
    try await withServer { client in
      var client = client
      let page = try #require(try await client.changes().page)
      client.anchor = page.cursor.anchor
      let zeta = try #require(page.records.first { $0.fields["name"]?.value == "Zeta" })
      let alpha = try #require(page.records.first { $0.fields["name"]?.value == "Alpha" })
      // Later than the stamps of the data.
      let now = Int64(Date().timeIntervalSince1970 * 1_000)
      let device = try #require(DeviceID(client.device.device))
      let stamp = Stamp(milliseconds: now, device: device)
      let answer = try await client.push(
        1, client.insert("new", ["name": "New"], type: "Ship", at: now),
        .update(
          Mutation.Update(
            id: zeta.id, type: zeta.type, incarnations: zeta.live, stamp: stamp,
            fields: ["name": "Eta"])),
        .delete(
          Mutation.Delete(
            id: alpha.id, type: alpha.type, incarnations: alpha.live, stamp: stamp)))
      #expect(answer.status == 200 && answer.receipt?.refused.isEmpty == true)
      let changed = try #require(try await client.changes(page.cursor).page)
      #expect(changed.records.contains { $0.id == alpha.id && !$0.isLive })
      #expect(names(changed).isSuperset(of: ["Ship New", "Ship Eta"]))
      let all = try #require(try await client.changes().page)
      #expect(names(all).isSuperset(of: ["Ship New", "Ship Eta", "Ship Nu", "Harbour north"]))
      #expect(names(all).isDisjoint(with: ["Ship Zeta", "Ship Alpha"]))
    }
  }
}
#endif
