import Foundation
import SteadFiles
public import SteadPreferences

extension TransferSource {
  /// A history of payloads: an item for each entry, the newest first.
  ///
  /// Entries have numbers, which are part of their identities, so that equal payloads are distinguished. One
  /// that does not decode is an item with an error, and stays in the history. An entry that is updated after
  /// it was read is not removed, and is new to the next run.
  public static func history(_ history: PayloadHistory<Value>) -> Self
  where Value: Codable & Identifiable & Sendable {
    Self(HistorySource(history))
  }
}

/// A history of payloads as a source: an item for each entry, the newest first.
struct HistorySource<Payload: Codable & Identifiable & Sendable>: ItemSource {
  private let history: PayloadHistory<Payload>

  /// The entries of a history.
  init(_ history: PayloadHistory<Payload>) { self.history = history }

  /// The history's key and domain.
  var name: String { history.label }
  /// Whether the history can be written.
  var isRemovable: Bool { !history.isReadOnly }

  /// True: numbers are not used again.
  var hasUniqueIdentities: Bool { true }

  /// The entries, named by their index, the newest being 0.
  func open(_ progress: TransferProgress.Report) throws -> ItemReading<Payload> {
    ItemReading(try items(progress))
  }

  private func items(_ progress: TransferProgress.Report) throws -> [TransferItem<Payload>] {
    let records = try history.records()
    return try records.enumerated().map { index, record in
      try progress(.init(phase: .reading, completed: index, total: records.count))
      return TransferItem(
        name: "\(history.key)[\(index)]", identity: Self.identity(of: record),
        value: record.payload)
    }
  }

  /// Removes those entries that still are what was read, as one change, and waits for the disk.
  func remove(_ entries: [TransferReceipt.Entry]) throws -> Int {
    let wanted = Set(entries.map(\.identity))
    let gone = try history.records().filter { wanted.contains(Self.identity(of: $0)) }
    guard !gone.isEmpty else { return 0 }
    try history.removeRecords(gone.map { ($0.sequence, $0.bytes) })
    try history.flush()
    return gone.count
  }

  private static func identity(of record: HistoryRecord<Payload>) -> String {
    "\(record.sequence).\(ItemDigest.text(of: record.bytes))"
  }
}
