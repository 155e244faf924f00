import Foundation

/// The stored responses of one URL, chosen among by `Vary` and by ranges, and those of their bodies
/// that are in memory.
///
/// The unit in which responses are read, replaced and evicted: `memory` has one for each URL, and
/// its heads are one entry on disk (see CachedVariants+Coding.swift).
struct CachedVariants: Sendable {
  /// A body that is in memory.
  struct MemoryBody: Sendable {
    let data: Data
    /// When it was stored.
    let storedAt: Date
  }

  /// The newest last.
  private(set) var responses: [StoredResponse]
  private(set) var bodies: [String: MemoryBody]
  /// The bytes on disk that these variants were read from or written to; nil if there were none.
  /// Variants in memory are valid as long as these equal the bytes on disk now.
  var diskBytes: Data?

  init(
    _ responses: [StoredResponse] = [], bodies: [String: MemoryBody] = [:], diskBytes: Data? = nil
  ) {
    self.responses = responses
    self.bodies = bodies
    self.diskBytes = diskBytes
  }

  private static let baseCost = 256

  /// The approximate size in memory, in bytes.
  var cost: Int {
    let ofBodies = bodies.values.reduce(0) { $0 + $1.data.count } + (diskBytes?.count ?? 0)
    return responses.reduce(Self.baseCost + ofBodies) { $0 + $1.cost }
  }

  /// A copy with other responses, and with the bodies of those that remain.
  func with(_ responses: [StoredResponse], body: (id: String, kept: MemoryBody)? = nil)
    -> CachedVariants
  {
    let names = Set(responses.map(\.id))
    // Without `diskBytes`, which the caller sets once the disk has the new heads.
    var variants = CachedVariants(responses, bodies: bodies.filter { names.contains($0.key) })
    if let body { variants.keep(body.kept, of: body.id) }
    return variants
  }

  /// A copy without the responses whose bodies were stored at a date or later.
  func without(storedSince date: Date) -> CachedVariants {
    // To the millisecond, as a disk has it.
    let moment = WallClock.milliseconds(date)
    return with(
      responses.filter {
        bodies[$0.id].map { WallClock.milliseconds($0.storedAt) < moment } ?? true
      })
  }

  /// Keeps the body of one of the responses in memory.
  mutating func keep(_ body: MemoryBody, of id: String) {
    if responses.contains(where: { $0.id == id }) { bodies[id] = body }
  }

  /// Drops bodies, those of the oldest responses first, until the cost is within a limit.
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

/// The changes of a URL's stored responses: pure functions from one list to the next.
enum VariantList {
  /// The list with a new response, which replaces those that match the same request.
  ///
  /// A new part (206) doesn't replace other parts of the same version, nor the whole. A response
  /// that would replace a more recent one isn't added: the end of its body came later, but the
  /// server sent it earlier.
  static func adding(
    _ new: StoredResponse, for request: HTTPCache.Request, to list: [StoredResponse], now: Date
  ) -> [StoredResponse] {
    let times = ResponseTimes(of: new)
    let isOutdated = list.contains { old in
      isReplaced(old, by: new, for: request) && times.isBefore(old, now: now)
    }
    guard !isOutdated else { return list }
    // Those that another request chose stay: a response replaces what would have answered its own
    // request.
    let rest = list.filter { !isReplaced($0, by: new, for: request) }
    // The oldest go first: the list has the order of storing.
    return (rest + [new]).suffix(HTTPCache.Limits.variantCountLimit)
  }

  /// The list without what a new response replaces that could not be stored itself.
  static func kept(
    beside new: StoredResponse, for request: HTTPCache.Request, in list: [StoredResponse], now: Date
  ) -> [StoredResponse] {
    let times = ResponseTimes(of: new)
    return list.filter {
      !isReplaced($0, by: new, for: request) || times.isBefore($0, now: now)
    }
  }

  private static func isReplaced(
    _ old: StoredResponse, by new: StoredResponse, for request: HTTPCache.Request
  ) -> Bool {
    old.varyKey.matches(request)
      && !(isSameVersion(old, new) && new.range != nil && old.range != new.range)
  }

  /// The list after a 304.
  ///
  /// - Parameters:
  ///   - asked: The validated response, as it was when the request was sent.
  ///   - confirmed: The same with new fields; nil if it must not be used again.
  ///   - requestedAt: When the request was sent.
  static func confirming(
    _ asked: StoredResponse, as confirmed: StoredResponse?, requestedAt: Date,
    in list: [StoredResponse]
  ) -> [StoredResponse] {
    list.compactMap { stored in
      guard stored.id == asked.id else { return stored }
      // A 304 to a later request came first. A response that is still as it was validated may have
      // a later time, too, if the clock was set back, and is updated.
      let isNewer = stored != asked && stored.requestedAt > requestedAt
      return isNewer ? stored : confirmed
    }
  }

  /// The list after the 200 of a HEAD (RFC 9111, 4.3.5): responses that it agrees with are updated,
  /// others are removed.
  static func updating(
    _ list: [StoredResponse], byHead response: HTTPCache.Response, to request: HTTPCache.Request,
    at times: ResponseTimes
  ) -> [StoredResponse] {
    list.compactMap { stored in
      guard stored.varyKey.matches(request), !times.isBefore(stored, now: times.receivedAt)
      else { return stored }
      guard agrees(response, with: stored) else { return nil }
      return stored.updated(
        by: response, to: request, requestedAt: times.requestedAt, receivedAt: times.receivedAt)
    }
  }

  /// The list without the responses that match a request and are older than one that isn't stored.
  static func removing(
    matching request: HTTPCache.Request, from list: [StoredResponse], at times: ResponseTimes,
    now: Date
  ) -> [StoredResponse] {
    list.filter { !$0.varyKey.matches(request) || times.isBefore($0, now: now) }
  }

  private static func isSameVersion(_ one: StoredResponse, _ other: StoredResponse) -> Bool {
    guard let tag = one.entityTag, let otherTag = other.entityTag else { return false }
    return tag.matchesStrongly(otherTag)
      && (one.range?.length ?? one.bodySize) == (other.range?.length ?? other.bodySize)
  }

  private static func agrees(_ response: HTTPCache.Response, with stored: StoredResponse) -> Bool {
    // Of another status, such as 404, what is stored is outdated, however few fields there are to
    // compare.
    guard stored.response.status == 200 || stored.range != nil else { return false }
    let fields = response.fields
    // Fields that the HEAD's response lacks tell nothing.
    if let tag = fields["ETag"], stored.response.fields["ETag"] != tag { return false }
    if let modified = fields["Last-Modified"], stored.lastModified != modified { return false }
    guard let length = fields.bodyLength.count else { return true }
    return fields.contains("Content-Encoding") || length == stored.range?.length ?? stored.bodySize
  }
}

// MARK: - Which response is more recent

/// When a response was made: between two times of this computer's clock, and at one of the
/// server's.
struct ResponseTimes: Sendable, Hashable {
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

  /// Whether a stored response, or its last validation, is more recent (RFC 9111, 4).
  ///
  /// It is if its request was sent after this one's head was received. If the two exchanges
  /// overlapped, the servers' `Date` decides; only then, since several servers have several clocks.
  ///
  /// - Parameter now: A stored response that was asked for later than that tells nothing: the clock
  ///   was set back.
  func isBefore(_ stored: StoredResponse, now: Date) -> Bool {
    guard stored.requestedAt <= now else { return false }
    if stored.requestedAt > receivedAt { return true }
    let isSimultaneous = stored.requestedAt < receivedAt && stored.receivedAt > requestedAt
    return isSimultaneous && stored.date > date
  }
}
