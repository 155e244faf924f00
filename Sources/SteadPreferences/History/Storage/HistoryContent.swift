import Foundation

/// What an entry has become in memory.
enum HistoryContent {
  // With its identity, since asking for that is the program's own code, and entries are looked for
  // under a lock.
  case payload(AnyPayload, AnyHashable)
  case undecodable(UndecodableCause)

  var payload: AnyPayload? {
    if case .payload(let payload, _) = self { return payload }
    return nil
  }

  var cause: UndecodableCause? {
    if case .undecodable(let cause) = self { return cause }
    return nil
  }
}
