import Foundation

/// A value bound to a parameter of a statement.
///
/// Two texts are equal if their bytes are, as in SQLite; strings of Swift are also if they are canonically equivalent.
package enum SQLValue: Hashable, Sendable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob(Data)

  package static func == (one: SQLValue, other: SQLValue) -> Bool {
    switch (one, other) {
    case (.null, .null): true
    case (.integer(let one), .integer(let other)): one == other
    case (.real(let one), .real(let other)): one == other
    case (.text(let one), .text(let other)): one.utf8.elementsEqual(other.utf8)
    case (.blob(let one), .blob(let other)): one == other
    default: false
    }
  }

  package func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .integer(let value): hasher.combine(value)
    case .real(let value): hasher.combine(value)
    case .text(let text):
      // By the whole string, and not by each byte: equal bytes are equal strings.
      hasher.combine(text)
    case .blob(let data): hasher.combine(data)
    }
  }
}
