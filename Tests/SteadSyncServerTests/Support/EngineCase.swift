#if Server
import Foundation
import SteadTestSupport
import Testing
@testable import SteadSyncServer

/// An engine that tests are run against.
enum EngineCase: String, CaseIterable, CustomTestStringConvertible, Sendable {
  case sqlite, postgreSQL

  var testDescription: String { rawValue }

  /// The engines that this machine has: PostgreSQL where `Scripts/postgres` runs the tests.
  static var all: [EngineCase] { postgreSQLURL == nil ? [.sqlite] : allCases }

  private static var postgreSQLURL: String? {
    ProcessInfo.processInfo.environment["STEAD_POSTGRESQL"]
  }

  /// A database of its own in a directory.
  func location(in directory: TemporaryDirectory) async throws -> StorageEngine.Location {
    switch self {
    case .sqlite: return .sqlite(directory.path + "/stead.sqlite")
    case .postgreSQL:
      let url = Self.postgreSQLURL ?? ""
      let name = "test_" + Secret.identifier()
      let session = try PostgreSQLSession(url)
      try session.execute("CREATE DATABASE \(name)")
      return .postgreSQL(url.replacingOccurrences(of: "/postgres?", with: "/\(name)?"))
    }
  }

  /// Runs a body with an engine and an empty database.
  func with<Value>(_ body: (StorageEngine) async throws -> Value) async throws -> Value {
    let directory = try TemporaryDirectory()
    let engine = try StorageEngine(try await location(in: directory))
    do {
      let value = try await body(engine)
      await engine.close()
      return value
    } catch {
      await engine.close()
      throw error
    }
  }
}
#endif
