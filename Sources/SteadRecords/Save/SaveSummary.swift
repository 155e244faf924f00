import Foundation

/// What a save wrote, as identifiers and tables, for notifications.
struct SaveSummary {
  var inserted: Set<PersistentIdentifier> = []
  var updated: Set<PersistentIdentifier> = []
  var deleted: Set<PersistentIdentifier> = []
  /// The place of the save in the history of each store that has one.
  var historyTokens: [String: any HistoryToken] = [:]

  /// The `userInfo` of `didSave`: sets of identifiers, under SwiftData's keys and Core Data's words.
  var userInfo: [AnyHashable: Any] {
    var info = Self.emptyInfo
    for (keys, identifiers) in zip(Self.keys, [inserted, updated, deleted])
    where !identifiers.isEmpty {
      info[keys.name] = identifiers
      info[keys.word] = identifiers
    }
    if !historyTokens.isEmpty { info[Self.tokensKey] = historyTokens }
    return info
  }

  // Made once, since boxing six strings costs as much as writing a row. Immutable, and strings and
  // empty sets are all they hold.
  nonisolated(unsafe) private static let keys: [(name: AnyHashable, word: AnyHashable)] = [
    ("insertedIdentifiers", "inserted"), ("updatedIdentifiers", "updated"),
    ("deletedIdentifiers", "deleted"),
  ]
  // Immutable, and a string, as those.
  nonisolated(unsafe) private static let tokensKey: AnyHashable = "historyTokens"
  nonisolated(unsafe) private static let emptyInfo: [AnyHashable: Any] = Dictionary(
    uniqueKeysWithValues: keys.flatMap { [$0.name, $0.word] }.map {
      ($0, Set<PersistentIdentifier>())
    })
}
