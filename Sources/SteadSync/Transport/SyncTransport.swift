public import Foundation
public import SteadSyncProtocol

/// A device's connection to a server.
///
/// Calls may fail and may be repeated. Every message may be sent twice, and an answer may be lost.
public protocol SyncTransport: Sendable {
  /// The server's name for the device; nil if it accepts any. Part of each stamp.
  var device: DeviceID? { get async throws }
  /// Throws if no server that is reached this way can have a zone of this name. Called when an engine is made; does nothing
  /// by default.
  func check(_ zone: ZoneID) throws
  /// Makes sure that a zone exists. Called before its first exchange in a process.
  func prepare(_ zone: ZoneID) async throws
  /// Sends changes to a zone.
  func push(_ push: Push, to zone: ZoneID) async throws -> PushAnswer
  /// Fetches changes of a zone.
  func changes(_ request: ChangesRequest, of zone: ZoneID) async throws -> ChangesAnswer
  /// Waits until a zone has changes after its cursor, or until the server's limit for waits; returns the zones that
  /// have changes.
  func wait(for cursors: [ZoneID: Cursor]) async throws -> Set<ZoneID>
  /// Sends the bytes of a blob.
  func upload(_ blob: BlobID, _ bytes: Data, to zone: ZoneID) async throws
  /// Fetches the bytes of a blob.
  func download(_ blob: BlobID, from zone: ZoneID) async throws -> Data
}

extension SyncTransport {
  public var device: DeviceID? { get async throws { nil } }
  public func check(_ zone: ZoneID) throws {}
  public func prepare(_ zone: ZoneID) async throws {}
}
