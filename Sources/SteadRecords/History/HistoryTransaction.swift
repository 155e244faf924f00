public import Foundation

/// What one save, or one other change of a store, did.
public protocol HistoryTransaction: Hashable, Identifiable, Sendable {
  associatedtype TokenType: HistoryToken
  associatedtype TransactionIdentifier: Hashable & Sendable

  /// The author of the context that saved.
  var author: String? { get }
  /// What was inserted, updated and deleted.
  var changes: [HistoryChange] { get }
  /// The identifier of the store that was changed.
  var storeIdentifier: String { get }
  /// When the transaction was made.
  var timestamp: Date { get }
  /// The place of the transaction in the history.
  var token: TokenType { get }
  /// The transaction's position in its store.
  var transactionIdentifier: TransactionIdentifier { get }
}
