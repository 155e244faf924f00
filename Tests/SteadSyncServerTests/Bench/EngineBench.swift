#if Server
import Foundation
import SteadSQLite
import SteadSyncProtocol
import Testing
@testable import SteadSyncServer

/// What merging costs above the bare engine. `Benchmarks/sync-bench` runs it in release.
@Suite(.serialized, .enabled(if: Bench.isOn)) struct EngineBench {
  private static let pushes = 1_600
  private static let changes = 100
  private static let writers = 16
  private static let zones = 16

  @Test(arguments: EngineCase.all)
  func `a push of a hundred changes beside the bare engine`(_ engineCase: EngineCase) async throws {
    try await engineCase.with { engine in
      let owner = try await Bench.owner(in: engine)
      for name in (0..<Self.zones).flatMap({ [Self.zone($0), Self.bareZone($0)] }) {
        try await engine.write(.zone(name)) { session in
          try Zones.make(name, for: owner, in: session, now: 0)
        }
      }
      let messages = try (0..<Self.pushes).map { try Self.message($0, owner) }
      // In turns, since the machine's speed changes.
      var (bare, merged): ([Double], [Double]) = ([], [])
      for round in 0..<4 {
        let range = (Self.pushes / 4 * round)..<(Self.pushes / 4 * (round + 1))
        bare.append(try await Self.bare(engine, messages, range))
        merged.append(try await Self.merged(engine, messages, range, owner))
      }
      let (bareRate, mergedRate) = (bare.reduce(0, +) / 4, merged.reduce(0, +) / 4)
      Bench.report(
        "\(engineCase.rawValue): \(Int(bareRate)) pushes of 100 changes a second by the bare engine,"
          + " \(Int(mergedRate)) merged, ratio \(Bench.rounded(mergedRate / bareRate))")
    }
  }

  private static func zone(_ index: Int) -> String {
    String(repeating: "0", count: 30) + String(format: "%02x", index % zones)
  }

  private static func bareZone(_ index: Int) -> String { "bare-" + zone(index) }

  private static func message(_ index: Int, _ owner: AccessToken) throws -> [UInt8] {
    let device = try #require(DeviceID(owner.device))
    let mutations = try (0..<changes).map { change in
      let id = try #require(RecordID("\(index)-\(change)-4b5c6d7e8f90"))
      let stamp = Stamp(
        milliseconds: 1_800_000_000_000 + Int64(index), counter: UInt16(change), device: device)
      return Mutation.insert(
        Mutation.Insert(
          id: id, type: "Note", incarnation: try #require(Incarnation("\(index)-\(change)")),
          stamp: stamp,
          fields: [
            "title": .string("A title of some words \(change)"), "done": .bool(false),
            "rank": .int(Int64(change)), "weight": .double(1.5), "text": "Milk, bread and butter",
          ]))
    }
    let push = Push(
      client: try #require(ClientID("client-\(index)")), device: device, anchor: .start,
      schemaVersion: 0, transactions: [Transaction(number: 1, basis: 0, mutations: mutations)])
    return push.encoded()
  }

  /// The rows that a push leaves, by the same connection in the same groups: the records, the mark, the client's and
  /// the zone's. Nothing is looked at, neither the message nor what the zone holds.
  private static func bare(
    _ engine: StorageEngine, _ messages: [[UInt8]], _ range: Range<Int>
  ) async throws -> Double {
    let schemas = SchemaCache()
    return try await Bench.rate(range, tasks: writers) { index in
      let name = bareZone(index)
      let share = messages[index].count / changes
      let client = try #require(ClientID("client-\(index)"))
      try await engine.write(.zone(name)) { session in
        var row = try #require(try ZoneRow.locked(name, in: session, schemas: schemas))
        let head = row.state.mark.head
        let rows = (0..<changes).map { change -> [SQLValue] in
          [
            .text(name), .text("\(index)-\(change)-4b5c6d7e8f90"), .text("Note"),
            .integer(head + Int64(change) + 1), .integer(0), .integer(Int64(share)),
            .bytes([UInt8](repeating: 0x20, count: share)),
          ]
        }
        row.state.mark = Mark(head: head + Int64(changes), token: UInt64(index))
        try session.run(
          ZoneTables.puttingRecords.statements(rows) + [
            ZoneTables.adding(row.state.mark, to: .text(name), at: 0),
            ZoneTables.saving(ZoneClient(last: 1), of: client, on: "bare", in: .text(name)),
            row.saving(schemas),
          ])
      }
    }
  }

  private static func merged(
    _ engine: StorageEngine, _ messages: [[UInt8]], _ range: Range<Int>, _ owner: AccessToken
  ) async throws -> Double {
    let pushes = ZonePushes(engine)
    return try await Bench.rate(range, tasks: writers) { index in
      let work = ZonePush(
        push: try Push(encoded: messages[index]), caller: owner, quota: .max,
        now: 1_800_000_000_000)
      let outcome = try await pushes.apply(work, to: zone(index))
      let answer = outcome.answer.encoded()
      guard outcome.changed == Int64(changes), !answer.isEmpty else {
        throw RawConnection.Failure()
      }
    }
  }
}

/// What the benchmarks share.
enum Bench {
  static let isOn = ProcessInfo.processInfo.environment["STEAD_BENCH"] != nil

  static func report(_ line: String) { print("BENCH", line) }

  static func rounded(_ number: Double) -> String { String(format: "%.2f", number) }

  static func owner(in engine: StorageEngine) async throws -> AccessToken {
    try await engine.write(.server) { session in
      let name = try #require(AccountName("anna"))
      let code = try Invitations.make(name, in: session, now: 0)
      return try Devices.enrol(name, code: code, name: "", in: session, now: 0).get().token
    }
  }

  /// How many of a range of calls a second are done by so many tasks.
  static func rate(
    _ range: Range<Int>, tasks: Int, _ body: @escaping @Sendable (Int) async throws -> Void
  ) async throws -> Double {
    let start = ContinuousClock.now
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<tasks {
        group.addTask {
          for index in stride(from: range.lowerBound + task, to: range.upperBound, by: tasks) {
            try await body(index)
          }
        }
      }
      try await group.waitForAll()
    }
    return Double(range.count) / (ContinuousClock.now - start).seconds
  }
}

extension Duration {
  var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
#endif
