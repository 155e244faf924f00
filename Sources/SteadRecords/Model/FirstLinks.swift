import CSteadRuntime

/// The links that wait at one object, or in one context.
struct FirstLinks {
  private(set) var links: [FirstLink] = []
  /// The number of links at which those that are made are dropped.
  private var limit = FirstLinks.smallestLimit
  static let smallestLimit = 32

  var isEmpty: Bool { links.isEmpty }

  mutating func append(_ link: FirstLink) {
    if links.last === link { return }
    if links.count >= limit {
      links.removeAll(where: \.isMade)
      limit = max(Self.smallestLimit, links.count * 2)
    }
    links.append(link)
  }

  mutating func takeAll() -> [FirstLink] {
    defer { self = FirstLinks() }
    return links
  }
}
