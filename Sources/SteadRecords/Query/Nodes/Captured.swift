public import Foundation

extension _SteadExpressions {
  /// A captured predicate or expression, which isn't Codable on Linux.
  ///
  /// Encoding a predicate that holds one throws.
  public struct Captured<Output: Sendable>: StandardPredicateExpression {
    let value: Output

    init(_ value: Output) { self.value = value }

    public func evaluate(_ bindings: PredicateBindings) throws -> Output { value }

    public init(from decoder: any Decoder) throws {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "\(Output.self) cannot be decoded.")
      )
    }

    public func encode(to encoder: any Encoder) throws {
      throw EncodingError.invalidValue(
        value,
        .init(codingPath: encoder.codingPath, debugDescription: "\(Output.self) cannot be encoded.")
      )
    }
  }
}

extension _SteadExpressions.Captured: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    .constant(.other(value))
  }
}
