public import Foundation

/// What one save, or one other change of a store, did.
///
/// Fetch transactions with ``ModelContext/fetchHistory(_:)``. A transaction of this package's stores is a
/// ``DefaultHistoryTransaction``.
public protocol HistoryTransaction: Hashable, Identifiable, Sendable {
  /// A position in the store's history.
  associatedtype TokenType: HistoryToken
  /// What identifies a transaction in its store.
  associatedtype TransactionIdentifier: Hashable & Sendable

  /// The author of the context that saved; nil if it had none.
  var author: String? { get }
  /// What was inserted, updated and deleted.
  var changes: [HistoryChange] { get }
  /// The identifier of the store that was changed.
  var storeIdentifier: String { get }
  /// When the transaction was made.
  var timestamp: Date { get }
  /// The transaction's position in the history, to continue from: see ``HistoryDescriptor/predicate``.
  var token: TokenType { get }
  /// The transaction's position in its store.
  var transactionIdentifier: TransactionIdentifier { get }
}

// MARK: - Transactions of this package's stores

/// A transaction of a store of this package.
///
/// A save is one transaction in each store that it writes to, and so is a `delete(model:where:)`. A program that writes
/// to the file with plain SQL makes one transaction for each row, without author and program.
///
/// Two transactions are equal if they have one number in one store.
public struct DefaultHistoryTransaction: HistoryTransaction {
  /// The identifier of the store that was changed.
  public let storeIdentifier: String
  /// The number of the transaction in its store; later ones have greater numbers.
  public let transactionIdentifier: Int64
  /// The position after the transaction: keep it, and ask for later ones. With several stores it names the last
  /// transaction of each up to this one.
  ///
  /// A token is Codable. Store it in the same transaction as what was made of the changes, so that
  /// neither is ahead of the other after a crash.
  public let token: DefaultHistoryToken
  /// The ``ModelContext/author`` of the context that saved; nil if it had none, and for plain SQL.
  public let author: String?
  /// The program's bundle identifier, or its name if it has none; empty for plain SQL.
  public let bundleIdentifier: String
  /// The process's number; empty for plain SQL.
  public var processIdentifier: String { process.map(String.init) ?? "" }
  /// What was inserted, updated and deleted, without objects of models that the container does not have.
  public let changes: [HistoryChange]
  /// The process's number; nil for plain SQL.
  let process: Int64?
  /// When the transaction was committed, in the units of the clock that stamps commits.
  let stamp: Int64

  /// When the transaction was made, by the clock of the computer that made it; never before an earlier transaction's
  /// time.
  public var timestamp: Date { EditClock.date(stamp) }

  /// The number of the transaction in its store.
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

  /// Whether both have one number in one store. Their changes are not compared.
  public static func == (left: Self, right: Self) -> Bool {
    left.transactionIdentifier == right.transactionIdentifier
      && left.storeIdentifier == right.storeIdentifier
  }

  /// Hashes the number and the store.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(transactionIdentifier)
    hasher.combine(storeIdentifier)
  }
}

/// A transaction as its row in the store has it, without the changes.
struct HistoryRow {
  let store: String
  let number: Int64
  let stamp: Int64
  let author: String?
  let program: String?
  let process: Int64?
}

// MARK: - Fetching

/// Which transactions to fetch or to delete.
///
/// ```swift
/// var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
/// descriptor.predicate = #Predicate { $0.token > lastToken && $0.author != "sync" }
/// let transactions = try context.fetchHistory(descriptor)
/// ```
public struct HistoryDescriptor<T: HistoryTransaction>: Sendable {
  /// The transactions that match; nil for all.
  ///
  /// Comparisons of `token` and `author` with values, joined by `&&`, are looked up; anything else is evaluated for
  /// each transaction, whose changes then have to be decoded. `author != "x"` includes transactions without an author.
  public var predicate: Predicate<T>?
  /// The maximum number of transactions; 0, the default, for no limit.
  public var fetchLimit: UInt64 = 0
  /// The order; by token if it is empty. An order by token, number or time lets ``fetchLimit`` end the read; any other
  /// one sorts all transactions in memory first.
  ///
  /// ```swift
  /// descriptor.sortBy = [SortDescriptor(\.transactionIdentifier, order: .reverse)]
  /// descriptor.fetchLimit = 1    // the newest transaction
  /// ```
  public var sortBy: [SortDescriptor<T>]

  /// Describes the transactions that match; all of them without a predicate.
  public init(predicate: Predicate<T>? = nil) {
    self.init(predicate: predicate, sortBy: [])
  }

  /// Describes the transactions that match, in an order.
  public init(predicate: Predicate<T>? = nil, sortBy: [SortDescriptor<T>]) {
    self.predicate = predicate
    self.sortBy = sortBy
  }
}

/// A custom store that keeps a history of its changes. A context's ``ModelContext/fetchHistory(_:)`` asks it, too.
///
/// A ``DataStore`` conforms to it. It is asked for descriptors of its own type of transactions alone, from one thread
/// at a time. Return the token of each save in its ``DataStoreSaveChangesResult/historyToken``.
public protocol HistoryProviding {
  /// The transactions of the store.
  associatedtype HistoryType: HistoryTransaction

  /// The type of the store's transactions.
  static var historyType: HistoryType.Type { get }

  /// The transactions that match, in the descriptor's order and within its limit: the context changes neither.
  ///
  /// Throw ``SwiftDataError/historyTokenExpired`` if transactions after a token of the predicate were deleted.
  ///
  /// The context passes on what it throws.
  func fetchHistory(_ descriptor: HistoryDescriptor<HistoryType>) throws -> [HistoryType]
  /// Deletes the transactions that match, at once.
  func deleteHistory(_ descriptor: HistoryDescriptor<HistoryType>) throws
}

extension HistoryProviding {
  /// The type of the store's transactions, from the associated type.
  public static var historyType: HistoryType.Type { HistoryType.self }
}
