/// A payload without its type, among entries that know nothing about it.
typealias AnyPayload = any AnyObject & Sendable

/// Holds a payload, or several.
///
/// Only the history that made a box knows its type: the code that stores boxes is the same for all payloads.
final class PayloadBox<Payload: Sendable>: Sendable {
  let payload: Payload

  init(_ payload: Payload) { self.payload = payload }

  /// The content of a box made by a history of this payload; no other history sees it.
  static func payload(in box: AnyPayload) -> Payload {
    unsafeDowncast(box, to: PayloadBox<Payload>.self).payload
  }
}
