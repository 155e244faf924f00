/// The methods that can be called in a predicate.
///
/// A method of another name is refused: its call with a model's value would have no node. Captured
/// values may be used with any method.
enum PredicateMethods {
  /// Methods with one argument, each with the function of `_PredicateNodes` that takes the method's name as its last
  /// argument.
  static let unary: [String: String] = [
    "hasPrefix": "stringTest", "hasSuffix": "stringTest",
    "localizedStandardContains": "stringTest", "localizedCaseInsensitiveContains": "stringTest",
    "caseInsensitiveCompare": "stringComparison", "localizedCompare": "stringComparison",
    "localizedStandardCompare": "stringComparison",
    "localizedCaseInsensitiveCompare": "stringComparison",
  ]
  /// Methods without arguments, which are functions of the same name.
  static let nullary: Set<String> = ["min", "max"]

  /// Methods with a closure, which is written in place.
  static let closures: Set<String> = [
    "contains", "allSatisfy", "filter", "first", "count", "flatMap", "map",
  ]

  /// The methods to suggest for one that is not known.
  static let list =
    "one of contains, contains(where:), allSatisfy, filter, starts(with:), hasPrefix, hasSuffix, "
    + "lowercased, uppercased, min, max, localizedStandardContains and evaluate"

  /// What to write instead of methods that programs often call.
  ///
  /// A method that isn't here is refused with the list of those that are supported.
  static let alternatives: [String: String] = [
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
