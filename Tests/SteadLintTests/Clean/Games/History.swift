import Foundation
import SwiftData

struct HistoryReader {
  let context: ModelContext
  let defaults: UserDefaults

  func changes() throws -> [DefaultHistoryTransaction] {
    let transactions = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    defaults.set(transactions.last?.author, forKey: "lastHistoryAuthor")
    return transactions
  }
}
