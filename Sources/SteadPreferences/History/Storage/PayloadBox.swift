/// A payload among entries that know nothing of its type.
typealias AnyPayload = any AnyObject & Sendable

/// Holds a payload, or several.
///
/// Its type is known to the history that made it alone: what keeps boxes is the same code for all payloads.
final class PayloadBox<Payload: Sendable>: Sendable {
  let payload: Payload

  init(_ payload: Payload) { self.payload = payload }

  /// What a box holds that a history of this payload has made; no other history sees it.
  static func payload(in box: AnyPayload) -> Payload {
    unsafeDowncast(box, to: PayloadBox<Payload>.self).payload
  }
}
