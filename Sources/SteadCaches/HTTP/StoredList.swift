import Foundation

/// The stored responses of one URL, and how they change.
enum StoredList {
  /// The list with a new response, which replaces those that fit the same requests.
  ///
  /// A new part keeps other parts of the same version, and the whole. A response that would replace a more recent one isn't
  /// added: its body has ended later, but it was sent earlier.
  static func adding(
    _ new: StoredResponse, for request: HTTPCache.Request, to list: [StoredResponse], now: Date
  ) -> [StoredResponse] {
    let moment = Moment(of: new)
    let isOutdated = list.contains { old in
      isReplaced(old, by: new, for: request) && moment.isBefore(old, now: now)
    }
    guard !isOutdated else { return list }
    let rest = list.filter { !isReplaced($0, by: new, for: request) }
    return (rest + [new]).suffix(HTTPCache.Limits.variantCountLimit)
  }

  /// What a new response leaves of the list that isn't stored itself.
  static func kept(
    beside new: StoredResponse, for request: HTTPCache.Request, in list: [StoredResponse], now: Date
  ) -> [StoredResponse] {
    let moment = Moment(of: new)
    return list.filter {
      !isReplaced($0, by: new, for: request) || moment.isBefore($0, now: now)
    }
  }

  private static func isReplaced(
    _ old: StoredResponse, by new: StoredResponse, for request: HTTPCache.Request
  ) -> Bool {
    old.selection.matches(request)
      && !(isSameVersion(old, new) && new.range != nil && old.range != new.range)
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
    at moment: Moment
  ) -> [StoredResponse] {
    list.compactMap { stored in
      guard stored.selection.matches(request), !moment.isBefore(stored, now: moment.receivedAt)
      else { return stored }
      guard agrees(response, with: stored) else { return nil }
      return stored.updated(
        by: response, to: request, requestedAt: moment.requestedAt, receivedAt: moment.receivedAt)
    }
  }

  /// The list without what fits a request, and was sent before a response that isn't stored.
  static func removing(
    matching request: HTTPCache.Request, from list: [StoredResponse], at moment: Moment, now: Date
  ) -> [StoredResponse] {
    list.filter { !$0.selection.matches(request) || moment.isBefore($0, now: now) }
  }

  private static func isSameVersion(_ one: StoredResponse, _ other: StoredResponse) -> Bool {
    guard let tag = one.entityTag, let otherTag = other.entityTag else { return false }
    return tag.matchesStrongly(otherTag)
      && (one.range?.length ?? one.bodySize) == (other.range?.length ?? other.bodySize)
  }

  private static func agrees(_ response: HTTPCache.Response, with stored: StoredResponse) -> Bool {
    // Of another status, such as 404, what is stored is outdated, however few fields there are to compare.
    guard stored.response.status == 200 || stored.range != nil else { return false }
    let fields = response.fields
    if let tag = fields["ETag"], stored.response.fields["ETag"] != tag { return false }
    if let modified = fields["Last-Modified"], stored.lastModified != modified { return false }
    guard let length = fields.bodyLength.count else { return true }
    return fields.contains("Content-Encoding") || length == stored.range?.length ?? stored.bodySize
  }
}
