/// A position in a history: later transactions have greater tokens.
public protocol HistoryToken: Comparable, Codable, Hashable, Identifiable, Sendable {
  /// The form of the position as a plain value.
  associatedtype TokenType

  /// The position as a plain value.
  var tokenValue: TokenType? { get }
}

/// A position in the history of a container's stores.
///
/// ```swift
/// var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
/// if let token { descriptor.predicate = #Predicate { $0.token > token } }
/// let transactions = try context.fetchHistory(descriptor)
/// ```
///
/// Keep the token of the last transaction that you have handled, encoded, and ask for the transactions after it next
/// time. A token means nothing to stores other than those it came from: `fetchHistory` takes such a store as not read
/// yet. A token from before a deleted transaction, or newer than the store, makes it throw
/// ``SwiftDataError/historyTokenExpired``.
///
/// Tokens of one container are ordered as their transactions are. It is encoded as a dictionary of numbers by store.
public struct DefaultHistoryToken: HistoryToken {
  /// The number of a transaction in each store, by the stores' identifiers.
  public typealias TokenType = [String: Int64]

  // Most containers have one store, so their tokens need no dictionary. The store is the first by name, so that equal
  // tokens have equal parts.
  private let store: String
  private let number: Int64
  private let others: [String: Int64]

  /// A position in a container with one store.
  init(store: String, number: Int64) {
    self.store = store
    self.number = number
    others = [:]
  }

  /// A position in several stores, by their identifiers.
  init(_ numbers: [String: Int64]) {
    store = numbers.keys.min() ?? ""
    number = numbers[store] ?? 0
    others = numbers.count > 1 ? numbers.filter { [store] in $0.key != store } : [:]
  }

  /// The number of the last transaction in each store, by the stores' identifiers.
  public var tokenValue: [String: Int64]? {
    var numbers = others
    if !store.isEmpty { numbers[store] = number }
    return numbers
  }

  /// A number that rises from token to token of one container; not the number of a transaction if it has several
  /// stores.
  public var id: Int { Int(sum) }

  // Wraps instead of trapping, since a decoded token may have any numbers.
  /// The sum of the numbers, which is greater for each later position.
  private var sum: Int64 { others.values.reduce(number, &+) }

  /// The number of a store's last transaction before or at this position; nil if the token is of other stores.
  func number(in store: String) -> Int64? { store == self.store ? number : others[store] }

  /// Whether a position is earlier than another one of the same container.
  public static func < (left: Self, right: Self) -> Bool {
    if left.others.isEmpty, right.others.isEmpty {
      return (left.number, left.store) < (right.number, right.store)
    }
    // A later position has a greater number in some stores and a smaller one in none, so the sum is an order of
    // positions.
    if left.sum != right.sum { return left.sum < right.sum }
    let (first, second) = (left.sorted, right.sorted)
    return first.lexicographicallyPrecedes(second) { ($0.0, $0.1) < ($1.0, $1.1) }
  }

  /// The numbers by store, in the stores' order.
  private var sorted: [(String, Int64)] {
    (tokenValue ?? [:]).sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// Decodes a token that was kept, from a dictionary of numbers by store.
  public init(from decoder: any Decoder) throws {
    self.init(try decoder.singleValueContainer().decode([String: Int64].self))
  }

  /// Encodes the token as a dictionary of numbers by store, for a later run of the program.
  ///
  /// ```swift
  /// let data = try JSONEncoder().encode(token)
  /// let decoded = try JSONDecoder().decode(DefaultHistoryToken.self, from: data)
  /// ```
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(tokenValue ?? [:])
  }
}
