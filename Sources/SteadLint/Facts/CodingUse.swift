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
  /// The type, where the file shows it; otherwise a property's name that the index can look up.
  let type: String?
  let property: String?
  let scopeType: String
  let target: Target
  /// Whether the file is a parameter of the function, so that another function's is another file.
  let isOwnParameter: Bool
  let failure: Failure
  /// Whether the same bytes are decoded in another form where decoding fails.
  let isRetried: Bool
  /// Whether the function ends without a value where decoding fails, by a `guard`.
  let leaves: Bool
  /// Whether the bytes, or the value that is encoded, come from a server, as far as the function shows it.
  let isAnswer: Bool
  /// Nil where it isn't known.
  let dateStrategy: String?
  /// Whether the function keeps the bytes that don't decode.
  let keepsBytes: Bool
  let function: String
  /// Where the function begins: two accessors have one name.
  let scope: Int
  /// Whether the place is a cache's, as far as the file shows it.
  let isFleeting: Bool
  /// Where a list that is encoded gets another element, if nothing in the type shortens it.
  let growth: Place?
  /// What its type does with a list that is encoded.
  let list: ListUse?
  let place: Place
}

/// What a type does with a list that it keeps.
struct ListUse: Codable, Sendable {
  /// How many elements are kept, where the type says it in figures.
  let limit: Int?
  /// Whether elements are looked up, filtered or sorted.
  let isSearched: Bool
  /// Whether elements are removed, as a person does who edits the list.
  let isEdited: Bool
}
