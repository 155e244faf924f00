import Foundation
import SteadRecords

/// The receipts in a store of records, an item a row.
struct ReceiptTable {
  private let rows: RowTransaction

  init(_ rows: RowTransaction) { self.rows = rows }

  func receipt(named id: String) throws -> TransferReceipt? {
    let exists = try rows.integer(
      "SELECT 1 FROM sqlite_schema WHERE name = ?1", [.text(TransferTables.transfers)])
    guard exists != nil,
      let found = try rows.select(
        "SELECT state, date, version FROM \(TransferTables.transfers) WHERE id = ?1", [.text(id)]
      ).first
    else { return nil }
    guard case .text(let name) = found[0], let state = TransferReceipt.State(rawValue: name),
      case .real(let seconds) = found[1],
      found[2] == .integer(Int64(TransferReceipt.version))
    else {
      throw TransferError(
        code: .unsupported,
        message:
          "The receipt of transfer \(id) was written by a newer version. Update the program; "
          + "nothing was changed.")
    }
    var receipt = TransferReceipt(
      id: id, state: state, date: Date(timeIntervalSinceReferenceDate: seconds), moved: [],
      pending: [])
    try rows.forEach(
      "SELECT is_pending, identity, place, digest FROM \(TransferTables.items) "
        + "WHERE transfer = ?1 ORDER BY number", [.text(id)]
    ) { row in
      guard let entry = Self.entry(row[1...]) else { return }
      if row[0] == .integer(0) {
        receipt.moved.append(entry)
      } else {
        receipt.pending.append(entry)
      }
    }
    return receipt
  }

  private static func entry(_ row: ArraySlice<SQLValue>) -> TransferReceipt.Entry? {
    let texts = row.compactMap { if case .text(let text) = $0 { text } else { nil } }
    guard texts.count == 3 else { return nil }
    return .init(identity: texts[0], placement: .init(place: texts[1], digest: texts[2]))
  }

  /// Puts a receipt in the place of the one that is there, and writes only what differs.
  ///
  /// - Throws: ``TransferError`` `.changed` when it does not follow that one.
  func set(_ receipt: TransferReceipt) throws {
    let current = try self.receipt(named: receipt.id)
    try receipt.checkFollows(current)
    for statement in TransferTables.creation { try rows.run(statement) }
    try rows.run(
      "INSERT INTO \(TransferTables.transfers) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE SET "
        + "version = excluded.version, state = excluded.state, date = excluded.date",
      [
        .text(receipt.id), .integer(Int64(TransferReceipt.version)),
        .text(receipt.state.rawValue), .real(receipt.date.timeIntervalSinceReferenceDate),
      ])
    let entries = receipt.moved + receipt.pending
    let known = (current?.moved ?? []) + (current?.pending ?? [])
    let kept = zip(entries, known).prefix { $0 == $1 }.count
    try rows.run(
      "DELETE FROM \(TransferTables.items) WHERE transfer = ?1 AND number >= ?2",
      [.text(receipt.id), .integer(Int64(kept))])
    let moved = SQLValue.integer(Int64(receipt.moved.count))
    try rows.run(
      "UPDATE \(TransferTables.items) SET is_pending = (number >= ?2) "
        + "WHERE transfer = ?1 AND is_pending <> (number >= ?2)", [.text(receipt.id), moved])
    for number in kept..<entries.count {
      let (entry, place) = (entries[number], entries[number].placement)
      try rows.run(
        "INSERT INTO \(TransferTables.items) VALUES (?1, ?2, ?2 >= ?3, ?4, ?5, ?6)",
        [
          .text(receipt.id), .integer(Int64(number)), moved, .text(entry.identity),
          .text(place.place), .text(place.digest),
        ])
    }
  }
}
