import Foundation
import Synchronization

/// Hears what passes over a bus, by dbus-monitor.
package final class BusMonitor: Sendable {
  private let process = Process()
  private let output = Pipe.closedByOthers()
  /// What was read behind the last text that was waited for.
  private let rest = Mutex(Data())

  /// - Parameter rule: Which messages, as D-Bus writes it, such as `member='GetSecret'`.
  package init(_ rule: String, on bus: PrivateBus) throws {
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["dbus-monitor", "--session", "--monitor", rule]
    process.environment = bus.environment
    try process.start(output: output)
    // The bus tells a monitor that it loses its own name when it begins to hear others.
    try wait(for: "NameLost")
  }

  deinit {
    // A child of a thread of Dispatch's has all other signals blocked. The bus's end ends it, too.
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// Waits until a text has passed that was not waited for before, and returns all up to it.
  @discardableResult
  package func wait(for text: String) throws -> String {
    try rest.withLock { all in
      while true {
        if let found = all.firstRange(of: Data(text.utf8)) {
          defer { all = Data(all[found.upperBound...]) }
          return String(decoding: all[..<found.upperBound], as: UTF8.self)
        }
        let more = output.fileHandleForReading.availableData
        guard !more.isEmpty else { throw CocoaError(.fileReadUnknown) }
        all += more
      }
    }
  }

  /// The same for a task, which must not hold up a thread that other tasks need.
  ///
  /// - Parameter body: Runs as soon as the text has passed, while the task may wait long for its turn.
  @discardableResult
  package func hear(
    _ text: String, _ body: @escaping @Sendable () throws -> Void = {}
  ) async throws -> String {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread {
        continuation.resume(
          with: Result {
            let all = try self.wait(for: text)
            try body()
            return all
          })
      }
    }
  }
}
