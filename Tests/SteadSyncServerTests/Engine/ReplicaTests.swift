#if Server
import Foundation
import SteadTestSupport
import Synchronization
import Testing
@testable import SteadSyncServer

/// A PostgreSQL that is read-only, as a replica is.
///
/// While a failover goes on, an address may lead to a replica for a moment. A connection that was made then stayed: one that
/// wrote failed for ever, and one that read showed devices an older state.
@Suite(
  .enabled(
    if: EngineCase.all.contains(.postgreSQL), "Scripts/postgres runs the tests with a PostgreSQL."))
struct ReplicaTests {
  private func url(_ directory: TemporaryDirectory) async throws -> String {
    guard case .postgreSQL(let url) = try await EngineCase.postgreSQL.location(in: directory)
    else { throw EngineError.unexpectedType }
    return url
  }

  @Test func `a replica is not connected to`() async throws {
    let url = try await url(try TemporaryDirectory())
    let error = #expect(throws: EngineError.self) {
      try PostgreSQLSession(url + "&options=-c%20default_transaction_read_only%3Don")
    }
    #expect(error?.code == .disconnected)
    #expect(throws: Never.self) { try PostgreSQLSession(url) }
  }

  @Test func `a connection that became read-only is replaced`() async throws {
    let engine = try StorageEngine(
      .postgreSQL(try await url(try TemporaryDirectory())), connections: 1)
    @Sendable func change() async throws -> Int {
      try await engine.write(.server) {
        try $0.change("UPDATE server_schema SET version = version", [])
      }
    }
    #expect(try await change() == 1)
    try await engine.write(.server) {
      try $0.execute("SET default_transaction_read_only = on")
    }
    let error = await #expect(throws: EngineError.self) { try await change() }
    #expect(error?.code == .disconnected)
    #expect(try await change() == 1)
    await engine.close()
  }

  // An administrator who cancels the wait for a replica makes PostgreSQL commit with a warning, and a failover then lost
  // what had been acknowledged. The trigger stands for that warning.
  @Test func `a commit with a warning is not acknowledged`() async throws {
    let url = try await url(try TemporaryDirectory())
    let session = try PostgreSQLSession(url)
    try session.execute(
      """
      CREATE TABLE warned (number BIGINT);
      CREATE FUNCTION warn() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE WARNING 'no replica'; RETURN NULL; END $$;
      CREATE CONSTRAINT TRIGGER warns AFTER INSERT ON warned DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION warn()
      """)
    let engine = try StorageEngine(.postgreSQL(url))
    let error = await #expect(throws: EngineError.self) {
      try await engine.write(.server) { try $0.change("INSERT INTO warned VALUES (1)", []) }
    }
    #expect(error?.code == .disconnected)
    // A notice is none, nor is a warning of a statement before.
    try session.execute("DO $$ BEGIN RAISE WARNING 'before'; END $$")
    try session.beginWriting()
    #expect(throws: Never.self) { try session.execute("COMMIT") }
    await engine.close()
  }

  /// A machine that is reached while its PostgreSQL is stopped.
  @Test func `a server that never answers is given up`() throws {
    let silent = try SilentPort()
    let end = DispatchSemaphore(value: 0)
    let code = Mutex<EngineError.Code?>(nil)
    let thread = Thread {
      do {
        _ = try PostgreSQLSession("postgresql://postgres@127.0.0.1:\(silent.number)/stead")
      } catch {
        code.withLock { $0 = (error as? EngineError)?.code }
      }
      end.signal()
    }
    thread.start()
    #expect(end.wait(timeout: .now() + 60) == .success)
    #expect(code.withLock { $0 } == .disconnected)
  }
}

/// A port that takes connections and never answers.
private final class SilentPort: Sendable {
  let number: Int
  private let socket: Int32

  init() throws {
    socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let socket = socket
    let status = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(socket, address, size) == 0 && listen(socket, 1) == 0
          && getsockname(socket, address, &size) == 0
      }
    }
    guard status else { throw POSIXError(.EADDRNOTAVAIL) }
    number = Int(UInt16(bigEndian: address.sin_port))
  }

  deinit { close(socket) }
}
#endif
