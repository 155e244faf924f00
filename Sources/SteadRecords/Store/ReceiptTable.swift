import Foundation

/// The tables of receipts, which the first receipt creates.
struct ReceiptTable {
  /// One row for each receipt.
  private static let receipts = "stead_transfers"
  /// One row for each item of each receipt.
  private static let items = "stead_transfer_items"

  /// All tables of receipts.
  static var names: [String] { [items, receipts] }

  private static let creation = [
    "CREATE TABLE IF NOT EXISTS \(receipts) "
      + "(id TEXT PRIMARY KEY, version INTEGER NOT NULL, state TEXT NOT NULL, "
      + "date REAL NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS \(items) "
      + "(transfer TEXT NOT NULL, number INTEGER NOT NULL, is_pending INTEGER NOT NULL, "
      + "identity TEXT NOT NULL, place TEXT NOT NULL, digest TEXT NOT NULL, "
      + "PRIMARY KEY (transfer, number)) WITHOUT ROWID",
  ]

  private let connection: StoreConnection

  init(_ connection: StoreConnection) { self.connection = connection }

  func receipt(named id: String) throws -> StoreReceipt? {
    let exists = try connection.integer(
      "SELECT 1 FROM sqlite_schema WHERE name = ?1", [.text(Self.receipts)])
    guard exists != nil,
      let row = try connection.rows(
        "SELECT version, state, date FROM \(Self.receipts) WHERE id = ?1", [.text(id)]
      ).first
    else { return nil }
    guard case .integer(let version) = row[0], case .text(let state) = row[1],
      case .real(let seconds) = row[2]
    else {
      throw SwiftDataError(
        .unreadableStore, "The receipt \(id) in the store is damaged. Open a backup of the store.")
    }
    return StoreReceipt(
      id: id, version: Int(version), state: state,
      date: Date(timeIntervalSinceReferenceDate: seconds))
  }

  func items(of id: String) throws -> [StoreReceipt.Item] {
    let statement = try connection.statement(
      "SELECT is_pending, identity, place, digest FROM \(Self.items) "
        + "WHERE transfer = ?1 ORDER BY number")
    statement.reset()
    defer { statement.reset() }
    statement.bind(.text(id), at: 1)
    var items: [StoreReceipt.Item] = []
    while try statement.step() {
      items.append(
        .init(
          isPending: statement.integer(0) != 0, identity: statement.text(1),
          place: statement.text(2), digest: statement.text(3)))
    }
    return items
  }

  func save(_ receipt: StoreReceipt, _ items: [StoreReceipt.Item], unchanged: Int) throws {
    for statement in Self.creation { try connection.run(statement) }
    try connection.run(
      "INSERT INTO \(Self.receipts) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE SET "
        + "version = excluded.version, state = excluded.state, date = excluded.date",
      [
        .text(receipt.id), .integer(Int64(receipt.version)), .text(receipt.state),
        .real(receipt.date.timeIntervalSinceReferenceDate),
      ])
    try connection.run(
      "DELETE FROM \(Self.items) WHERE transfer = ?1 AND number >= ?2",
      [.text(receipt.id), .integer(Int64(unchanged))])
    let firstPending = items.firstIndex(where: \.isPending) ?? items.count
    try connection.run(
      "UPDATE \(Self.items) SET is_pending = (number >= ?2) "
        + "WHERE transfer = ?1 AND is_pending <> (number >= ?2)",
      [.text(receipt.id), .integer(Int64(firstPending))])
    for number in unchanged..<items.count {
      let item = items[number]
      try connection.run(
        "INSERT INTO \(Self.items) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        [
          .text(receipt.id), .integer(Int64(number)), .integer(item.isPending ? 1 : 0),
          .text(item.identity), .text(item.place), .text(item.digest),
        ])
    }
  }
}
