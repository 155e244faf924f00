import Foundation
@_exported import SteadTestSupport
import Testing

/// A running SecretsWorker: another process on the same store.
typealias Worker = WorkerProcess

/// The stores that processes share without a desktop.
enum SharedStore: String, CaseIterable { case vault, plaintext }

extension WorkerProcess {
  convenience init(_ store: SharedStore, _ directory: URL, _ arguments: [String]) throws {
    let command = [try Self.program("SecretsWorker"), store.rawValue, directory.filePath]
    // The user's own state and settings are not looked at.
    let environment = ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"].map {
      ($0, directory.file("home").filePath)
    }
    try self.init(
      command + arguments, environment: Dictionary(uniqueKeysWithValues: environment))
  }

  /// Sends a line, and returns the answer.
  func ask(_ line: String) -> String? {
    send(line)
    return self.line()
  }

  /// What a store holds, as a process sees it that has just been started.
  static func contents(_ store: SharedStore, _ directory: URL) throws -> [String: String] {
    try Worker(store, directory, ["dump"]).wholeDump()
  }
}
