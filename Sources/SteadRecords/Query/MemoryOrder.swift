import Foundation

/// The order of sort descriptors for objects in memory: the one that their SQL has.
///
/// A value that does not equal itself, which is NaN or made of it, comes after all others, and nil before them; a
/// reversed order is the exact opposite. Foundation's own comparison finds NaN equal to every number: that is no
/// order, and other values end up in the wrong places, too.
///
/// `Decimal` orders its NaN itself, before all numbers, and so does its collation.
struct MemoryOrder<Element> {
  private let comparisons: [(Element, Element) -> ComparisonResult]

  /// The order by the first descriptor that tells two objects apart.
  init(_ descriptors: [SortDescriptor<Element>]) {
    comparisons = descriptors.map { Self.comparison($0) }
  }

  /// The elements in order. Those that no descriptor tells apart stay as they are.
  func sorted(_ elements: [Element]) -> [Element] {
    elements.sorted { left, right in
      for comparison in comparisons {
        let result = comparison(left, right)
        if result != .orderedSame { return result == .orderedAscending }
      }
      return false
    }
  }

  private static func comparison(
    _ descriptor: SortDescriptor<Element>
  ) -> (Element, Element) -> ComparisonResult {
    // The casts are made once, since they cost more than most comparisons.
    guard descriptor.stringComparator == nil, let keyPath = descriptor.keyPath,
      let compare = (keyPath as? any OrderedKeyPath)?.comparison(of: Element.self)
        ?? (keyPath as? any OptionalOrderedKeyPath)?.comparison(of: Element.self)
    else { return { descriptor.compare($0, $1) } }
    return descriptor.order == .forward ? compare : { compare($1, $0) }
  }
}

// MARK: - Values

/// The order of two values, in which those that are not equal to themselves are last.
private func compare<Value: Comparable>(_ left: Value, _ right: Value) -> ComparisonResult {
  // First, and not only where neither is less: a value of several numbers, one of which is NaN, may be less than some.
  switch (left == left, right == right) {
  case (true, true): break
  case (true, false): return .orderedAscending
  case (false, true): return .orderedDescending
  case (false, false): return .orderedSame
  }
  if left < right { return .orderedAscending }
  return right < left ? .orderedDescending : .orderedSame
}

/// A key path whose values have an order.
private protocol OrderedKeyPath {
  /// The order of two objects by their values; nil if the key path does not start at their type.
  func comparison<Root>(of type: Root.Type) -> ((Root, Root) -> ComparisonResult)?
}
extension KeyPath: OrderedKeyPath where Value: Comparable {
  fileprivate func comparison<Element>(
    of type: Element.Type
  ) -> ((Element, Element) -> ComparisonResult)? {
    guard let path = self as? KeyPath<Element, Value> else { return nil }
    return { compare($0[keyPath: path], $1[keyPath: path]) }
  }
}

/// A key path whose values are optional, and have an order.
private protocol OptionalOrderedKeyPath {
  /// The order of two objects by their values; nil if the key path does not start at their type.
  func comparison<Root>(of type: Root.Type) -> ((Root, Root) -> ComparisonResult)?
}
extension KeyPath: OptionalOrderedKeyPath where Value: OrderedOptional {
  fileprivate func comparison<Element>(
    of type: Element.Type
  ) -> ((Element, Element) -> ComparisonResult)? {
    guard let path = self as? KeyPath<Element, Value> else { return nil }
    return { $0[keyPath: path].order(before: $1[keyPath: path]) }
  }
}

/// An optional whose values have an order.
private protocol OrderedOptional {
  /// The order of two values; nil is first.
  func order(before other: Self) -> ComparisonResult
}
extension Optional: OrderedOptional where Wrapped: Comparable {
  fileprivate func order(before other: Wrapped?) -> ComparisonResult {
    switch (self, other) {
    case (nil, nil): .orderedSame
    case (nil, _): .orderedAscending
    case (_, nil): .orderedDescending
    case (let left?, let right?): compare(left, right)
    }
  }
}
