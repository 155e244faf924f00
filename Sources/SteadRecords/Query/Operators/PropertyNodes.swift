import Foundation
import SteadSQLite

private typealias Node = PredicateExpressions

/// A captured value or a literal, which is known before the query runs.
extension PredicateExpressions.Value: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    .constant(Constant(value))
  }

  func checkedNode() -> CheckedExpression<Output>? { nil }
}

/// `nil`.
extension PredicateExpressions.NilLiteral: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    .constant(.null)
  }

  func checkedNode() -> CheckedExpression<Output>? { nil }
}

/// `$0`, or the parameter of a closure.
extension PredicateExpressions.Variable: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    try translation.variable(key)
  }

  func checkedNode() -> CheckedExpression<Output>? { nil }
}

/// A property of an object, a field of a struct, or a property of a collection or a string, such as `count`.
extension PredicateExpressions.KeyPath: SQLTranslatable {
  /// What the property is depends on the kind of its owner's term. A captured struct is asked at once; a string and
  /// an enum have few properties in SQL.
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    let base = try translation.term(root)
    switch base {
    case .row(let row): return try translation.property(keyPath, of: row)
    case .composite(let composite): return try translation.field(keyPath, of: composite)
    case .rows(let rows): return try collection(rows, translation)
    case .list(let list): return try collection(list, translation)
    case .constant(.other(let value)):
      if Root.Output.self is any Collection.Type { break }
      // Read now: the struct is captured, so the property has the same value for all rows.
      guard let value = value as? Root.Output else { break }
      return .constant(Constant(value[keyPath: keyPath]))
    case .scalar(let scalar):
      // An enum's raw value is text in its column, too, but its properties are not those of a string.
      if scalar.encoding == .text, Root.Output.self is any StringProtocol.Type {
        return try text(scalar, translation)
      }
      if Root.Output.self is any RawRepresentable.Type,
        RawValueKeyPath.isRawValue(keyPath, of: Root.Output.self)
      {
        return base
      }
    default: break
    }
    throw NotTranslatable("\(keyPath) isn't a stored property")
  }

  /// A property of a relationship: `count`, `isEmpty` or `first`. `last` would need the reverse order, and is left to
  /// memory.
  private func collection(
    _ rows: RowsTerm, _ translation: PredicateTranslation
  ) throws -> Term {
    switch kind {
    case .collectionCount: return translation.count(of: rows)
    case .collectionIsEmpty: return translation.isEmpty(rows)
    case .collectionFirst: return translation.first(of: rows)
    case .bidirectionalCollectionLast, nil: throw NotTranslatable("\(keyPath) of a relationship")
    @unknown default: throw NotTranslatable("\(keyPath) of a relationship")
    }
  }

  /// A property of an array: `count`, `isEmpty`, `first` or `last`.
  private func collection(
    _ list: ListTerm, _ translation: PredicateTranslation
  ) throws -> Term {
    switch kind {
    case .collectionCount: return translation.count(of: list)
    case .collectionIsEmpty: return translation.isEmpty(list)
    case .collectionFirst: return translation.element(of: list, descending: false)
    case .bidirectionalCollectionLast: return translation.element(of: list, descending: true)
    case nil: throw NotTranslatable("\(keyPath) of an array")
    @unknown default: throw NotTranslatable("\(keyPath) of an array")
    }
  }

  /// A property of a string: `count`, which counts characters as Swift does, or `isEmpty`.
  private func text(_ text: Scalar, _ translation: PredicateTranslation) throws -> Term {
    switch kind {
    case .collectionCount:
      .scalar(
        Scalar(
          sql: "stead_count(\(text.sql))", encoding: .integer,
          nullability: text.nullability == .never ? .never : .undefined, strict: text.strict))
    case .collectionIsEmpty:
      .boolean(
        "\(text.sql) = ''", text.nullability == .never ? .never : .undefined, strict: text.strict)
    default: throw NotTranslatable("\(keyPath) of a string")
    }
  }

  func checkedNode() -> CheckedExpression<Output>? {
    rebuilt(root) { Node.build_KeyPath(root: $0, keyPath: keyPath) }
  }
}
