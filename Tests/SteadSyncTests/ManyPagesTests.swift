import Foundation
import SteadSQLite
import SteadSync
import SteadSyncProtocol
import SteadTestSupport
import SwiftData
import Synchronization
import SyncTestSupport
import Testing

/// A zone that is fetched in many pages.
@Suite(.hangLimit) struct ManyPagesTests {
  private static let pageSize = 10
  private static let pageCount = 20

  /// Calls a closure with the number of each request for changes before it sends it.
  private final class CountingTransport: SyncTransport {
    struct Refused: Error {}

    private let server: LocalSyncServer
    private let before: @Sendable (Int) async throws -> Void
    private let requests = Mutex(0)

    init(
      _ server: LocalSyncServer, before: @escaping @Sendable (Int) async throws -> Void = { _ in }
    ) {
      self.server = server
      self.before = before
    }

    var count: Int { requests.withLock { $0 } }

    func changes(_ query: [String: String], zone: String) async throws -> Data {
      let number = requests.withLock { requests in
        requests += 1
        return requests
      }
      try await before(number)
      return try await server.changes(query, zone: zone)
    }

    func push(_ message: Data, zone: String) async throws -> Data {
      try await server.push(message, zone: zone)
    }

    func wait(for cursors: [String: String]) async throws -> Set<String> {
      try await server.wait(for: cursors)
    }

    func upload(_ bytes: Data, blob: String, zone: String) async throws {
      try await server.upload(bytes, blob: blob, zone: zone)
    }

    func download(blob: String, zone: String) async throws -> Data {
      try await server.download(blob: blob, zone: zone)
    }
  }

  /// A server with as many notes as the pages hold, and the device that has sent them.
  private func fullServer() async throws -> (server: LocalSyncServer, sender: Device) {
    let server = LocalSyncServer()
    let device = try Device(server)
    for number in 0..<Self.pageSize * Self.pageCount {
      device.context.insert(Note("note \(number)"))
    }
    try device.context.save()
    try await device.engine.syncNow()
    return (server, device)
  }

  @Test func `a failure between pages keeps those before it`() async throws {
    let (server, sender) = try await fullServer()
    let failing = 8
    let transport = CountingTransport(server) { number in
      if number == failing { throw CountingTransport.Refused() }
    }
    let device = try Device(transport, pageSize: Self.pageSize)
    await #expect(throws: CountingTransport.Refused.self) { try await device.engine.syncNow() }
    #expect(try device.content.count == (failing - 1) * Self.pageSize)
    #expect(transport.count == failing)
    try await device.engine.syncNow()
    #expect(try device.content == sender.content)
    #expect(transport.count == Self.pageCount + 1, "no page comes twice")
  }

  /// Holds the write lock of a store.
  private actor WriteLock {
    private var connection: SQLiteConnection?

    func take(_ store: URL) throws {
      let connection = try SQLiteConnection(SQLiteOptions(.file(store.path)))
      try connection.execute("BEGIN IMMEDIATE")
      self.connection = connection
    }

    func release() throws {
      try connection?.execute("ROLLBACK")
      connection = nil
    }
  }

  @Test
  func `pages come while others wait to be applied, but not more than the limit`() async throws {
    let (server, sender) = try await fullServer()
    let directory = try TemporaryDirectory()
    let store = directory.url.appending(path: "shelf.store")
    let lock = WriteLock()
    // The pages that may wait: one transaction applies as many at most.
    let lead = 4
    let lags = Mutex<[Int]>([])
    let container = Mutex<ModelContainer?>(nil)
    let transport = CountingTransport(server) { number in
      if let container = container.withLock({ $0 }) {
        let shown = try ModelContext(container).fetchCount(FetchDescriptor<Note>())
        lags.withLock { $0.append(number - 1 - shown / Self.pageSize) }
      }
      // From now on no page can be applied.
      if number == 1 { try await lock.take(store) }
      if number == 1 + lead { try await lock.release() }
    }
    var options = SyncEngine.Options()
    options.pageSize = Self.pageSize
    let device = try Device(transport, in: directory.url, options: options)
    container.withLock { $0 = device.container }
    try await device.engine.syncNow()
    #expect(try device.content == sender.content)
    #expect(transport.count == Self.pageCount)
    let most = lags.withLock { $0.max() }
    #expect(most ?? 0 >= lead, "pages that were read ahead")
    #expect(most ?? 0 < 2 * lead, "those that are applied, and fewer than may wait")
  }
}
