import Foundation

/// An entry's content in memory.
enum HistoryContent {
  // With its identity, since getting that calls the program's own code, and entries are looked up under a lock.
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
