public import Foundation
package import SteadSyncProtocol

/// A device's connection to a server, which carries the messages of the sync protocol as bytes.
///
/// ``HTTPSyncTransport`` reaches `stead serve`, and ``LocalSyncServer`` is a server in this process. Write another one
/// for a server that is reached in another way. Documentation/SyncProtocol.md describes the messages, which a transport
/// need not understand.
///
/// Calls may fail and may be repeated. Every message may be sent twice, and an answer may be lost: the protocol is made
/// for that, so a transport need not repeat anything itself. What it throws is reported, and the engine tries again
/// later. Throw ``SyncError/busy(seconds:reason:)`` where the server names a pause.
///
/// Calls come from any thread, and several at the same time: a wait goes on while a zone is exchanged, and zones are
/// exchanged independently. When the engine is paused, their tasks are cancelled, and should then throw soon.
public protocol SyncTransport: Sendable {
  /// The server's name for the device; nil if it accepts any. Part of each stamp.
  var device: String? { get async throws }

  /// Throws if no server that is reached this way can have a zone of this name. Called when an engine is made;
  /// does nothing by default.
  func check(zone: String) throws

  /// Makes sure that a zone exists. Called before its first exchange in a process; does nothing by default.
  func prepare(zone: String) async throws

  /// Sends changes to a zone.
  ///
  /// - Parameter message: A push.
  /// - Returns: The server's answer to a push, whatever it says.
  func push(_ message: Data, zone: String) async throws -> Data

  /// Fetches changes of a zone.
  ///
  /// - Parameter query: The request's items by name, not percent-encoded.
  /// - Returns: The server's answer to a request for changes: a page, or why there is none.
  func changes(_ query: [String: String], zone: String) async throws -> Data

  /// Waits until a zone has changes after its cursor, or until the server's limit for waits. It only saves requests:
  /// an answer that comes too early, or names a zone without changes, costs one exchange.
  ///
  /// - Parameter cursors: The cursor of each zone: a sequence number, and further parts after a full stop.
  /// - Returns: The zones that have changes; none at the limit.
  func wait(for cursors: [String: String]) async throws -> Set<String>

  /// Sends the bytes of a large value, of at most 50 MB. Called before the push that names it is repeated; sending a
  /// value that the server has already must succeed.
  ///
  /// - Parameter blob: The value's SHA-256, as 64 lower-case hexadecimal digits.
  func upload(_ bytes: Data, blob: String, zone: String) async throws

  /// Fetches the bytes of a large value. The engine checks them against the SHA-256.
  func download(blob: String, zone: String) async throws -> Data
}

extension SyncTransport {
  public var device: String? { get async throws { nil } }
  public func check(zone: String) throws {}
  public func prepare(zone: String) async throws {}
}

// MARK: - Typed messages

// The engine speaks in the protocol's types. Transports carry bytes, so that the protocol needs no public API.
extension SyncTransport {
  /// Sends a push. Throws ``SyncError/unreachable(reason:)`` for an answer that isn't one of the protocol.
  package func push(_ push: Push, to zone: ZoneID) async throws -> PushAnswer {
    try Self.read(PushAnswer.self, try await self.push(Data(push.encoded()), zone: zone.text))
  }

  /// Fetches changes. The round of the request isn't sent: it is the client's own.
  package func changes(_ request: ChangesRequest, of zone: ZoneID) async throws -> ChangesAnswer {
    let query = Dictionary(request.queryItems.map { ($0.name, $0.value) }) { $1 }
    return try Self.read(ChangesAnswer.self, try await changes(query, zone: zone.text))
  }

  /// Waits for changes. Names that aren't zones' are left out of the result.
  package func wait(for cursors: [ZoneID: Cursor]) async throws -> Set<ZoneID> {
    let texts = cursors.map { ($0.key.text, $0.value.description) }
    let zones = try await wait(for: Dictionary(uniqueKeysWithValues: texts))
    return Set(zones.compactMap { ZoneID($0) })
  }

  package func upload(_ blob: BlobID, _ bytes: Data, to zone: ZoneID) async throws {
    try await upload(bytes, blob: blob.text, zone: zone.text)
  }

  package func download(_ blob: BlobID, from zone: ZoneID) async throws -> Data {
    try await download(blob: blob.text, zone: zone.text)
  }

  private static func read<Answer: SyncCodable>(_: Answer.Type, _ bytes: Data) throws -> Answer {
    do {
      return try Answer(encoded: bytes)
    } catch {
      throw SyncError.unreachable(reason: "its answer is none of the sync protocol")
    }
  }
}
