import Foundation

/// All that is stored of one URL: the responses, the newest last, and those of their bodies that are in memory.
struct StoredPage: Sendable {
  private(set) var responses: [StoredResponse]
  private(set) var bodies: [String: Data]
  /// What the page's entry on disk held when the page was read or written; nil if it had none.
  var onDisk: Data?

  init(_ responses: [StoredResponse] = [], bodies: [String: Data] = [:], onDisk: Data? = nil) {
    self.responses = responses
    self.bodies = bodies
    self.onDisk = onDisk
  }

  private static let costOfPage = 256

  /// What the page takes up in memory, in bytes, nearly.
  var cost: Int {
    let ofBodies = bodies.values.reduce(0) { $0 + $1.count } + (onDisk?.count ?? 0)
    return responses.reduce(Self.costOfPage + ofBodies) { $0 + $1.cost }
  }

  /// The page with other responses, and with the bodies of those that remain.
  func with(_ responses: [StoredResponse], body: (id: String, data: Data)? = nil) -> StoredPage {
    let names = Set(responses.map(\.id))
    var page = StoredPage(responses, bodies: bodies.filter { names.contains($0.key) })
    if let body { page.keep(body.data, of: body.id) }
    return page
  }

  /// Keeps the body of one of the responses in memory.
  mutating func keep(_ body: Data, of id: String) {
    if responses.contains(where: { $0.id == id }) { bodies[id] = body }
  }

  /// Drops bodies, those of the oldest responses first, until the page costs no more than a limit.
  mutating func dropBodies(downTo limit: Int) {
    for response in responses where cost > limit { bodies[response.id] = nil }
  }

  /// Drops responses whose body is not in memory.
  mutating func dropBodiless() {
    responses.removeAll { bodies[$0.id] == nil }
  }
}
