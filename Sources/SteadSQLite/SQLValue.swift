import Foundation

/// A value bound to a parameter of a statement.
package enum SQLValue: Hashable, Sendable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob(Data)
}
