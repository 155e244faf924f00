import Foundation

/// The header of a history's domain, stored next to the entries.
struct HistoryHeader: Equatable, Sendable {
  /// The format that this library writes, and the newest that it knows.
  static let format = 1
  static let key = "state"
  static let takenKey = "taken"
  static let writtenKey = "written"

  var format = HistoryHeader.format
  /// Grows with each change, so that a change can verify that it was computed from the current state.
  var revision: Int64 = 0
  /// The sequence number of the next entry.
  var next: UInt64 = 1
  /// Grows with each change that did more than insert entries at the front and drop the oldest.
  var edits: Int64 = 0
  /// The number of entries, including those that do not decode.
  var total: Int64 = 0
  /// The digest of the array that was last imported from the app's domain.
  var taken: Data?
  /// The digest of the array that was last written back there, followed by that of the one before, which may
  /// still be stored.
  var written: Data?
  /// The value from which this was read, and which a change expects to find again.
  var stored: PropertyList?

  init() {}

  init(_ table: borrowing DomainTable) {
    if case .data(let digest)? = table[Self.takenKey] { taken = digest }
    if case .data(let digest)? = table[Self.writtenKey] { written = digest }
    stored = table[Self.key]
    guard case .array(let parts)? = stored else { return }
    let numbers = parts.compactMap { part -> Int64? in
      if case .integer(let number) = part { return number }
      return nil
    }
    // A value edited by hand counts as missing; entries continue their numbering.
    if case .integer(let format)? = parts.first { self.format = Int(format) }
    guard numbers.count == 5, parts.count == 5, format == Self.format,
      let next = UInt64(exactly: numbers[2]),
      next <= EntryKey.limit
    else { return }
    (revision, self.next, edits, total) = (numbers[1], max(1, next), numbers[3], numbers[4])
  }

  /// Whether an array under the app's key is one that was written back.
  func isWritten(_ digest: Data) -> Bool {
    guard let written else { return false }
    return stride(from: 0, to: written.count, by: digest.count).contains {
      written.dropFirst($0).prefix(digest.count) == digest
    }
  }

  var propertyList: PropertyList {
    .array([
      .integer(Int64(format)), .integer(revision), .integer(Int64(clamping: next)),
      .integer(edits), .integer(total),
    ])
  }
}
