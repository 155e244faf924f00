import Foundation
import SteadSQLite

private typealias Node = PredicateExpressions

// MARK: - Tests of members

/// `collection.contains(element)`; a range of integers is such a collection, too.
extension PredicateExpressions.SequenceContains: SQLTranslatable {
  /// Dispatches to the form that the collection has: a range, or anything that
  /// ``PredicateTranslation/contains(_:_:_:)`` knows.
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    let (collection, value) = (try translation.term(sequence), try translation.term(element))
    if case .constant(.other(let range as any BoundedRange)) = collection {
      try translation.checkOrder(of: RHS.Output.self)
      return try translation.rangeContains(.constant(.other(range)), value, mode)
    }
    // A range of integers is a sequence, so the compiler may have chosen this node for it.
    if case .range = collection { return try translation.rangeContains(collection, value, mode) }
    return try translation.contains(collection, value, mode)
  }

  func checkedNode() -> CheckedExpression<Bool>? {
    rebuilt(sequence, element) { Node.build_contains($0, $1) }
  }
}

/// `collection.contains { … }`: an EXISTS over the rows or the elements.
extension PredicateExpressions.SequenceContainsWhere: SQLTranslatable {
  /// The closure's variable stands for the row, or for the element of `json_each`, that EXISTS is looking at.
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    switch try translation.collection(sequence) {
    case .rows(let rows):
      // An EXISTS that accepts too much is itself a filter. Not if the owner may be missing: the CASE around it is
      // exact.
      let inner: TranslationMode = mode == .filter && rows.presence == nil ? .filter : .condition
      let test = try translation.binding(variable.key, to: translation.element(of: rows)) {
        try translation.condition(self.test, inner)
      }
      return translation.exists(rows, where: test)
    case .list(let list):
      let test = try translation.binding(variable.key, to: translation.element(of: list)) {
        try translation.condition(self.test, .condition)
      }
      let exists: SQLFragment =
        "EXISTS (SELECT 1 FROM \(translation.source(of: list, where: test)))"
      return mode.nullIsFalse ? .boolean(exists) : translation.valued(exists, list.value)
    default: throw NotTranslatable("contains(where:) on a value that isn't a collection")
    }
  }

  func checkedNode() -> CheckedExpression<Bool>? {
    rebuilt(sequence, test) { [variable] sequence, test in
      CheckedExpression { bindings in
        try sequence.evaluate(bindings).contains {
          try test.evaluate(bindings.binding(variable, to: $0))
        }
      }
    }
  }
}

/// `collection.allSatisfy { … }`: no member exists for which the test is not true.
///
/// An empty collection satisfies every test, as in Swift.
extension PredicateExpressions.SequenceAllSatisfy: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    switch try translation.collection(sequence) {
    case .rows(let rows):
      let test = try translation.binding(variable.key, to: translation.element(of: rows)) {
        try translation.condition(self.test, .condition)
      }
      return translation.allSatisfy(rows, test)
    case .list(let list):
      let test = try translation.binding(variable.key, to: translation.element(of: list)) {
        try translation.condition(self.test, .condition)
      }
      return translation.valued(
        "NOT EXISTS (SELECT 1 FROM \(translation.source(of: list, where: "(\(test)) IS NOT 1")))",
        list.value)
    default: throw NotTranslatable("allSatisfy on a value that isn't a collection")
    }
  }

  func checkedNode() -> CheckedExpression<Bool>? {
    rebuilt(sequence, test) { [variable] sequence, test in
      CheckedExpression { bindings in
        try sequence.evaluate(bindings).allSatisfy {
          try test.evaluate(bindings.binding(variable, to: $0))
        }
      }
    }
  }
}

/// `collection.filter { … }`: the collection with one more condition.
extension PredicateExpressions.Filter: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    switch try translation.collection(sequence) {
    case .rows(var rows):
      // Exactly those members: what uses the collection may count them, or ask that there be none.
      let test = try translation.binding(variable.key, to: translation.element(of: rows)) {
        try translation.condition(filter, .condition)
      }
      // A condition that is NULL leaves the member out, as a trap in the closure does.
      rows.condition = "\(rows.condition) AND \(test)"
      return .rows(rows)
    case .list(var list):
      let test = try translation.binding(variable.key, to: translation.element(of: list)) {
        try translation.condition(filter, .condition)
      }
      list.condition = list.condition.map { "\($0) AND \(test)" } ?? test
      return .list(list)
    default: throw NotTranslatable("filter on a value that isn't a collection")
    }
  }

  func checkedNode() -> CheckedExpression<Output>? {
    rebuilt(sequence, filter) { [variable] sequence, filter in
      CheckedExpression { bindings in
        try sequence.evaluate(bindings).filter {
          try filter.evaluate(bindings.binding(variable, to: $0))
        }
      }
    }
  }
}

// MARK: - Extremes

/// `array.max()`.
extension PredicateExpressions.SequenceMaximum: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    try translation.checkOrder(of: Elements.Output.Element.self)
    return try translation.extreme(of: elements, descending: true)
  }

  func checkedNode() -> CheckedExpression<Output>? { rebuilt(elements) { Node.build_max($0) } }
}

/// `array.min()`.
extension PredicateExpressions.SequenceMinimum: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    try translation.checkOrder(of: Elements.Output.Element.self)
    return try translation.extreme(of: elements, descending: false)
  }

  func checkedNode() -> CheckedExpression<Output>? { rebuilt(elements) { Node.build_min($0) } }
}

// MARK: - Subscripts

/// `array[index]`.
extension PredicateExpressions.CollectionIndexSubscript: SQLTranslatable {
  /// An index past the end traps in Swift; here it has no value, and the row matches nothing.
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    // The keys of `json_each` are indices into the whole array, not into a filtered one.
    guard case .list(let list) = try translation.collection(wrapped), list.condition == nil else {
      throw NotTranslatable("a subscript of a value that isn't a stored array")
    }
    let index = try translation.scalar(index)
    return translation.single(
      of: list, where: "\(SQLName(list.alias, "key")) = \(index.sql)",
      order: "\(SQLName(list.alias, "id"))",
      nullability: list.elementIsOptional ? .optional : .undefined)
  }

  func checkedNode() -> CheckedExpression<Output>? {
    rebuilt(wrapped, index) { Node.build_subscript($0, $1) }
  }
}

/// A slice, which is evaluated in memory.
extension PredicateExpressions.CollectionRangeSubscript: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    throw NotTranslatable("a slice of a collection")
  }

  func checkedNode() -> CheckedExpression<Output>? {
    rebuilt(wrapped, range) { Node.build_subscript($0, $1) }
  }
}

/// `dictionary[key]`, which is evaluated in memory.
extension PredicateExpressions.DictionaryKeySubscript: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    throw NotTranslatable("a value of a dictionary")
  }

  func checkedNode() -> CheckedExpression<Output>? {
    rebuilt(wrapped, key) { Node.build_subscript($0, $1) }
  }
}

/// `dictionary[key, default: value]`, which is evaluated in memory.
extension PredicateExpressions.DictionaryKeyDefaultValueSubscript: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    throw NotTranslatable("a value of a dictionary")
  }

  func checkedNode() -> CheckedExpression<Output>? {
    rebuilt(wrapped, key, `default`) { Node.build_subscript($0, $1, default: $2) }
  }
}

// MARK: - Strings

/// `text.starts(with: prefix)`.
extension PredicateExpressions.SequenceStartsWith: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    try translation.prefixTest(
      "stead_starts", translation.term(base), translation.term(prefix), mode)
  }

  func checkedNode() -> CheckedExpression<Bool>? {
    rebuilt(base, prefix) { Node.build_starts($0, with: $1) }
  }
}

/// `text.contains(part)`.
extension PredicateExpressions.CollectionContainsCollection: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    try translation.textTest(
      "stead_contains", translation.scalar(base), translation.scalar(other))
  }

  func checkedNode() -> CheckedExpression<Bool>? {
    rebuilt(base, other) { Node.build_contains($0, $1) }
  }
}

/// `text.contains(regex)`, which is evaluated in memory.
extension PredicateExpressions.StringContainsRegex: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    throw NotTranslatable("a regular expression")
  }

  func checkedNode() -> CheckedExpression<Bool>? {
    rebuilt(subject, regex) { Node.build_contains($0, $1) }
  }
}

// MARK: - Collections in SQL

extension PredicateTranslation {
  /// The term of a collection. A captured one becomes an array in a parameter, which is read like an array in a
  /// column.
  func collection<E: PredicateExpression>(_ expression: E) throws -> Term {
    let term = try term(expression)
    // A string is a collection of characters as well, but its constant is a scalar, and so returned
    // as it is.
    guard case .constant(.other(let value)) = term, value is any Collection else { return term }
    return .list(try ListParameter(value, in: self).list(alias: newAlias()))
  }

  /// The first element in an order, nil in an empty array.
  fileprivate func extreme<E: PredicateExpression>(
    of expression: E, descending: Bool
  ) throws -> Term {
    guard case .list(let list) = try collection(expression) else {
      throw NotTranslatable("the extreme of a value that isn't a stored array")
    }
    let element = try scalar(try element(of: list))
    let direction: SQLFragment = descending ? " DESC" : ""
    let collation = collation(of: element.encoding, isPlain: false)
    // By the number of the result's column: in ORDER BY of a subquery, SQLite finds no column of the outer row.
    var order: SQLFragment = "1\(collation)\(direction)"
    if list.form == .codable, element.isFloatingPoint {
      // Swift's result is NaN if the first element is, and otherwise leaves NaN out. The first one has the key 0, unless
      // a filter has taken it away.
      guard list.condition == nil else {
        throw NotTranslatable("the extreme of a filtered array of floating-point numbers")
      }
      // The string is that of ``JSONFloat``.
      let (key, value) = (SQLName(list.alias, "key"), SQLName(list.alias, "value"))
      order =
        "CASE WHEN \(value) IS NOT 'nan' THEN 1 WHEN \(key) = 0 THEN 0 ELSE 2 END, \(order)"
    }
    return single(of: list, order: order, nullability: .optional)
  }
}
