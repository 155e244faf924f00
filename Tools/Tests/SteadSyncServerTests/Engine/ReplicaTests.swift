import Foundation
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
  private func url(_ directory: Directory) async throws -> String {
    guard case .postgreSQL(let url) = try await EngineCase.postgreSQL.location(in: directory)
    else { throw EngineError.unexpectedType }
    return url
  }

  @Test func aReplicaIsNotConnectedTo() async throws {
    let url = try await url(try Directory())
    let error = #expect(throws: EngineError.self) {
      try PostgreSQLSession(url + "&options=-c%20default_transaction_read_only%3Don")
    }
    #expect(error?.code == .disconnected)
    #expect(throws: Never.self) { try PostgreSQLSession(url) }
  }

  @Test func aConnectionThatBecameReadOnlyIsReplaced() async throws {
    let engine = try StorageEngine(.postgreSQL(try await url(try Directory())), connections: 1)
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
  @Test func aCommitWithAWarningIsNotAcknowledged() async throws {
    let url = try await url(try Directory())
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
}
