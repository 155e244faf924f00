#if Server
import Foundation
import Hummingbird
import Logging
import SteadSQLite
import SteadSyncProtocol
import Synchronization

/// Counters of the server, in Prometheus' text format (version 0.0.4).
///
/// Requests are counted by route and not by address, so the number of series is bounded, and no zone or user is
/// named. Thread-safe, with a mutex for each count.
final class Metrics: Sendable {
  /// Upper bounds of the histogram's buckets, in seconds. The last one is above ``SyncServer/maximumWait``.
  private static let bounds = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 60]

  /// What requests are counted by.
  private struct Series: Hashable {
    var method: String
    var route: String
    var status: Int
  }

  /// The counters, guarded by the mutex.
  private struct State {
    var requests: [Series: Int] = [:]
    var buckets = [Int](repeating: 0, count: Metrics.bounds.count)
    var seconds = 0.0
    var count = 0
    var changes = 0
    var bytesOut = 0
  }

  private let state = Mutex(State())

  /// Counts an answered request.
  func count(method: String, route: String, status: Int, seconds: Double) {
    state.withLock { state in
      state.requests[Series(method: method, route: route, status: status), default: 0] += 1
      state.seconds += seconds
      state.count += 1
      // A bucket of Prometheus is cumulative: it counts all requests up to its bound.
      for (index, bound) in Self.bounds.enumerated() where seconds <= bound {
        state.buckets[index] += 1
      }
    }
  }

  /// Counts the records to which a push has given numbers.
  func countChanges(_ count: Int) { state.withLock { $0.changes += count } }

  /// The metrics as a string, with gauges that the caller has measured.
  func text(gauges: [(name: String, help: String, value: Int)]) -> String {
    let state = state.withLock { $0 }
    var lines = [
      "# HELP stead_requests_total Requests answered.", "# TYPE stead_requests_total counter",
    ]
    // The order of a dictionary differs from run to run.
    for (series, count) in state.requests.sorted(by: { "\($0.key)" < "\($1.key)" }) {
      lines.append(
        "stead_requests_total{method=\"\(series.method)\",route=\"\(series.route)\","
          + "status=\"\(series.status)\"} \(count)")
    }
    lines += [
      "# HELP stead_request_seconds Time to answer a request.",
      "# TYPE stead_request_seconds histogram",
    ]
    for (bound, count) in zip(Self.bounds, state.buckets) {
      lines.append("stead_request_seconds_bucket{le=\"\(bound)\"} \(count)")
    }
    lines += [
      "stead_request_seconds_bucket{le=\"+Inf\"} \(state.count)",
      "stead_request_seconds_sum \(state.seconds)", "stead_request_seconds_count \(state.count)",
      "# HELP stead_changes_total Changes that pushes have made.",
      "# TYPE stead_changes_total counter", "stead_changes_total \(state.changes)",
    ]
    for gauge in gauges {
      lines += [
        "# HELP \(gauge.name) \(gauge.help)", "# TYPE \(gauge.name) gauge",
        "\(gauge.name) \(gauge.value)",
      ]
    }
    return lines.joined(separator: "\n") + "\n"
  }
}

/// Writes a log to standard error, one JSON object per line.
struct LineLog: LogHandler {
  var metadata: Logger.Metadata = [:]
  var logLevel: Logger.Level = .info

  subscript(metadataKey key: String) -> Logger.MetadataValue? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  /// Writes an event with its metadata, time and level.
  func log(event: LogEvent) {
    var fields = metadata.merging(event.metadata ?? [:]) { $1 }.mapValues { "\($0)" }
    fields["time"] = Date().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    fields["level"] = event.level.rawValue
    fields["message"] = "\(event.message)"
    let line = SyncValue.object(fields.mapValues { .string($0) }).encoded()
    FileHandle.standardError.write(Data(line + [UInt8(ascii: "\n")]))
  }
}

extension SyncServer {
  /// The addresses for the server's operators. Their answers name no users or zones.
  func addOperation(to router: Router<ServerContext>) {
    router.get("healthz") { _, _ in
      _ = try await self.engine.read { try $0.row("SELECT version FROM server_schema") }
      return try Answer.json(["status": "ok"])
    }
    router.get("metrics") { _, _ in
      let text = self.metrics.text(gauges: [
        ("stead_waiting_requests", "Requests that wait for changes.", self.hub.count),
        ("stead_waiting_work", "Transactions that wait for a connection.", self.engine.waitingWork),
      ])
      return Answer.bytes(text.utf8, type: "text/plain; version=0.0.4")
    }
  }
}
#endif
