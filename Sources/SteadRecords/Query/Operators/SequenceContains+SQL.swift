import Foundation

extension PredicateExpressions.SequenceContains: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    let (collection, value) = (try translation.term(sequence), try translation.term(element))
    if case .constant(.other(let range as any BoundedRange)) = collection {
      try translation.checkOrder(of: RHS.Output.self)
      return try translation.rangeContains(.constant(.other(range)), value, mode)
    }
    if case .range = collection { return try translation.rangeContains(collection, value, mode) }
    return try translation.contains(collection, value, mode)
  }
}
