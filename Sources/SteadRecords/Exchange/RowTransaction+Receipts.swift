package import Foundation

/// The receipt of a piece of work has its own row, and its entries are stored separately in chunks.
extension RowTransaction {
  /// The receipt of a piece of work, without its entries; nil if none exists.
  package func receipt(named id: String) throws -> StoreReceipt? {
    try ReceiptTable(connection).receipt(named: id)
  }

  /// Stores a receipt instead of the one stored under its name; its entries stay as they are.
  package func save(_ receipt: StoreReceipt) throws {
    try ReceiptTable(connection).save(receipt)
  }

  /// Which of a receipt's entries each chunk has, for chunks that begin at or after a given one.
  package func receiptChunks(of id: String, from first: Int) throws -> [Range<Int>] {
    try ReceiptTable(connection).chunks(of: id, from: first)
  }

  /// A chunk by its first entry; nil if none begins there.
  package func receiptEntries(of id: String, at first: Int) throws -> Data? {
    try ReceiptTable(connection).entries(of: id, at: first)
  }

  /// Stores a chunk instead of those that begin within its range.
  package func saveReceiptEntries(_ entries: Data, of id: String, at range: Range<Int>) throws {
    try ReceiptTable(connection).save(entries, of: id, at: range)
  }

  /// Removes the chunks that begin within a range.
  package func removeReceiptEntries(of id: String, in range: Range<Int>) throws {
    try ReceiptTable(connection).removeChunks(of: id, in: range)
  }
}
