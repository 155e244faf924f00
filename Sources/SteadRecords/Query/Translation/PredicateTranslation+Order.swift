import Foundation
import SteadSQLite

extension PredicateTranslation {
  /// The SQL of a comparison of two values of one type by its order.
  func order(_ leftTerm: Term, _ op: OrderOperator, _ rightTerm: Term) throws -> Term {
    let (left, right) = (try scalar(leftTerm), try scalar(rightTerm))
    let nullability = Nullability.either(left.nullability, right.nullability)
    let collation: SQLFragment
    switch left.encoding {
    case .text: collation = " COLLATE stead_canonical"
    case .decimal: collation = " COLLATE stead_decimal"
    case .integer, .unsigned64, .real, .date, .uuid, .boolean: collation = ""
    default: throw NotTranslatable("an order of values that SQL cannot order")
    }
    if left.isNotANumber(leftTerm) || right.isNotANumber(rightTerm) {
      return valued(.no, left, right)
    }
    var sql: SQLFragment = "\(left.sql) \(SQLFragment(sql: op.rawValue)) \(right.sql)\(collation)"
    let (greater, greaterTerm) = op.greaterSideIsLeft ? (left, leftTerm) : (right, rightTerm)
    if greater.mayBeNotANumber(greaterTerm) {
      // NaN is stored as text, which SQLite orders after every number.
      sql = "(\(sql) AND \(greater.sql) <= 9e999)"
    }
    return .boolean(sql, nullability, strict: left.strict | right.strict)
  }

  /// Throws for types that are ordered differently from their columns.
  func checkOrder<T>(of type: T.Type) throws {
    // The commonest types first: a cast to a protocol costs more than the rest of a comparison.
    if type == Int.self || type == String.self || type == Date.self || type == Double.self {
      return
    }
    if type is any SQLConstant.Type, type != PersistentIdentifier.self { return }
    guard let cases = type as? any CaseIterable.Type, Self.isOrderedByRawValue(cases) else {
      throw NotTranslatable("an order of \(type), which defines a different order")
    }
  }

  /// Whether an enum is ordered like its raw values.
  static func isOrderedByRawValue<C: CaseIterable>(_ type: C.Type) -> Bool {
    RawOrder.known.value(for: ObjectIdentifier(type)) {
      let cases = Array(type.allCases)
      guard let comparable = cases as? any RawOrderChecking else { return false }
      return comparable.isOrderedByRawValue
    }
  }
}

/// The known results of that test, by enum.
private enum RawOrder {
  static let known = TypeCache<Bool>()
}

private protocol RawOrderChecking {
  var isOrderedByRawValue: Bool { get }
}

extension Array: RawOrderChecking where Element: RawRepresentable & Comparable {
  fileprivate var isOrderedByRawValue: Bool {
    if Element.RawValue.self == String.self {
      return allSatisfy { one in
        allSatisfy { other in
          guard let left = one.rawValue as? String, let right = other.rawValue as? String else {
            return false
          }
          return (one < other) == (left < right)
        }
      }
    }
    return allSatisfy { one in
      allSatisfy { other in
        guard let left = Self.number(one), let right = Self.number(other) else { return false }
        return (one < other) == (left < right)
      }
    }
  }

  private static func number(_ element: Element) -> Int? {
    (element.rawValue as? any BinaryInteger).flatMap { Int(exactly: $0) }
  }
}
