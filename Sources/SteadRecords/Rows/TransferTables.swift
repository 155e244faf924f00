/// The tables that say what was moved into a store; made by the first transfer.
package enum TransferTables {
  /// The transfers: a name each, how far it has come, and when it last wrote.
  package static let transfers = "stead_transfers"
  /// The items of each.
  package static let items = "stead_transfer_items"

  static var names: [String] { [items, transfers] }

  /// The statements that make them where they are missing.
  package static let creation = [
    "CREATE TABLE IF NOT EXISTS \(transfers) "
      + "(id TEXT PRIMARY KEY, version INTEGER NOT NULL, state TEXT NOT NULL, "
      + "date REAL NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS \(items) "
      + "(transfer TEXT NOT NULL, number INTEGER NOT NULL, is_pending INTEGER NOT NULL, "
      + "identity TEXT NOT NULL, place TEXT NOT NULL, digest TEXT NOT NULL, "
      + "PRIMARY KEY (transfer, number)) WITHOUT ROWID",
  ]
}
