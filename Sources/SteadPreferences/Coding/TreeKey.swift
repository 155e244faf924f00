/// The keys in a coding path where the value's own type has none.
enum TreeKey: CodingKey {
  case value, parent
  case index(Int)

  init?(stringValue: String) { nil }
  init?(intValue: Int) { self = .index(intValue) }

  var stringValue: String {
    switch self {
    case .value: "value"
    // The key to which `superEncoder()` of every encoder writes.
    case .parent: "super"
    case .index(let index): "\(index)"
    }
  }

  var intValue: Int? {
    if case .index(let index) = self { index } else { nil }
  }
}
