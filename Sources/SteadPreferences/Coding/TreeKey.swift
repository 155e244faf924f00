/// The keys that stand in a coding path where the value's own type has none.
enum TreeKey: CodingKey {
  case value, parent
  case index(Int)

  init?(stringValue: String) { nil }
  init?(intValue: Int) { self = .index(intValue) }

  var stringValue: String {
    switch self {
    case .value: "value"
    // What `superEncoder()` of every encoder writes to.
    case .parent: "super"
    case .index(let index): "\(index)"
    }
  }

  var intValue: Int? {
    if case .index(let index) = self { index } else { nil }
  }
}
