/// A store that keeps a history of its changes.
public protocol HistoryProviding {
  associatedtype HistoryType: HistoryTransaction

  static var historyType: HistoryType.Type { get }

  /// The transactions that match.
  func fetchHistory(_ descriptor: HistoryDescriptor<HistoryType>) throws -> [HistoryType]
  /// Deletes the transactions that match.
  func deleteHistory(_ descriptor: HistoryDescriptor<HistoryType>) throws
}

extension HistoryProviding {
  public static var historyType: HistoryType.Type { HistoryType.self }
}
