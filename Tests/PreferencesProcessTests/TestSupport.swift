import Foundation
@_exported import SteadTestSupport  // For all files of this target.
import Testing

/// A running PreferencesWorker: another process on the same domain.
typealias Worker = WorkerProcess

extension WorkerProcess {
  /// - Parameter launcher: A program that is given the worker's command line, such as `setpriv`.
  convenience init(
    _ directory: URL, _ arguments: [String], environment: [String: String] = [:],
    launcher: [String] = []
  ) throws {
    let command = [try Self.program("PreferencesWorker"), directory.filePath, "domain"]
    // The user's own settings are not looked at.
    let config = ["XDG_CONFIG_HOME": directory.file("config").filePath]
    try self.init(
      launcher + command + arguments, environment: config.merging(environment) { $1 })
  }

  /// What a domain holds, as a process sees it that has just been started.
  static func contents(_ directory: URL) throws -> [String: String] {
    try Worker(directory, ["dump"]).wholeDump()
  }
}
