import SwiftSyntax

/// The methods that a predicate knows.
enum PredicateMethods {
  /// Methods with one argument, each with the function that takes the method's name.
  static let unary: [String: String] = [
    "hasPrefix": "stringTest", "hasSuffix": "stringTest",
    "localizedStandardContains": "stringTest", "localizedCaseInsensitiveContains": "stringTest",
    "caseInsensitiveCompare": "stringComparison", "localizedCompare": "stringComparison",
    "localizedStandardCompare": "stringComparison",
    "localizedCaseInsensitiveCompare": "stringComparison",
  ]
  /// Methods without arguments.
  static let plain: Set<String> = ["min", "max"]

  /// Methods with a closure.
  static let closures: Set<String> = [
    "contains", "allSatisfy", "filter", "first", "count", "flatMap", "map",
  ]

  static let list =
    "one of contains, contains(where:), allSatisfy, filter, starts(with:), hasPrefix, hasSuffix, "
    + "lowercased, uppercased, min, max, localizedStandardContains and evaluate"

  /// What to write for methods that people look for.
  static let instead: [String: String] = [
    "compactMap": "use filter",
    "reduce": "store the total in a property, or fetch an aggregate",
    "sorted": "sort with the descriptor's sortBy",
    "reversed": "sort with the descriptor's sortBy",
    "range": "use contains or localizedStandardContains",
    "trimmingCharacters": "store the trimmed text",
    "compare": "use '<', '==' or '>', or localizedCompare",
    "isEqual": "use '=='",
    "elementsEqual": "use '=='",
    "isMultiple": "use '% n == 0'",
    "addingTimeInterval": "move the interval to the other side, where it is computed once",
    "timeIntervalSince": "compare the dates themselves",
    "distance": "use '-'",
    "description": "compare the value itself",
    "formatted": "compare the value itself",
  ]
}
