public import Foundation

/// A transaction of a store of this package.
///
/// A save is one transaction in each store that it writes to, and so is a `delete(model:where:)`. A program that writes
/// to the file with plain SQL makes one transaction for each row, without author and program.
public struct DefaultHistoryTransaction: HistoryTransaction {
  public let storeIdentifier: String
  /// The number of the transaction in its store; later ones have greater numbers.
  public let transactionIdentifier: Int64
  public let token: DefaultHistoryToken
  public let author: String?
  /// The program's bundle identifier, or its name if it has none; empty for plain SQL.
  public let bundleIdentifier: String
  /// The process's number; empty for plain SQL.
  public var processIdentifier: String { process.map(String.init) ?? "" }
  public let changes: [HistoryChange]
  let process: Int64?
  let stamp: Int64

  /// When the transaction was made, by the clock of the computer that made it; never before an earlier transaction's
  /// time.
  public var timestamp: Date { EditClock.date(stamp) }

  public var id: Int64 { transactionIdentifier }

  init(_ row: HistoryRow, _ token: DefaultHistoryToken, _ changes: [HistoryChange]) {
    storeIdentifier = row.store
    transactionIdentifier = row.number
    author = row.author
    bundleIdentifier = row.program ?? ""
    process = row.process
    stamp = row.stamp
    self.token = token
    self.changes = changes
  }

  public static func == (left: Self, right: Self) -> Bool {
    left.transactionIdentifier == right.transactionIdentifier
      && left.storeIdentifier == right.storeIdentifier
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(transactionIdentifier)
    hasher.combine(storeIdentifier)
  }
}
