/// A Codable value that is encoded or decoded.
struct CodingUse: Codable, Sendable {
  enum Target: Codable, Hashable, Sendable {
    case preference(KeyFact)
    case file(String)
    case cloud
    case secret
    case unknown
  }

  enum Failure: String, Codable { case thrown, discarded, caught }

  let isDecoding: Bool
  /// The type, if the file shows it. Otherwise `property` is a name that the index can look up.
  let type: String?
  let property: String?
  let scopeType: String
  let target: Target
  /// Whether the file is a parameter of the function, so that the same name in another function is another file.
  let isOwnParameter: Bool
  let failure: Failure
  /// Whether the same bytes are decoded in another form where decoding fails.
  let isRetried: Bool
  /// Whether the function ends without a value where decoding fails, by a `guard`.
  let leaves: Bool
  /// Whether the bytes, or the value that is encoded, come from a server, as far as the function shows it.
  let isAnswer: Bool
  /// Nil if it isn't known.
  let dateStrategy: String?
  /// Whether the function keeps the bytes that don't decode.
  let keepsBytes: Bool
  let function: String
  /// Where the function begins. Its name isn't enough, because two accessors share one.
  let scope: Int
  /// Whether the bytes are in a cache, as far as the file shows.
  let isFleeting: Bool
  /// Where an encoded list gets another element, if nothing in the type shortens the list.
  let growth: Place?
  /// What the type does with an encoded list.
  let list: ListUse?
  let place: Place
}

/// What a type does with a list that it keeps.
struct ListUse: Codable, Sendable {
  /// How many elements are kept, if the type has a figure for it.
  let limit: Int?
  /// Whether elements are looked up, filtered or sorted.
  let isSearched: Bool
  /// Whether elements are removed, as when a user edits the list.
  let isEdited: Bool
}
