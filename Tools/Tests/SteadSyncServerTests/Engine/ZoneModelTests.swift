import Foundation
import SteadSyncProtocol
import Testing

@testable import SteadSyncServer

/// Random pushes run against a zone in memory and against the tables of an engine: all answers, all pages and all
/// counters are equal.
@Suite struct ZoneModelTests {
  private static let zone = String(repeating: "0a", count: 16)

  /// 5,000 by `Scripts/sync-stress`.
  private static var pushes: Int {
    ProcessInfo.processInfo.environment["STEAD_MODEL_PUSHES"].flatMap(Int.init) ?? 1_000
  }
  private static var seed: UInt64 {
    ProcessInfo.processInfo.environment["STEAD_MODEL_SEED"].flatMap(UInt64.init) ?? 7
  }

  private static let limits: SyncLimits = {
    var limits = SyncLimits()
    limits.zoneBytes = 30_000
    limits.recordBytes = 5_000
    limits.pageBytes = 4_000
    return limits
  }()

  @Test(arguments: EngineCase.all)
  func anEngineAnswersAsTheZoneInMemory(_ engineCase: EngineCase) async throws {
    try await engineCase.with { engine in
      let tables = TablesUnderTest(
        engine: engine, zone: Self.zone, limits: Self.limits, schemas: SchemaCache())
      try await tables.make()
      var model = Zone(MemoryZone(), limits: Self.limits)
      var random = RandomPushes(seed: Self.seed)
      var kinds: [String: Int] = [:]
      for step in 0..<Self.pushes {
        var push = random.next()
        if step % 7 == 0 {
          let blob = RandomPushes.blobs[step % RandomPushes.blobs.count]
          model.storage.addBlob(blob, at: random.now)
          try await tables.addBlob(blob, at: random.now)
        }
        var answer = try await pushed(push, random.now, &model, tables, step)
        if answer == .schemaWanted {
          push = RandomPushes.described(push)
          answer = try await pushed(push, random.now, &model, tables, step)
        }
        random.note(answer, to: push)
        Self.count(answer, &kinds)
        let request = random.request()
        let page = model.changes(request, now: random.now)
        #expect(try await tables.changes(request, now: random.now) == page, "step \(step)")
        random.note(page, to: request)
        if step % 100 == 99 {
          model.purge(now: random.now)
          let swept = model.sweep(now: random.now)
          #expect(try await tables.keepUp(now: random.now) == swept, "step \(step)")
        }
        if step % 500 == 499 { try await compareAll(model, tables, step) }
        guard try await tables.state() == model.storage.state() else {
          Issue.record("The counters differ at step \(step), seed \(Self.seed).")
          return
        }
      }
      try await compareAll(model, tables, Self.pushes)
      // The pushes reached what they should reach.
      for kind in ["taken", "refused", "blobs", "gap", "rollback"] {
        #expect(kinds[kind, default: 0] > 0, "\(kind): \(kinds)")
      }
    }
  }

  private func pushed(
    _ push: Push, _ now: Int64, _ model: inout Zone<MemoryZone>, _ tables: TablesUnderTest,
    _ step: Int
  ) async throws -> PushAnswer {
    let token = UInt64(step + 1)
    let before = model
    let answer = model.apply(push, now: now, token: token)
    // What isn't taken changes nothing.
    if case .taken = answer {} else { model = before }
    let other = try await tables.apply(push, now: now, token: token)
    #expect(other == answer, "step \(step), seed \(Self.seed)")
    return answer
  }

  private static func count(_ answer: PushAnswer, _ kinds: inout [String: Int]) {
    switch answer {
    case .taken(let receipt): kinds[receipt.refused.isEmpty ? "taken" : "refused", default: 0] += 1
    case .blobsMissing: kinds["blobs", default: 0] += 1
    case .gap: kinds["gap", default: 0] += 1
    case .rollback: kinds["rollback", default: 0] += 1
    case .expired: kinds["expired", default: 0] += 1
    default: kinds["other", default: 0] += 1
    }
  }

  /// The whole feed to the byte, the index, and the counters against a recount.
  private func compareAll(
    _ model: Zone<MemoryZone>, _ tables: TablesUnderTest, _ step: Int
  ) async throws {
    let records = model.storage.records(after: 0, limit: .max)
    let stored = try await tables.bodies()
    #expect(stored == records.map { $0.encoded() }, "step \(step)")
    let live = records.filter(\.isLive)
    let state = model.storage.state()
    #expect(state.bytes == live.map(\.size).reduce(0, +))
    var holders: [String: String] = [:]
    var references: Set<String> = []
    for record in live {
      let index = model.storage.content.index(of: record.id)
      for token in index.tokens { holders[token.text] = record.id.text }
      for target in index.targets { references.insert("\(target) \(record.id)") }
    }
    #expect(try await tables.holders() == holders, "step \(step)")
    #expect(try await tables.references() == references, "step \(step)")
  }
}

/// A zone in an engine's tables, called as ``Zone`` is.
private struct TablesUnderTest: Sendable {
  let engine: StorageEngine
  let zone: String
  let limits: SyncLimits
  let schemas: SchemaCache

  func make() async throws {
    let zone = zone
    try await engine.write(.zone(zone)) { session in
      let name = try #require(AccountName("anna"))
      let code = try Invitations.make(name, in: session, now: 0)
      let owner = try Devices.enrol(name, code: code, name: "", in: session, now: 0).get().token
      try Zones.make(zone, for: owner, in: session, now: 0)
    }
  }

  private func write<Value: Sendable>(
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

  private func read<Value: Sendable>(
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

  func changes(_ request: ChangesRequest, now: Int64) async throws -> ChangesAnswer {
    let limits = limits
    return try await read { try Zone($0, limits: limits).changes(request, now: now) }
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
