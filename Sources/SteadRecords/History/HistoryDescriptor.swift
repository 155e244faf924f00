public import Foundation

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
  /// each transaction.
  public var predicate: Predicate<T>?
  /// The maximum number of transactions; 0, the default, for no limit.
  public var fetchLimit: UInt64 = 0
  /// The order; by token if it is empty.
  public var sortBy: [SortDescriptor<T>]

  public init(predicate: Predicate<T>? = nil) {
    self.init(predicate: predicate, sortBy: [])
  }

  public init(predicate: Predicate<T>? = nil, sortBy: [SortDescriptor<T>]) {
    self.predicate = predicate
    self.sortBy = sortBy
  }
}
