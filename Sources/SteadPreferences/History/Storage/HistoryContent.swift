import Foundation

/// A payload among entries that know nothing of its type.
typealias AnyPayload = any AnyObject & Sendable

/// Holds a payload, or several.
final class PayloadBox<Payload: Sendable>: Sendable {
  let payload: Payload

  init(_ payload: Payload) { self.payload = payload }

  /// What a box holds that a history of this payload has made; no other history sees it.
  static func payload(in box: AnyPayload) -> Payload {
    unsafeDowncast(box, to: PayloadBox<Payload>.self).payload
  }
}

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

/// An entry that is to be written.
struct HistoryDraft {
  var stored: StoredEntry
  var content: HistoryContent
  /// What has to be in the blob that the entry refers to.
  var blob: Data?
}
