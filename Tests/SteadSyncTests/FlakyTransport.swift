import Foundation
import SteadSync
import SteadSyncProtocol
import SteadTestSupport
import Synchronization

/// A way to a server that loses requests and answers, and sends twice.
final class FlakyTransport: SyncTransport {
  private struct Lost: Error {}

  let server: LocalSyncServer
  private let random: Mutex<SplitMix>

  init(_ server: LocalSyncServer, seed: UInt64) {
    self.server = server
    random = Mutex(SplitMix(seed: seed))
  }

  private func deliver<Answer>(_ send: () async throws -> Answer) async throws -> Answer {
    let chance = random.withLock { Int.random(in: 0..<10, using: &$0) }
    if chance == 0 { throw Lost() }
    let answer = try await send()
    if chance == 1 { throw Lost() }
    return chance == 2 ? try await send() : answer
  }

  func push(_ push: Push, to zone: ZoneID) async throws -> PushAnswer {
    try await deliver { try await server.push(push, to: zone) }
  }

  func changes(_ request: ChangesRequest, of zone: ZoneID) async throws -> ChangesAnswer {
    try await deliver { try await server.changes(request, of: zone) }
  }

  func wait(for cursors: [ZoneID: Cursor]) async throws -> Set<ZoneID> {
    try await server.wait(for: cursors)
  }

  func upload(_ blob: BlobID, _ bytes: Data, to zone: ZoneID) async throws {
    try await deliver { try await server.upload(blob, bytes, to: zone) }
  }

  func download(_ blob: BlobID, from zone: ZoneID) async throws -> Data {
    try await deliver { try await server.download(blob, from: zone) }
  }
}
