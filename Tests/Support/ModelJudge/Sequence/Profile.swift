/// What a sequence is about: which models, how many contexts, how much is read in between.
public enum Profile: String, CaseIterable, Codable, Sendable {
  case oneContext = "one-context"
  case cold
  case undo
  case unique
  case twoContexts = "two-contexts"
  case twoContainers = "two-containers"
  case wide = "80-properties"
  case process
  case lists
  case listsUndo = "lists-undo"
  case listsTwoContexts = "lists-two-contexts"
  case json
  case jsonTwoContexts = "json-two-contexts"
  case jsonLists = "json-lists"
  case uniqueLists = "lists-unique"
  case uniqueWide = "80-properties-unique"

  public var kinds: [Kind] {
    switch self {
    case .wide, .uniqueWide: [.wide]
    case .lists, .listsUndo, .listsTwoContexts, .jsonLists, .uniqueLists: [.yard, .plant]
    default: [.person, .item, .card, .tag, .place]
    }
  }

  var links: [Link] { Self.links[self] ?? [] }

  private static let links = Dictionary(
    uniqueKeysWithValues: allCases.map { profile in
      (profile, Link.allCases.filter { profile.kinds.contains($0.source) })
    })

  public var contextCount: Int {
    switch self {
    case .twoContexts, .twoContainers, .listsTwoContexts, .jsonTwoContexts: 2
    default: 1
    }
  }

  var hasUndo: Bool { self == .undo || self == .listsUndo || self == .json }
  var hasUniqueKeys: Bool {
    switch self {
    case .unique, .twoContexts, .jsonTwoContexts, .uniqueLists, .uniqueWide, .listsTwoContexts: true
    default: false
    }
  }
  var hasWorkers: Bool { self == .process }

  /// Whether the store is a file, which costs more than one in memory.
  public var isOnFile: Bool {
    self == .twoContainers || self == .process || self == .cold || isJSON
  }

  /// Whether the store is a `JSONStore`.
  var isJSON: Bool { self == .json || self == .jsonTwoContexts || self == .jsonLists }
}
