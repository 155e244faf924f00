import Foundation

/// The record of a transfer into a store, from which a later run knows what is left to do.
package struct StoreReceipt: Sendable {
  /// The key of the transfer.
  package let id: String
  /// The name of the source, if it has one.
  package let source: String?
  /// The version of the receipt's format.
  package let version: Int
  /// The state of the transfer, in the caller's words.
  package let state: String
  package let date: Date
  /// Increases with each change.
  package let revision: Int
  /// How many entries are of finished work.
  package let moved: Int
  /// How many further entries are of unfinished work.
  package let pending: Int
  /// The version tag and the number of items that the source had when nothing was left to do.
  package var mark: (text: String, count: Int)?

  package init(
    id: String, source: String?, version: Int, state: String, date: Date, revision: Int, moved: Int,
    pending: Int,
    mark: (text: String, count: Int)? = nil
  ) {
    self.id = id
    self.source = source
    self.version = version
    self.state = state
    self.date = date
    self.revision = revision
    self.moved = moved
    self.pending = pending
    self.mark = mark
  }
}

// MARK: - Tables

/// The tables of receipts, which the first receipt creates.
///
/// Documentation/RecordStore.md shows their columns.
struct ReceiptTable {
  /// One row for each receipt.
  private static let receipts = "stead_receipts"
  /// One row for each chunk of a receipt's entries.
  private static let chunks = "stead_receipt_chunks"

  /// The receipts of version 1, whose items are in a separate table. They are refused.
  private static let formerReceipts = "stead_transfers"
  private static let formerItems = "stead_transfer_items"

  /// All tables of receipts.
  static var names: [String] { [chunks, receipts, formerItems, formerReceipts] }

  /// The statements that make the tables where they are missing.
  private static let creation = [
    "CREATE TABLE IF NOT EXISTS \(receipts) "
      + "(id TEXT PRIMARY KEY, version INTEGER NOT NULL, state TEXT NOT NULL, date REAL NOT NULL, "
      + "revision INTEGER NOT NULL, moved INTEGER NOT NULL, pending INTEGER NOT NULL, "
      + "mark TEXT, marked INTEGER, source TEXT) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS \(chunks) "
      + "(receipt TEXT NOT NULL, first INTEGER NOT NULL, count INTEGER NOT NULL, "
      + "entries BLOB NOT NULL, PRIMARY KEY (receipt, first))",
  ]

  /// It has a transaction open; a writing one to save.
  private let connection: StoreConnection

  init(_ connection: StoreConnection) { self.connection = connection }

  /// A receipt without its entries; nil if none exists.
  ///
  /// - Throws: `unreadableStore` if a column does not have its type.
  func receipt(named id: String) throws -> StoreReceipt? {
    if let former = try formerReceipt(named: id) { return former }
    guard try exist(),
      let row = try connection.rows(
        "SELECT version, state, date, revision, moved, pending, mark, marked, source "
          + "FROM \(Self.receipts) WHERE id = ?1", [.text(id)]
      ).first
    else { return nil }
    guard case .integer(let version) = row[0], case .text(let state) = row[1],
      case .real(let seconds) = row[2], case .integer(let revision) = row[3],
      case .integer(let moved) = row[4], case .integer(let pending) = row[5]
    else {
      throw SwiftDataError(
        .unreadableStore, "The receipt \(id) in the store is damaged. Open a backup of the store.")
    }
    let source: String? = if case .text(let name) = row[8] { name } else { nil }
    var receipt = StoreReceipt(
      id: id, source: source, version: Int(version), state: state,
      date: Date(timeIntervalSinceReferenceDate: seconds), revision: Int(revision),
      moved: Int(moved), pending: Int(pending))
    // A mark and its count are written together.
    if case .text(let mark) = row[6], case .integer(let count) = row[7] {
      receipt.mark = (mark, Int(count))
    }
    return receipt
  }

  /// A receipt of version 1, reduced to its version, so that the caller refuses it: ignoring it would import its items again.
  private func formerReceipt(named id: String) throws -> StoreReceipt? {
    guard try exists(Self.formerReceipts),
      case .integer(let version)? = try connection.rows(
        "SELECT version FROM \(Self.formerReceipts) WHERE id = ?1", [.text(id)]
      ).first?[0]
    else { return nil }
    return StoreReceipt(
      id: id, source: nil, version: Int(version), state: "", date: .distantPast, revision: 0,
      moved: 0, pending: 0)
  }

  /// Writes a receipt, and makes the tables if they are missing.
  func save(_ receipt: StoreReceipt) throws {
    // With each receipt, since an erasure drops the tables.
    for statement in Self.creation { try connection.run(statement) }
    try connection.run(
      "INSERT OR REPLACE INTO \(Self.receipts) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
      [
        .text(receipt.id), .integer(Int64(receipt.version)), .text(receipt.state),
        .real(receipt.date.timeIntervalSinceReferenceDate), .integer(Int64(receipt.revision)),
        .integer(Int64(receipt.moved)), .integer(Int64(receipt.pending)),
        receipt.mark.map { .text($0.text) } ?? .null,
        receipt.mark.map { .integer(Int64($0.count)) } ?? .null,
        receipt.source.map { .text($0) } ?? .null,
      ])
  }

  /// Whether the tables exist: a store without transfers has none.
  private func exist() throws -> Bool { try exists(Self.receipts) }

  /// Whether something in the database has a name.
  private func exists(_ table: String) throws -> Bool {
    try connection.integer("SELECT 1 FROM sqlite_schema WHERE name = ?1", [.text(table)]) != nil
  }

  // MARK: Chunks

  /// Where the chunks from one on begin, and how many entries each has.
  func chunks(of id: String, from first: Int) throws -> [Range<Int>] {
    guard try exist() else { return [] }
    return try connection.rows(
      "SELECT first, count FROM \(Self.chunks) WHERE receipt = ?1 AND first >= ?2 ORDER BY first",
      [.text(id), .integer(Int64(first))]
    ).compactMap { row in
      // A row that another program has damaged is left out.
      guard case .integer(let first) = row[0], case .integer(let count) = row[1], count >= 0,
        case (let end, false) = first.addingReportingOverflow(count)
      else { return nil }
      return Int(first)..<Int(end)
    }
  }

  /// The stored form of a chunk's entries.
  func entries(of id: String, at first: Int) throws -> Data? {
    guard try exist() else { return nil }
    let row = try connection.rows(
      "SELECT entries FROM \(Self.chunks) WHERE receipt = ?1 AND first = ?2",
      [.text(id), .integer(Int64(first))]
    ).first
    guard case .blob(let entries)? = row?[0] else { return nil }
    return entries
  }

  /// Stores a chunk instead of those that begin within its range.
  func save(_ entries: Data, of id: String, at range: Range<Int>) throws {
    // Chunks that were saved before may have had other bounds.
    try removeChunks(of: id, in: range)
    try connection.run(
      "INSERT INTO \(Self.chunks) VALUES (?1, ?2, ?3, ?4)",
      [
        .text(id), .integer(Int64(range.lowerBound)), .integer(Int64(range.count)),
        .blob(entries),
      ])
  }

  /// Removes the chunks that begin within a range.
  func removeChunks(of id: String, in range: Range<Int>) throws {
    try connection.run(
      "DELETE FROM \(Self.chunks) WHERE receipt = ?1 AND first >= ?2 AND first < ?3",
      [.text(id), .integer(Int64(range.lowerBound)), .integer(Int64(range.upperBound))])
  }
}
