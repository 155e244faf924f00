/// An attribute or wrapper of a property.
struct AttributeFact: Codable, Sendable {
  let name: String
  let arguments: [String: String]
  let text: String
  let place: Place
  /// Where another argument can be inserted; nil without parentheses.
  let argumentsStart: Int?
  /// For each argument, the edit that removes it with the comma before or after it.
  let removals: [String: Fix.Edit]
}

// The cache identifies values only by their order, and dictionaries have none.
extension AttributeFact {
  private enum CodingKeys: CodingKey {
    case name, labels, values, text, place, argumentsStart, removed, removals
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    name = try container.decode(String.self, forKey: .name)
    let labels = try container.decode([String].self, forKey: .labels)
    let values = try container.decode([String].self, forKey: .values)
    arguments = Dictionary(zip(labels, values)) { first, _ in first }
    text = try container.decode(String.self, forKey: .text)
    place = try container.decode(Place.self, forKey: .place)
    argumentsStart = try container.decodeIfPresent(Int.self, forKey: .argumentsStart)
    let removed = try container.decode([String].self, forKey: .removed)
    let edits = try container.decode([Fix.Edit].self, forKey: .removals)
    removals = Dictionary(zip(removed, edits)) { first, _ in first }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name, forKey: .name)
    let arguments = arguments.sorted { $0.key < $1.key }
    try container.encode(arguments.map(\.key), forKey: .labels)
    try container.encode(arguments.map(\.value), forKey: .values)
    try container.encode(text, forKey: .text)
    try container.encode(place, forKey: .place)
    try container.encodeIfPresent(argumentsStart, forKey: .argumentsStart)
    let removals = removals.sorted { $0.key < $1.key }
    try container.encode(removals.map(\.key), forKey: .removed)
    try container.encode(removals.map(\.value), forKey: .removals)
  }
}
