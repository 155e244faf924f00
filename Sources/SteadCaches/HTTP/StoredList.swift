import Foundation

/// The stored responses of one URL, and how they change.
enum StoredList {
  /// The list with a new response, which replaces those that fit the same requests.
  ///
  /// A new part keeps other parts of the same version, and the whole.
  static func adding(
    _ new: StoredResponse, for request: HTTPCache.Request, to list: [StoredResponse]
  ) -> [StoredResponse] {
    (kept(beside: new, for: request, in: list) + [new]).suffix(HTTPCache.Limits.variantCountLimit)
  }

  /// What a new response leaves of the list, whether it is stored itself or not.
  static func kept(
    beside new: StoredResponse, for request: HTTPCache.Request, in list: [StoredResponse]
  ) -> [StoredResponse] {
    list.filter { old in
      !old.selection.matches(request)
        || isSameVersion(old, new) && new.range != nil && old.range != new.range
    }
  }

  /// The list after a confirmation.
  ///
  /// - Parameters:
  ///   - asked: The response that the server was asked about, as it was then.
  ///   - confirmed: The same with new fields; nil if it may not be used again.
  ///   - requestedAt: When the server was asked.
  static func confirming(
    _ asked: StoredResponse, as confirmed: StoredResponse?, requestedAt: Date,
    in list: [StoredResponse]
  ) -> [StoredResponse] {
    list.compactMap { stored in
      guard stored.id == asked.id else { return stored }
      // A confirmation by a later request is newer. An unchanged one may also have a later time: that of a clock which
      // was set back.
      let isNewer = stored != asked && stored.requestedAt > requestedAt
      return isNewer ? stored : confirmed
    }
  }

  /// The list after the response to a HEAD (RFC 9111, 4.3.5): responses that it confirms get its fields, the others are
  /// removed.
  static func updating(
    _ list: [StoredResponse], byHead response: HTTPCache.Response, to request: HTTPCache.Request,
    requestedAt: Date, receivedAt: Date
  ) -> [StoredResponse] {
    list.compactMap { stored in
      guard stored.selection.matches(request) else { return stored }
      guard agrees(response, with: stored) else { return nil }
      return stored.updated(
        by: response, to: request, requestedAt: requestedAt, receivedAt: receivedAt)
    }
  }

  /// The list without what fits a request.
  static func removing(matching request: HTTPCache.Request, from list: [StoredResponse])
    -> [StoredResponse]
  {
    list.filter { !$0.selection.matches(request) }
  }

  private static func isSameVersion(_ one: StoredResponse, _ other: StoredResponse) -> Bool {
    guard let tag = one.entityTag, let otherTag = other.entityTag else { return false }
    return tag.matchesStrongly(otherTag)
      && (one.range?.length ?? one.bodySize) == (other.range?.length ?? other.bodySize)
  }

  private static func agrees(_ response: HTTPCache.Response, with stored: StoredResponse) -> Bool {
    let fields = response.fields
    if let tag = fields["ETag"], stored.response.fields["ETag"] != tag { return false }
    if let modified = fields["Last-Modified"], stored.lastModified != modified { return false }
    guard let length = fields.bodyLength.count else { return true }
    return fields.contains("Content-Encoding") || length == stored.range?.length ?? stored.bodySize
  }
}
