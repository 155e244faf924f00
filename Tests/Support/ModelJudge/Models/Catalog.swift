/// A class of the models, as the reference knows it.
public enum Kind: String, CaseIterable, Codable, Sendable {
  case person = "Person"
  case item = "Item"
  case card = "Card"
  case tag = "Tag"
  case place = "Place"
  case wide = "Wide"
  case yard = "Yard"
  case plant = "Plant"

  /// The relationships, in the order of the class.
  public var links: [Link] { Self.linksByKind[self] ?? [] }

  private static let linksByKind = Dictionary(grouping: Link.allCases, by: \.source)

  /// The attributes that operations set, in the order of a node's values; the number is apart.
  public var attributes: [String] { Self.attributesByKind[self] ?? [] }

  private static let attributesByKind: [Kind: [String]] = [
    .person: ["score", "note", "name"], .item: ["score", "note", "name"],
    .card: ["score", "name"], .tag: ["score", "name", "row", "column"],
    .place: ["score", "name"], .yard: ["score", "name"],
    .plant: ["score", "name"],
    .wide: ["score"] + (0..<76).map { "v\($0)" } + ["name"],
  ]

  /// Sets of places in `attributes` that no two rows share.
  public var uniqueKeys: [[Int]] { Self.keysByKind[self] ?? [] }

  private static let keysByKind: [Kind: [[Int]]] = [
    .person: [[2]], .item: [[2]], .card: [[1]], .place: [[1]], .tag: [[1], [2, 3]],
    .yard: [[1]], .plant: [[1]], .wide: [[77]],
  ]

  /// The attributes that a key consists of.
  var keyAttributes: [Int] { uniqueKeys.flatMap { $0 } }

  /// What a new object has in an attribute.
  public func initialValue(_ attribute: Int, score: Int) -> Int? {
    if attribute == 0 { return score }
    // A wide object's properties have eight types in turn; two of these are optional. Its key comes after them.
    return self == .wide && attribute < 77 && ![5, 6].contains((attribute - 1) % 8) ? 0 : nil
  }

  /// Whether an attribute has a value for nil.
  public func isOptional(_ attribute: Int) -> Bool {
    initialValue(attribute, score: 0) == nil
  }
}

public enum DeleteRule: Sendable { case nullify, cascade, deny, noAction }

/// A relationship of a class: one end of a link.
public enum Link: String, CaseIterable, Codable, Sendable {
  case kept, made, debts, rumors, card, pass, tags, owned, children, parent, peers
  case keeper, maker, debtor, subject, place, places
  case holder, guest
  case people
  case owner
  case first, rest
  case beds, herbs, favorite
  case yard, moss, shoots, host

  public var source: Kind {
    switch self {
    case .kept, .made, .debts, .rumors, .card, .pass, .tags, .owned, .children, .parent, .peers:
      .person
    case .keeper, .maker, .debtor, .subject, .place, .places: .item
    case .holder, .guest: .card
    case .people, .owner: .tag
    case .first, .rest: .wide
    case .beds, .herbs, .favorite: .yard
    case .yard, .moss, .shoots, .host: .plant
    }
  }

  /// The end on the other side; of several the first, where an object goes by itself.
  public var inverse: Link? {
    switch self {
    case .kept: .keeper
    case .made: .maker
    case .debts: .debtor
    case .rumors: .subject
    case .card: .holder
    case .pass: .guest
    case .tags: .people
    case .owned: .owner
    case .children: .parent
    case .parent: .children
    case .peers: .peers
    case .keeper: .kept
    case .maker: .made
    case .debtor: .debts
    case .subject: .rumors
    case .place, .places: nil
    case .holder: .card
    case .guest: .pass
    case .people: .tags
    case .owner: .owned
    case .first: .rest
    case .rest: .first
    case .beds, .herbs, .favorite: .yard
    case .yard: .beds
    case .moss, .shoots: .host
    case .host: .moss
    }
  }

  /// The ends that share this one as their inverse; none where there aren't several.
  public var sharers: [Link] {
    switch self {
    case .yard: [.beds, .herbs, .favorite]
    case .host: [.moss, .shoots]
    default: []
    }
  }

  /// Whether no object is in two ends of this link, on either side.
  public var isOneToOne: Bool {
    !isMany && (sharers.isEmpty ? inverse.map { [$0] } ?? [] : sharers).contains { !$0.isMany }
  }

  public var target: Kind {
    switch self {
    case .place, .places: .place
    default: inverse?.source ?? .place
    }
  }

  public var isMany: Bool {
    switch self {
    case .kept, .made, .debts, .rumors, .tags, .owned, .children, .peers, .places, .people, .rest,
      .beds, .herbs, .moss, .shoots:
      true
    default: false
    }
  }

  public var rule: DeleteRule {
    switch self {
    case .made, .card, .children, .beds, .shoots: .cascade
    case .debts: .deny
    case .rumors: .noAction
    default: .nullify
    }
  }
}
