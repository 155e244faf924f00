#if Server
import Foundation
import SteadSyncProtocol
import Testing
@testable import SteadSyncServer

/// A zone in an engine's tables, called as ``Zone`` is.
struct TablesUnderTest: Sendable {
  let engine: StorageEngine
  let zone: String
  let limits: SyncLimits
  let schemas: SchemaCache

  /// Makes the zone, and returns its owner.
  @discardableResult
  func make() async throws -> AccessToken {
    let zone = zone
    return try await engine.write(.zone(zone)) { session in
      let name = try #require(AccountName("anna"))
      let code = try Invitations.make(name, in: session, now: 0)
      let owner = try Devices.enrol(name, code: code, name: "", in: session, now: 0).get().token
      try Zones.make(zone, for: owner, in: session, now: 0)
      return owner
    }
  }

  func write<Value: Sendable>(
    _ body: @escaping @Sendable (ZoneTables) throws -> Value
  ) async throws -> Value {
    let (zone, schemas, limits) = (zone, schemas, limits)
    return try await engine.write(.zone(zone)) { session in
      let tables = try #require(
        try ZoneTables.locked(
          zone, device: "d", in: session, schemas: schemas, pageBytes: limits.pageBytes))
      return try body(tables)
    }
  }

  func read<Value: Sendable>(
    _ body: @escaping @Sendable (ZoneTables) throws -> Value
  ) async throws -> Value {
    let (zone, schemas, limits) = (zone, schemas, limits)
    return try await engine.read { session in
      let tables = try #require(
        try ZoneTables.read(zone, in: session, schemas: schemas, pageBytes: limits.pageBytes))
      return try body(tables)
    }
  }

  func apply(_ push: Push, now: Int64, token: UInt64) async throws -> PushAnswer {
    let limits = limits
    return try await write { tables in
      try tables.prefetch(push)
      var zone = Zone(tables, limits: limits)
      let answer = try zone.apply(push, now: now, token: token)
      if case .taken = answer { try tables.flush() }
      return answer
    }
  }

  func changes(_ request: ChangesRequest, now: Int64) async throws -> EncodedAnswer {
    let limits = limits
    return try await read { try Zone($0, limits: limits).encodedChanges(request, now: now) }
  }

  func keepUp(now: Int64) async throws -> [BlobID] {
    let limits = limits
    return try await write { tables in
      var zone = Zone(tables, limits: limits)
      try zone.purge(now: now)
      let swept = try zone.sweep(now: now)
      try tables.flush()
      return swept
    }
  }

  func addBlob(_ blob: BlobID, at time: Int64) async throws {
    _ = try await write { tables in
      try tables.session.change(
        """
        INSERT INTO blobs (zone, sha256, size, touched) VALUES ($1, $2, 0, $3)
        ON CONFLICT (zone, sha256) DO UPDATE SET touched = excluded.touched
        """, [tables.zone, .text(blob.text), .integer(time)])
    }
  }

  func state() async throws -> ZoneState { try await read { $0.state() } }

  func bodies() async throws -> [[UInt8]] {
    try await read { tables in
      try tables.session.rows(
        "SELECT body FROM records WHERE zone = $1 ORDER BY seq", [tables.zone]
      ).map { try $0.bytes(0) }
    }
  }

  func holders() async throws -> [String: String] {
    try await read { tables in
      let rows = try tables.session.rows(
        "SELECT token, id FROM uniq WHERE zone = $1", [tables.zone])
      return Dictionary(uniqueKeysWithValues: try rows.map { (try $0.text(0), try $0.text(1)) })
    }
  }

  func references() async throws -> Set<String> {
    try await read { tables in
      let rows = try tables.session.rows(
        "SELECT target, id FROM refs WHERE zone = $1", [tables.zone])
      return Set(try rows.map { "\(try $0.text(0)) \(try $0.text(1))" })
    }
  }
}
#endif
