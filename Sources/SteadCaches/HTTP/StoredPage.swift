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
