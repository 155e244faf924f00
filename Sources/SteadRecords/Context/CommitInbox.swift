/// How far a context has followed other contexts' commits, and how they ask it for a turn.
struct CommitInbox {
  let listener = CommitListener()
  /// The number of the last commit that the context's objects know, by the store's place; nil before
  /// anything was read.
  private var seen: [Int64?]
  private var seenOutsiders: [UInt64]
  private let logs: [CommitLog]

  init(_ stores: [RecordStore]) {
    logs = stores.map(\.log)
    seen = Array(repeating: nil, count: stores.count)
    seenOutsiders = logs.map(\.outsiderCount)
    for log in logs { log.addContext() }
  }

  func leave() { for log in logs { log.removeContext() } }

  func listen() { for log in logs { log.listen(listener) } }

  func number(of store: Int) -> Int64 { seen[store] ?? 0 }

  /// What other contexts have committed up to a number since the last call.
  mutating func news(of store: Int, upTo number: Int64) -> CommitLog.News {
    let outsiderCount = logs[store].outsiderCount
    defer {
      seen[store] = number
      seenOutsiders[store] = outsiderCount
    }
    if outsiderCount != seenOutsiders[store] { return .everything }
    guard let last = seen[store] else { return .nothing }
    return logs[store].news(after: last, upTo: number, for: listener.reader)
  }

  /// Notes what the first objects were read from.
  mutating func didRead(_ number: Int64, of store: Int) {
    if seen[store] == nil { seen[store] = number }
  }

  /// Notes a commit of the context's own.
  mutating func didCommit(_ number: Int64, to store: Int) { seen[store] = number }
}
