#if Server
import Foundation
import SteadSyncProtocol
import SteadTestSupport
import Synchronization
import Testing
@testable import SteadSyncServer

/// A server that is killed again and again while devices push.
@Suite(.serialized) struct KillTests {
  /// 100 by `Scripts/sync-stress`.
  private static var kills: Int {
    ProcessInfo.processInfo.environment["STEAD_KILLS"].flatMap(Int.init) ?? 10
  }
  private static let writers = 4

  /// Counts what all devices push.
  private final class Countdown: Sendable {
    private let left: Mutex<Int>

    init(_ count: Int) { left = Mutex(count) }

    /// True for one caller, the last of so many.
    func isOver() -> Bool {
      left.withLock { left in
        left -= 1
        return left == 0
      }
    }
  }

  /// What a device has pushed.
  private struct Writer: Sendable {
    var client: TestClient
    /// Transactions that were acknowledged, all of them up to this one.
    var acknowledged: Int64 = 0

    func push(_ number: Int64) -> Push {
      let id = RecordID("\(client.id)-\(number)") ?? "none"
      return client.message(number, [client.insert(id, ["number": .int(number)], at: number)])
    }
  }

  @Test func `no acknowledged push is lost and none applied twice`() async throws {
    let directory = try TemporaryDirectory()
    let data = directory.path + "/data"
    var writers: [Writer] = []
    var numbers = SplitMix(seed: 11)
    for round in 0..<Self.kills {
      let process = try ServerProcess(directory: data)
      if round == 0 { writers = try await Self.writers(process, data, directory) }
      let (pid, port) = (process.pid, process.port)
      let left = Countdown(numbers.number(1...30))
      writers = try await withThrowingTaskGroup(of: Writer.self) { group in
        for writer in writers {
          group.addTask {
            var writer = writer
            writer.client.device = writer.client.device.at(port)
            while await Self.pushes(&writer) {
              // In the midst of what the others push.
              if left.isOver() { kill(pid, SIGKILL) }
            }
            return writer
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(process.end(SIGKILL) != 0)
    }
    let process = try ServerProcess(directory: data)
    try await Self.check(writers, process)
    #expect(process.end(SIGTERM) == 0)
  }

  private static func writers(
    _ process: ServerProcess, _ data: String, _ directory: TemporaryDirectory
  ) async throws -> [Writer] {
    // Devices of one user, so that all push to one zone.
    var writers: [Writer] = []
    for index in 0..<Self.writers {
      let device = try await process.device(of: "anna", data: data, unused: directory)
      let id = try #require(ClientID("client-\(index)"))
      writers.append(Writer(client: TestClient(device: device, id: id)))
    }
    try await writers[0].client.makeZone()
    return writers
  }

  /// Pushes the next transaction. Returns false if no answer came: it may have been applied.
  private static func pushes(_ writer: inout Writer) async -> Bool {
    let number = writer.acknowledged + 1
    guard let answer = try? await writer.client.push(writer.push(number)),
      answer.receipt?.last == number
    else { return false }
    writer.acknowledged = number
    return true
  }

  private static func check(_ writers: [Writer], _ process: ServerProcess) async throws {
    var (ids, total): (Set<String>, Int64) = ([], 0)
    for var writer in writers {
      writer.client.device = writer.client.device.at(process.port)
      // Sends once more what had no answer.
      #expect(await pushes(&writer))
      var digest = TransactionDigest()
      for number in 1...writer.acknowledged {
        for transaction in writer.push(number).transactions { digest.add(transaction) }
        ids.insert("\(writer.client.id)-\(number)")
      }
      // One that was applied twice would be in the digest twice.
      let page = try #require(try await writer.client.changes(limit: 1).page)
      #expect(page.last == writer.acknowledged && page.digest == digest)
      total += writer.acknowledged
    }
    var client = writers[0].client
    client.device = client.device.at(process.port)
    var (cursor, found): (Cursor?, [String]) = (nil, [])
    while true {
      let page = try #require(try await client.changes(cursor, limit: 1_000).page)
      found += page.records.map(\.id.text)
      cursor = page.cursor
      if !page.more { break }
    }
    #expect(found.count == ids.count && Set(found) == ids)
    #expect(cursor?.seq == total)
  }
}
#endif
