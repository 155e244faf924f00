import Foundation
import Logging
import SteadSyncProtocol

/// Writes a log to standard error, one JSON object per line.
struct LineLog: LogHandler {
  var metadata: Logger.Metadata = [:]
  var logLevel: Logger.Level = .info

  subscript(metadataKey key: String) -> Logger.MetadataValue? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    var fields = metadata.merging(event.metadata ?? [:]) { $1 }.mapValues { "\($0)" }
    fields["time"] = Date().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    fields["level"] = event.level.rawValue
    fields["message"] = "\(event.message)"
    let line = SyncValue.object(fields.mapValues { .string($0) }).encoded()
    FileHandle.standardError.write(Data(line + [UInt8(ascii: "\n")]))
  }
}
