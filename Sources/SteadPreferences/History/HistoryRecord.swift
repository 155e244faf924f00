import Foundation

/// An entry of a history as it is stored, for moving entries elsewhere.
package struct HistoryRecord<Payload: Sendable>: Sendable {
  /// Unique in the history; higher for newer entries.
  package let sequence: UInt64
  /// The version of the payload's fields.
  package let version: Int
  /// The JSON; empty when it could not be read.
  package let bytes: Data
  /// The payload, or the reason why it could not be read.
  package let payload: Result<Payload, any Error>
}

extension PayloadHistory {
  /// All entries, newest first, including those that do not decode.
  package func records() throws -> [HistoryRecord<Payload>] {
    let entries = read { Array($0.table.newestFirst) }
    return entries.compactMap { entry in
      var payload: Result<Payload, any Error> =
        switch entry.content {
        case .payload(let box, _): .success(PayloadBox.payload(in: box))
        case .undecodable(let cause): .failure(error(cause))
        }
      // The file of a large payload may have disappeared since it was decoded.
      if entry.stored.reference != nil, case .failure(let cause) = coder.bytes(of: entry.stored) {
        guard isThere(entry.sequence, entry.stored) else { return nil }
        payload = .failure(error(cause))
      }
      return HistoryRecord(
        sequence: entry.sequence, version: entry.stored.version,
        bytes: coder.allBytes(of: entry.stored), payload: payload)
    }
  }

  private func error(_ cause: UndecodableCause) -> PreferencesError {
    PreferencesError(
      code: .doesNotDecode, message: cause.message, domain: preferences.domain, key: key,
      cause: cause.cause)
  }

  /// Removes entries that are still unchanged since they were read, as one change.
  package func removeRecords(_ records: [(sequence: UInt64, bytes: Data)]) throws {
    try commit([.removeRecords(records)])
  }
}

extension PayloadCoder {
  /// The bytes of any entry, as far as they can be read.
  func allBytes(of stored: StoredEntry) -> Data {
    if case .other(let value) = stored.body { return StoredEntry.bytes(of: value) }
    return (try? bytes(of: stored).get()) ?? Data()
  }
}
