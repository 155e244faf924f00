#if Server
import Foundation
import SteadSyncProtocol
import Testing
@testable import SteadSyncServer

/// Writers of one zone, and a reader that follows it with a cursor: it must see each change once it is below the head.
@Suite struct MissedChangeTests {
  /// A million by `Scripts/sync-stress`.
  private static var changes: Int {
    ProcessInfo.processInfo.environment["STEAD_STRESS"].flatMap(Int.init) ?? 8_000
  }

  private static let zone = String(repeating: "0a", count: 16)
  private static let writers = 8
  private static let changesInPush = 10

  @Test(arguments: EngineCase.all)
  func `a cursor misses no change of eight writers`(in engineCase: EngineCase) async throws {
    try await engineCase.with { engine in
      let schemas = SchemaCache()
      let owner = try await Self.owner(in: engine)
      try await engine.write(.zone(Self.zone)) { session in
        try Zones.make(Self.zone, for: owner, in: session, now: 0)
      }
      let pushes = Self.changes / Self.writers / Self.changesInPush
      try await withThrowingTaskGroup(of: Set<RecordID>.self) { group in
        group.addTask { try await Self.follow(engine, schemas, until: Int64(Self.changes)) }
        try await Self.write(engine, schemas, owner, pushes: pushes)
        let seen = try await group.next() ?? []
        #expect(seen.count == pushes * Self.writers * Self.changesInPush)
      }
    }
  }

  private static func owner(in engine: StorageEngine) async throws -> AccessToken {
    try await engine.write(.server) { session in
      let name = try #require(AccountName("anna"))
      let code = try Invitations.make(name, in: session, now: 0)
      return try Devices.enrol(name, code: code, name: "", in: session, now: 0).get().token
    }
  }

  private static func write(
    _ engine: StorageEngine, _ schemas: SchemaCache, _ owner: AccessToken, pushes: Int
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<writers {
        group.addTask {
          for number in 1...pushes {
            let work = ZonePush(
              push: try push(writer, number, owner), caller: owner, quota: .max, now: 0)
            // A lane for each writer, as if each had a server of its own: the zone's row alone keeps them apart.
            let outcome = try await engine.write(.account("\(writer)")) { session in
              try work.apply(to: zone, in: session, schemas: schemas)
            }
            #expect(outcome.changed == Int64(changesInPush))
          }
        }
      }
      try await group.waitForAll()
    }
  }

  private static func push(_ writer: Int, _ number: Int, _ owner: AccessToken) throws -> Push {
    let device = try #require(DeviceID(owner.device))
    let mutations = try (0..<changesInPush).map { change in
      let id = try #require(RecordID("\(writer)-\(number)-\(change)"))
      let stamp = Stamp(milliseconds: Int64(number), counter: UInt16(change), device: device)
      return Mutation.insert(
        Mutation.Insert(
          id: id, type: "t", incarnation: try #require(Incarnation(id.text)), stamp: stamp,
          fields: ["text": "forty bytes are about as much as a short note"]))
    }
    return Push(
      client: try #require(ClientID("client-\(writer)")), device: device, anchor: .start,
      schemaVersion: 0,
      transactions: [Transaction(number: Int64(number), basis: 0, mutations: mutations)])
  }

  /// Reads until the head is at a sequence number, and returns what was seen.
  private static func follow(
    _ engine: StorageEngine, _ schemas: SchemaCache, until last: Int64
  ) async throws -> Set<RecordID> {
    var cursor: Cursor?
    var seen: Set<RecordID> = []
    while cursor?.seq ?? 0 < last {
      let request = ChangesRequest(client: "reader", cursor: cursor, limit: 400, acknowledged: 0)
      let answer = try await engine.read { session in
        let tables = try #require(try ZoneTables.read(zone, in: session, schemas: schemas))
        return try Zone(tables).encodedChanges(request, now: 0)
      }
      guard case .page(let bytes) = answer,
        case .page(let page) = try ChangesAnswer(encoded: bytes)
      else {
        Issue.record("The answer isn't a page: \(answer)")
        return seen
      }
      for record in page.records { seen.insert(record.id) }
      cursor = page.cursor
    }
    return seen
  }
}
#endif
