import Foundation

/// The stored responses of one URL, the newest last, and those of their bodies that are in memory.
struct StoredPage: Sendable {
  /// A body that is in memory.
  struct KeptBody: Sendable {
    let data: Data
    /// When it was stored.
    let storedAt: Date
  }

  private(set) var responses: [StoredResponse]
  private(set) var bodies: [String: KeptBody]
  /// What the page's entry on disk held when the page was read or written; nil if it had none.
  var onDisk: Data?

  init(_ responses: [StoredResponse] = [], bodies: [String: KeptBody] = [:], onDisk: Data? = nil) {
    self.responses = responses
    self.bodies = bodies
    self.onDisk = onDisk
  }

  private static let costOfPage = 256

  /// The approximate size of the page in memory, in bytes.
  var cost: Int {
    let ofBodies = bodies.values.reduce(0) { $0 + $1.data.count } + (onDisk?.count ?? 0)
    return responses.reduce(Self.costOfPage + ofBodies) { $0 + $1.cost }
  }

  /// The page with other responses, and with the bodies of those that remain.
  func with(_ responses: [StoredResponse], body: (id: String, kept: KeptBody)? = nil) -> StoredPage
  {
    let names = Set(responses.map(\.id))
    var page = StoredPage(responses, bodies: bodies.filter { names.contains($0.key) })
    if let body { page.keep(body.kept, of: body.id) }
    return page
  }

  /// The page without the responses whose bodies were stored at a date or later.
  func without(storedSince date: Date) -> StoredPage {
    // To the millisecond, as a disk has it.
    let moment = WallClock.milliseconds(date)
    return with(
      responses.filter {
        bodies[$0.id].map { WallClock.milliseconds($0.storedAt) < moment } ?? true
      })
  }

  /// Keeps the body of one of the responses in memory.
  mutating func keep(_ body: KeptBody, of id: String) {
    if responses.contains(where: { $0.id == id }) { bodies[id] = body }
  }

  /// Drops bodies, oldest responses first, until the page costs no more than a limit.
  ///
  /// - Parameter id: The response whose body stays; nil for none.
  mutating func dropBodies(downTo limit: Int, except id: String? = nil) {
    for response in responses where response.id != id && cost > limit { bodies[response.id] = nil }
  }

  /// Drops responses whose body is not in memory.
  mutating func dropBodiless() {
    responses.removeAll { bodies[$0.id] == nil }
  }
}

// MARK: - Changes

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

// MARK: - Which response is more recent

/// When a response was made: the times of this computer's clock between which the server made it, and that of the server's
/// clock.
struct Moment: Sendable, Hashable {
  let requestedAt: Date
  let receivedAt: Date
  /// The response's `Date`, or when it came if it has none.
  let date: Date

  init(of response: HTTPCache.Response, requestedAt: Date, receivedAt: Date) {
    self.requestedAt = requestedAt
    self.receivedAt = receivedAt
    date = response.fields.date("Date", now: receivedAt) ?? receivedAt
  }

  init(of stored: StoredResponse) {
    (requestedAt, receivedAt, date) = (stored.requestedAt, stored.receivedAt, stored.date)
  }

  /// Whether a stored response, or its last confirmation, is more recent (RFC 9111, 4).
  ///
  /// It is if it was asked for after this one's head had come. If the two were on their way at the same time, the server's
  /// clock decides; otherwise it doesn't count, since several servers have several clocks.
  ///
  /// - Parameter now: A stored response that was asked for later than that tells nothing: the clock was set back.
  func isBefore(_ stored: StoredResponse, now: Date) -> Bool {
    guard stored.requestedAt <= now else { return false }
    if stored.requestedAt > receivedAt { return true }
    let isSimultaneous = stored.requestedAt < receivedAt && stored.receivedAt > requestedAt
    return isSimultaneous && stored.date > date
  }
}
