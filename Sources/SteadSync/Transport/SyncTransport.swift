public import Foundation
public import SteadSyncProtocol

/// How a device reaches a server.
///
/// Calls may fail and may be repeated: every message may be sent twice, and an answer may be lost.
public protocol SyncTransport: Sendable {
  /// The name under which the server knows the device; nil where it takes any. A part of each stamp.
  var device: DeviceID? { get async throws }
  /// Throws if no server that is reached this way can have a zone of this name. Called when an engine is made; does nothing
  /// by default.
  func check(_ zone: ZoneID) throws
  /// Makes sure that a zone exists. Called before its first exchange in a process.
  func prepare(_ zone: ZoneID) async throws
  /// Sends changes to a zone.
  func push(_ push: Push, to zone: ZoneID) async throws -> PushAnswer
  /// Asks what has changed in a zone.
  func changes(_ request: ChangesRequest, of zone: ZoneID) async throws -> ChangesAnswer
  /// Waits until a zone has something after a cursor, or for as long as the server lets its clients wait; returns the
  /// zones that have.
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
