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

  func push(_ message: Data, zone: String) async throws -> Data {
    try await deliver { try await server.push(message, zone: zone) }
  }

  func changes(_ query: [String: String], zone: String) async throws -> Data {
    try await deliver { try await server.changes(query, zone: zone) }
  }

  func wait(for cursors: [String: String]) async throws -> Set<String> {
    try await server.wait(for: cursors)
  }

  func upload(_ bytes: Data, blob: String, zone: String) async throws {
    try await deliver { try await server.upload(bytes, blob: blob, zone: zone) }
  }

  func download(blob: String, zone: String) async throws -> Data {
    try await deliver { try await server.download(blob: blob, zone: zone) }
  }
}
