import Foundation

extension PredicateExpressions.KeyPath: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    let base = try translation.term(root)
    switch base {
    case .row(let row): return try translation.property(keyPath, of: row)
    case .composite(let composite): return try translation.field(keyPath, of: composite)
    case .rows(let rows): return try collection(rows, translation)
    case .list(let list): return try collection(list, translation)
    case .constant(.other(let value)):
      if Root.Output.self is any Collection.Type { break }
      guard let value = value as? Root.Output else { break }
      return .constant(Constant(value[keyPath: keyPath]))
    case .scalar(let scalar):
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
}
