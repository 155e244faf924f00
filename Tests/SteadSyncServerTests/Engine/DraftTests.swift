#if Server
import Foundation
import SteadSyncProtocol
import SteadTestSupport
import Testing
@testable import SteadSyncServer

/// Pushes that are merged before they are written: what is stored is what it would be without that.
@Suite struct DraftTests {
  private static let zone = String(repeating: "0d", count: 16)
  private static let quota: Int64 = 30_000
  private static let steps = 1_000

  /// Random pushes, each merged beforehand, with another push between merging and writing half of the time. A zone in
  /// memory applies them in the order in which they are written.
  @Test(arguments: EngineCase.all)
  func `a draft stores what its push would`(_ engineCase: EngineCase) async throws {
    try await engineCase.with { engine in
      let seed: UInt64 = 11
      var limits = SyncLimits()
      limits.zoneBytes = Int(Self.quota)
      let tables = TablesUnderTest(
        engine: engine, zone: Self.zone, limits: limits, schemas: SchemaCache())
      let owner = try await tables.make()
      var run = Run(
        tables: tables, owner: owner, quota: Self.quota,
        model: Zone(MemoryZone(), limits: limits))
      var random = RandomPushes(seed: seed)
      var numbers = SplitMix(seed: seed)
      for step in 0..<Self.steps {
        let work = run.work(random.next(), now: random.now)
        let draft = try await run.draft(work)
        if numbers.once(in: 2) {
          let other = run.work(random.next(), now: random.now)
          random.note(try await run.write(other, nil), to: other.push)
        }
        random.note(try await run.write(work, draft), to: work.push)
        let request = random.request()
        random.note(run.model.changes(request, now: random.now), to: request)
        guard try await tables.state() == run.model.storage.state(), run.failures == 0 else {
          Issue.record("Answers or counters differ at step \(step), seed \(seed).")
          return
        }
      }
      let records = run.model.storage.records(after: 0, limit: .max)
      #expect(try await tables.bodies() == records.map { $0.encoded() })
      // Both happened, and often.
      #expect(run.written > Self.steps / 10)
      #expect(run.stale > Self.steps / 10)
    }
  }

  /// A zone in tables and one in memory.
  private struct Run {
    let tables: TablesUnderTest
    let owner: AccessToken
    let quota: Int64
    var model: Zone<MemoryZone>
    /// Drafts that were written, and those that something had overtaken.
    var (written, stale) = (0, 0)
    var failures = 0
    private var tokens: UInt64 = 0

    init(tables: TablesUnderTest, owner: AccessToken, quota: Int64, model: Zone<MemoryZone>) {
      (self.tables, self.owner, self.quota, self.model) = (tables, owner, quota, model)
    }

    mutating func work(_ push: Push, now: Int64) -> ZonePush {
      tokens += 1
      // Always with its rules: a push that has to be sent again would be no draft.
      return ZonePush(
        push: RandomPushes.described(push), caller: owner, quota: quota, now: now, token: tokens)
    }

    func draft(_ work: ZonePush) async throws -> ZoneDraft? {
      let (zone, schemas) = (tables.zone, tables.schemas)
      return try await tables.engine.read { try work.draft(for: zone, in: $0, schemas: schemas) }
    }

    /// Writes a push to both zones; nil if their answers differ.
    mutating func write(_ work: ZonePush, _ draft: ZoneDraft?) async throws -> PushAnswer {
      let (zone, schemas) = (tables.zone, tables.schemas)
      let (answer, usesDraft) = try await tables.engine.write(.zone(zone)) { session in
        if let draft,
          let outcome = try work.write(draft, to: zone, in: session, schemas: schemas)
        {
          return (outcome.answer, true)
        }
        return (try work.apply(to: zone, in: session, schemas: schemas).answer, false)
      }
      if draft != nil { if usesDraft { written += 1 } else { stale += 1 } }
      let before = model
      let expected = model.apply(work.push, now: work.now, token: work.token)
      if case .taken = expected {} else { model = before }
      if answer != expected { failures += 1 }
      return answer
    }
  }
}

/// What a draft must not be written after.
@Suite struct OvertakenDraftTests {
  private static let zone = String(repeating: "0e", count: 16)

  enum Change: CaseIterable {
    case none, push, refusedPush, otherZone, revocation, role, removal, blob
  }

  @Test(arguments: Change.allCases)
  func `a draft is written only to what it builds on`(_ change: Change) async throws {
    try await EngineCase.sqlite.with { engine in
      let schemas = SchemaCache()
      let tables = TablesUnderTest(
        engine: engine, zone: Self.zone, limits: SyncLimits(), schemas: schemas)
      let owner = try await tables.make()
      let work = Self.work("one", owner, quota: 1_000)
      let draft = try #require(
        try await engine.read { try work.draft(for: Self.zone, in: $0, schemas: schemas) })
      try await Self.make(change, engine, owner, schemas)
      let isWritten = await Result.of {
        try await engine.write(.zone(Self.zone)) { session in
          try work.write(draft, to: Self.zone, in: session, schemas: schemas) != nil
        }
      }
      switch change {
      case .none: #expect(try isWritten.get())
      case .revocation, .role: #expect(throws: ServerError.self) { try isWritten.get() }
      case .push, .refusedPush, .otherZone, .removal, .blob: #expect(try !isWritten.get())
      }
    }
  }

  private static func make(
    _ change: Change, _ engine: StorageEngine, _ owner: AccessToken, _ schemas: SchemaCache
  ) async throws {
    try await engine.write(.zone(zone)) { session in
      switch change {
      case .none: break
      case .push:
        let other = work("two", owner, quota: 1_000)
        _ = try other.apply(to: zone, in: session, schemas: schemas)
      case .refusedPush:
        // Of the same client, with no room for anything: only the client's row changes.
        let other = work("one", owner, quota: 0)
        _ = try other.apply(to: zone, in: session, schemas: schemas)
      case .otherZone:
        let name = String(repeating: "0f", count: 16)
        try Zones.make(name, for: owner, in: session, now: 0)
        let other = work("two", owner, quota: 1_000)
        _ = try other.apply(to: name, in: session, schemas: schemas)
        // So much that the draft's record finds no room.
        try session.change(
          "UPDATE zones SET bytes = 999 WHERE zone = $1", [.text(name)])
      case .revocation:
        try session.change(
          "UPDATE devices SET revoked = 1 WHERE device = $1", [.text(owner.device)])
      case .role:
        try session.change("UPDATE members SET role = 'read' WHERE zone = $1", [.text(zone)])
      case .removal:
        try Zones.delete(zone, in: session)
      case .blob:
        try session.change("UPDATE zones SET blob_bytes = 5 WHERE zone = $1", [.text(zone)])
      }
    }
  }

  private static func work(_ name: String, _ owner: AccessToken, quota: Int64) -> ZonePush {
    let device = DeviceID(owner.device) ?? "device"
    let insert = Mutation.Insert(
      id: RecordID(name) ?? "record", type: "Note", incarnation: "life",
      stamp: Stamp(milliseconds: 5, device: device), fields: ["text": "Milk and bread"])
    return ZonePush(
      push: Push(
        client: ClientID("client-" + name) ?? "client", device: device, anchor: .start,
        schemaVersion: 0,
        transactions: [Transaction(number: 1, basis: 0, mutations: [.insert(insert)])]),
      caller: owner, quota: quota, now: 10)
  }
}

extension Result where Failure == any Error {
  fileprivate static func of(_ body: () async throws -> Success) async -> Result {
    do { return .success(try await body()) } catch { return .failure(error) }
  }
}
#endif
