import Foundation
import SwiftData

extension Notification {
  /// The tokens that a context's `didSave` has, by the stores' identifiers.
  package var historyTokens: [String: DefaultHistoryToken] {
    let key = ModelContext.NotificationKey.historyTokens.rawValue
    let tokens = userInfo?[key] as? [String: any HistoryToken]
    return tokens?.compactMapValues { $0 as? DefaultHistoryToken } ?? [:]
  }
}
