/// A value of a field, as in JSON, with 64-bit whole numbers separate from others.
///
/// Dates, data and references are numbers or strings; the schema defines what they mean.
package enum SyncValue: Hashable, Sendable {
  case null
  case bool(Bool)
  case int(Int64)
  /// A finite number. What isn't finite is refused by ``isValid(depth:)`` and encoded as null.
  case double(Double)
  case string(String)
  case array([SyncValue])
  case object([String: SyncValue])

  /// How deep arrays and objects may be nested.
  package static let depthLimit = 32

  /// Whether the value can be sent: numbers are finite and nothing is nested too deep.
  package func isValid(depth: Int = SyncValue.depthLimit) -> Bool {
    switch self {
    case .null, .bool, .int, .string: true
    case .double(let number): number.isFinite
    case .array(let values): depth > 0 && values.allSatisfy { $0.isValid(depth: depth - 1) }
    case .object(let members):
      depth > 0 && members.values.allSatisfy { $0.isValid(depth: depth - 1) }
    }
  }

  /// The value's size for quotas: about the bytes of its JSON, without escapes. The table in "Records" in
  /// SyncProtocol.md defines it, so that a client and its server agree on what is too large.
  package var size: Int {
    switch self {
    case .null, .bool: 4
    case .int, .double: 8
    case .string(let text): text.utf8.count + 2
    case .array(let values): values.reduce(2) { $0 + $1.size + 1 }
    case .object(let members): members.reduce(2) { $0 + $1.key.utf8.count + $1.value.size + 4 }
    }
  }

  /// The string, if it is one.
  package var string: String? { if case .string(let text) = self { text } else { nil } }
  /// The whole number, if it is one.
  package var int: Int64? { if case .int(let number) = self { number } else { nil } }
  /// The elements, if it is an array.
  package var array: [SyncValue]? { if case .array(let values) = self { values } else { nil } }
  /// The members, if it is an object.
  package var object: [String: SyncValue]? {
    if case .object(let members) = self { members } else { nil }
  }
}

/// A total order, the same everywhere: null, false, true, numbers, strings by their UTF-8, arrays, objects.
extension SyncValue: Comparable {
  private var rank: Int {
    switch self {
    case .null: 0
    case .bool: 1
    case .int, .double: 2
    case .string: 3
    case .array: 4
    case .object: 5
    }
  }

  /// "Order of values" under "JSON" in SyncProtocol.md. A whole number and a double compare as doubles, and of equal
  /// ones the whole number is smaller: otherwise two unequal values would have no order, and devices could keep
  /// different ones.
  package static func < (one: SyncValue, other: SyncValue) -> Bool {
    switch (one, other) {
    case (.bool(let first), .bool(let second)): !first && second
    case (.int(let first), .int(let second)): first < second
    case (.double(let first), .double(let second)): first < second
    // `<=`, since of equal numbers the whole one is smaller.
    case (.int(let first), .double(let second)): Double(first) <= second
    case (.double(let first), .int(let second)): first < Double(second)
    case (.string(let first), .string(let second)): precedes(first, second)
    case (.array(let first), .array(let second)): first.lexicographicallyPrecedes(second)
    case (.object(let first), .object(let second)): precedes(first, second)
    default: one.rank < other.rank
    }
  }

  /// Whether a string comes before another in the order of their UTF-8.
  static func precedes(_ one: String, _ other: String) -> Bool {
    let isBefore = one.utf8.withContiguousStorageIfAvailable { first in
      other.utf8.withContiguousStorageIfAvailable { second in precedes(first, second) }
    }
    // A string that is bridged from Foundation has no contiguous UTF-8.
    return (isBefore ?? nil) ?? one.utf8.lexicographicallyPrecedes(other.utf8)
  }

  private static func precedes(
    _ one: UnsafeBufferPointer<UInt8>, _ other: UnsafeBufferPointer<UInt8>
  ) -> Bool {
    for index in 0..<min(one.count, other.count) where one[index] != other[index] {
      return one[index] < other[index]
    }
    return one.count < other.count
  }

  private static func precedes(_ one: [String: SyncValue], _ other: [String: SyncValue]) -> Bool {
    let (first, second) = (sorted(one), sorted(other))
    for (left, right) in zip(first, second) {
      if left.key != right.key { return precedes(left.key, right.key) }
      if left.value != right.value { return left.value < right.value }
    }
    return first.count < second.count
  }

  /// The indices of members in the order of their names' UTF-8. Costs less than ``sorted(_:)``, which copies the
  /// values.
  static func order<Value>(of members: [String: Value]) -> [[String: Value].Index] {
    members.indices.sorted { precedes(members.keys[$0], members.keys[$1]) }
  }

  /// Members in the order of their names' UTF-8.
  static func sorted<Value>(_ members: [String: Value]) -> [(key: String, value: Value)] {
    members.sorted { precedes($0.key, $1.key) }
  }
}

extension SyncValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByArrayLiteral
{
  package init(stringLiteral text: String) { self = .string(text) }
  package init(integerLiteral number: Int64) { self = .int(number) }
  package init(arrayLiteral values: SyncValue...) { self = .array(values) }
}
