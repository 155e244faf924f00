/// A key as the source writes it.
enum KeyFact: Codable, Hashable, Sendable {
  case literal(String)
  /// A name, and the type in which it's looked up.
  case reference(name: String, scope: String)
  case other(String)
}
