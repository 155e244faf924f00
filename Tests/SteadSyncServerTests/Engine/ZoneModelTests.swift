#if Server
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
  func `an engine answers as the zone in memory`(_ engineCase: EngineCase) async throws {
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
        // A page to the byte: what the tables splice is what the zone in memory encodes.
        let expected: EncodedAnswer =
          if case .page = page { .page(page.encoded()) } else { .other(page) }
        #expect(try await tables.changes(request, now: random.now) == expected, "step \(step)")
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
#endif
