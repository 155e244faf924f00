import Foundation

/// An order of two values in SQL.
enum OrderOperator: String {
  case less = "<"
  case lessOrEqual = "<="
  case greater = ">"
  case greaterOrEqual = ">="

  init(_ op: PredicateExpressions.ComparisonOperator) {
    switch op {
    case .lessThan: self = .less
    case .lessThanOrEqual: self = .lessOrEqual
    case .greaterThan: self = .greater
    case .greaterThanOrEqual: self = .greaterOrEqual
    }
  }

  var greaterSideIsLeft: Bool { self == .greater || self == .greaterOrEqual }
}
